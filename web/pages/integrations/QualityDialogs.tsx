import { useState } from "react";

import { useAction } from "../../api/action.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { Field } from "../../ui/Field.tsx";
import type { Integration } from "./queries.ts";

interface DialogProps {
  org: string;
  onClose: () => void;
}

function Secret({ value, onClose }: { value: string; onClose: () => void }) {
  return (
    <ShownOnce title="The webhook’s secret" label="webhook secret" value={value} onClose={onClose}>
      <p>Give it to the scanner, which signs with it what it sends.</p>
    </ShownOnce>
  );
}

/** Finds the secret in an answer, which has one when the webhook was just switched on. */
function secretIn(answer: object | undefined): string | undefined {
  return answer !== undefined && "secret" in answer && typeof answer.secret === "string"
    ? answer.secret
    : undefined;
}

interface AffixProps {
  label: string;
  value: string;
  wrong: string | undefined;
  onChange: (text: string) => void;
}

function Affix({ label, value, wrong, onChange }: AffixProps) {
  return (
    <Field label={label} wrong={wrong}>
      {(tie) => (
        <input {...tie} maxLength={50} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}

/** Switches the webhook on, and shows its secret; or changes how it names flows. */
export function WriteSettings({ org, integration, onClose }: DialogProps & { integration: Integration }) {
  const [flow_name_base, setBase] = useState(integration.flow_name_base ?? ("key" as const));
  const [flow_name_prefix, setPrefix] = useState(integration.flow_name_prefix ?? "");
  const [flow_name_suffix, setSuffix] = useState(integration.flow_name_suffix ?? "");
  const isOn = integration.state === "on";
  const write = useAction("PUT /integrations/{org}/quality", (answer) => {
    if (secretIn(answer) === undefined) onClose();
  });
  const secret = secretIn(write.data);
  if (secret !== undefined) return <Secret value={secret} onClose={onClose} />;
  return (
    <ActionDialog
      title={isOn ? "How flows are named" : "Switch the webhook on"}
      submit={isOn ? "Save" : "Switch on"}
      action={write}
      input={{ params: { org }, body: { flow_name_base, flow_name_prefix, flow_name_suffix } }}
      onClose={onClose}
    >
      <Field label="Flows are named after" hint="Unless the scanner itself names one.">
        {(tie) => (
          <select
            {...tie}
            value={flow_name_base}
            onChange={(event) => setBase(event.target.value === "name" ? "name" : "key")}
          >
            <option value="key">the project’s key</option>
            <option value="name">the project’s name</option>
          </select>
        )}
      </Field>
      <Affix
        label="Before it"
        value={flow_name_prefix}
        wrong={wrongField(write.error, "flow_name_prefix")}
        onChange={setPrefix}
      />
      <Affix
        label="After it"
        value={flow_name_suffix}
        wrong={wrongField(write.error, "flow_name_suffix")}
        onChange={setSuffix}
      />
    </ActionDialog>
  );
}

/** Replaces the webhook's secret, and shows the new one. */
export function RotateSecret({ org, onClose }: DialogProps) {
  const rotate = useAction("POST /integrations/{org}/quality/rotate-secret");
  if (rotate.data !== undefined) return <Secret value={rotate.data.secret} onClose={onClose} />;
  return (
    <ActionDialog
      title="Replace the webhook’s secret?"
      submit="Replace the secret"
      isDanger
      action={rotate}
      input={{ params: { org } }}
      onClose={onClose}
    >
      <p>The old one stops working at once: what the scanner sends is refused until it has the new one.</p>
    </ActionDialog>
  );
}

/** Switches the webhook off. */
export function SwitchOff({ org, onClose }: DialogProps) {
  const off = useAction("DELETE /integrations/{org}/quality", onClose);
  return (
    <ActionDialog
      title="Switch the webhook off?"
      submit="Switch off"
      isDanger
      action={off}
      input={{ params: { org } }}
      onClose={onClose}
    >
      <p>Its address stops existing; switched on again it gets another. Deliveries and attestations stay.</p>
    </ActionDialog>
  );
}
