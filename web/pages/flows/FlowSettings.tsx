import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { TagsCard } from "../../parts/TagsCard.tsx";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Field } from "../../ui/Field.tsx";
import { Card, Facts, Row, Stack } from "../../ui/Layout.tsx";
import { Time } from "../../ui/Time.tsx";
import { FlowHead } from "./FlowHead.tsx";
import { type Flow, flowQuery } from "./queries.ts";

const route = getRouteApi("/$org/flows/$flow/settings");

interface PartProps {
  org: string;
  flow: Flow;
}

const archivedName = /-archived-at-\d+$/;

function Rename({ org, flow, onClose }: PartProps & { onClose: () => void }) {
  const [new_name, setName] = useState(flow.name);
  const navigate = route.useNavigate();
  const rename = useAction("PUT /flows/{org}/{flow_name}/rename", () => {
    onClose();
    void navigate({ to: "/$org/flows/$flow/settings", params: { org, flow: new_name }, replace: true });
  });
  return (
    <ActionDialog
      title="Rename this flow"
      submit="Rename"
      action={rename}
      input={{ params: { org, flow_name: flow.name }, body: { new_name } }}
      onClose={onClose}
    >
      <Field
        label="New name"
        hint="Pipelines may go on with the old one until another flow takes it."
        wrong={wrongField(rename.error, "new_name")}
      >
        {(tie) => (
          <input {...tie} required value={new_name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
    </ActionDialog>
  );
}

function Archive({ org, flow, onClose }: PartProps & { onClose: () => void }) {
  const navigate = route.useNavigate();
  const archive = useAction("PUT /flows/{org}/{flow_name}/archive", () => {
    onClose();
    return navigate({ to: "/$org/flows", params: { org }, search: { archived: true } });
  });
  return (
    <ActionDialog
      title={`Archive ${flow.name}`}
      submit="Archive"
      action={archive}
      isDanger
      input={{ params: { org, flow_name: flow.name } }}
      onClose={onClose}
    >
      <p>
        It leaves the list of flows, and its name is free again. Its trails and their evidence can still be
        read, and it can be taken out of the archive.
      </p>
    </ActionDialog>
  );
}

function Unarchive({ org, flow }: PartProps) {
  const navigate = route.useNavigate();
  const refused = useRefusal(org, "PUT /flows/{org}/{flow_name}/unarchive");
  const unarchive = useAction(
    "PUT /flows/{org}/{flow_name}/unarchive",
    () => void navigate({ to: "/$org/flows", params: { org } }),
  );
  return (
    <>
      <p>This flow is archived. Outside the archive it gets back the name it had.</p>
      <Button refused={refused} onClick={() => unarchive.mutate({ params: { org, flow_name: flow.name } })}>
        Take it out of the archive
      </Button>
      {unarchive.error === null ? null : <ErrorNote failure={unarchive.error} />}
    </>
  );
}

function Settings({ org, flow }: PartProps) {
  const [asked, ask] = useState<"rename" | "archive">();
  const renameRefused = useRefusal(org, "PUT /flows/{org}/{flow_name}/rename");
  const archiveRefused = useRefusal(org, "PUT /flows/{org}/{flow_name}/archive");
  const close = (): void => ask(undefined);
  return (
    <Stack>
      <Card
        title="General"
        aside={
          <Button refused={renameRefused} onClick={() => ask("rename")}>
            Rename
          </Button>
        }
      >
        <Facts
          facts={[
            ["Name", flow.name],
            ["Description", flow.description],
            ["Visibility", flow.visibility],
            ["Made", <Time key="made" at={flow.created_at} />],
            ["By", flow.created_by],
          ]}
        />
      </Card>
      <TagsCard org={org} kind="flow" name={flow.name} tags={flow.tags} />
      <Card title="Archive">
        <Stack>
          {archivedName.test(flow.name) ? (
            <Unarchive org={org} flow={flow} />
          ) : (
            <Row>
              <Button look="danger" refused={archiveRefused} onClick={() => ask("archive")}>
                Archive this flow
              </Button>
            </Row>
          )}
        </Stack>
      </Card>
      {asked === "rename" ? <Rename org={org} flow={flow} onClose={close} /> : null}
      {asked === "archive" ? <Archive org={org} flow={flow} onClose={close} /> : null}
    </Stack>
  );
}

/** What a flow is called, its tags, and whether it is still used. */
export function FlowSettings() {
  const { org, flow } = route.useParams();
  const query = useQuery(flowQuery(org, flow));
  return (
    <>
      <FlowHead org={org} flow={flow} current="/$org/flows/$flow/settings" />
      <Loaded query={query}>{(found) => <Settings org={org} flow={found} />}</Loaded>
    </>
  );
}
