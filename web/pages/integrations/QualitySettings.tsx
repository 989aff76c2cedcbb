import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { Card, Facts } from "../../ui/Layout.tsx";
import { Note } from "../../ui/Note.tsx";
import { Status } from "../../ui/Status.tsx";
import { Time } from "../../ui/Time.tsx";
import styles from "./Integrations.module.css";
import { RotateSecret, SwitchOff, WriteSettings } from "./QualityDialogs.tsx";
import type { Integration } from "./queries.ts";

/** Writes how flows are named after projects. */
function flowNames({ flow_name_base, flow_name_prefix, flow_name_suffix }: Integration): string {
  return `${flow_name_prefix ?? ""}‹${flow_name_base === "name" ? "project’s name" : "project’s key"}›${flow_name_suffix ?? ""}`;
}

type Asked = "settings" | "rotate" | "off";

interface QualitySettingsProps {
  org: string;
  integration: Integration;
}

/** The code-quality webhook: where it is called, and what it makes of that. */
export function QualitySettings({ org, integration }: QualitySettingsProps) {
  const [asked, setAsked] = useState<Asked>();
  const refused = useRefusal(org, "PUT /integrations/{org}/quality");
  const close = (): void => setAsked(undefined);
  const isOn = integration.state === "on";
  return (
    <Card title="Code quality" aside={<Status kind={isOn ? "good" : "quiet"} words={isOn ? "On" : "Off"} />}>
      <p className={styles["about"]}>
        A scanner such as SonarQube calls this webhook after each analysis; what it says becomes an
        attestation of the commit’s trail.
      </p>
      {integration.secret_forgotten ? (
        <Note kind="bad">
          Signed calls are refused: this installation was restored without its secret key, and with it went
          the webhook’s secret. Replace it, and give the new one to the scanner.
        </Note>
      ) : null}
      {isOn ? (
        <Facts
          facts={[
            ["Address", <Copy key="url" text={integration.webhook_url ?? ""} what="webhook address" />],
            ["Flows", <code key="flows">{flowNames(integration)}</code>],
            ["Switched on", <Time key="on" at={integration.created_at} />],
            ["By", integration.created_by],
            ["Changed", <Time key="changed" at={integration.last_modified_at} />],
          ]}
        />
      ) : null}
      <div className={styles["acts"]}>
        <Button look={isOn ? "plain" : "primary"} refused={refused} onClick={() => setAsked("settings")}>
          {isOn ? "Change" : "Switch on"}
        </Button>
        {isOn ? (
          <>
            <Button refused={refused} onClick={() => setAsked("rotate")}>
              Replace the secret
            </Button>
            <Button look="danger" refused={refused} onClick={() => setAsked("off")}>
              Switch off
            </Button>
          </>
        ) : null}
      </div>
      {asked === "settings" ? <WriteSettings org={org} integration={integration} onClose={close} /> : null}
      {asked === "rotate" ? <RotateSecret org={org} onClose={close} /> : null}
      {asked === "off" ? <SwitchOff org={org} onClose={close} /> : null}
    </Card>
  );
}
