import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { useRefusal } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { allowListExport } from "../../parts/allow-list.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { ArtifactLink } from "../../parts/ProcessLinks.tsx";
import { Button } from "../../ui/Button.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Field } from "../../ui/Field.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { EnvironmentPage } from "./EnvironmentHead.tsx";
import styles from "./Environments.module.css";
import { environmentAllowListQuery } from "./queries.ts";

const route = getRouteApi("/$org/environments/$env/allow-list");
type Entry = AnswerOf<"GET /allowlists/{org}">[number];

const fields = [
  ["artifact_name", "Name of the artifact"],
  ["artifact_fingerprint", "Fingerprint"],
  ["description", "Why it is trusted"],
] as const;

function Allow({ onClose }: { onClose: () => void }) {
  const { org, env } = route.useParams();
  const [entry, setEntry] = useState({ artifact_name: "", artifact_fingerprint: "", description: "" });
  const action = useAction("PUT /allowlists/{org}/{env_name}", onClose);
  const body = {
    ...entry,
    artifact_name: entry.artifact_name.trim(),
    artifact_fingerprint: entry.artifact_fingerprint.trim(),
  };
  return (
    <ActionDialog
      title={`Allow an artifact in ${env}`}
      submit="Allow"
      action={action}
      input={{ params: { org, env_name: env }, body }}
      onClose={onClose}
    >
      <p>No rule applies to it here from now on. What runs is judged again at once.</p>
      {fields.map(([name, label]) => (
        <Field key={name} label={label} wrong={wrongField(action.error, name)}>
          {(tie) => (
            <input
              {...tie}
              required
              spellCheck={false}
              value={entry[name]}
              onChange={(event) => setEntry({ ...entry, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
    </ActionDialog>
  );
}

function Disallow({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const { org, env } = route.useParams();
  const action = useAction("DELETE /allowlists/{org}/{env_name}/{fingerprint}", onClose);
  return (
    <ActionDialog
      title={`Allow ${entry.artifact_name} no more`}
      submit="Take it off the list"
      isDanger
      action={action}
      input={{ params: { org, env_name: env, fingerprint: entry.fingerprint } }}
      onClose={onClose}
    >
      <p>All rules of {env} apply to it again, and what runs is judged at once.</p>
    </ActionDialog>
  );
}

function factsOf(org: string): Column<Entry>[] {
  return [
    {
      key: "name",
      head: "Artifact",
      cell: ({ artifact_name, fingerprint, description }) => (
        <>
          <span className={styles["name"]}>
            <ArtifactLink org={org} flow="" fingerprint={fingerprint} name={artifact_name} />
          </span>
          <div>
            <Quiet isSmall>{description}</Quiet>
          </div>
        </>
      ),
    },
    {
      key: "fingerprint",
      head: "Fingerprint",
      cell: ({ fingerprint }) => <Fingerprint value={fingerprint} />,
    },
    { key: "by", head: "Allowed by", isOptional: true, cell: ({ user_name }) => user_name },
    { key: "when", head: "When", isOptional: true, cell: ({ timestamp }) => <Time at={timestamp} /> },
  ];
}

function removal(refused: string | undefined, onRemove: (entry: Entry) => void): Column<Entry> {
  return {
    key: "remove",
    head: <span className="visually-hidden">Actions</span>,
    cell: (entry) => (
      <Button
        look="quiet"
        icon="trash"
        refused={refused}
        aria-label={`Allow ${entry.artifact_name} no more`}
        onClick={() => onRemove(entry)}
      />
    ),
  };
}

/** What is trusted in an environment whatever the rules say, by whom and why. */
export function AllowList() {
  const { org, env } = route.useParams();
  const query = useQuery(environmentAllowListQuery(org, env));
  const mayNotAllow = useRefusal(org, "PUT /allowlists/{org}/{env_name}");
  const mayNotRemove = useRefusal(org, "DELETE /allowlists/{org}/{env_name}/{fingerprint}");
  const [open, setOpen] = useState<Entry | "new" | undefined>();
  const columns = [...factsOf(org), removal(mayNotRemove, setOpen)];
  const allow = (
    <Button icon="plus" refused={mayNotAllow} onClick={() => setOpen("new")}>
      Allow an artifact
    </Button>
  );
  const rowKey = ({ fingerprint }: Entry): string => fingerprint;
  return (
    <EnvironmentPage
      org={org}
      env={env}
      current="/$org/environments/$env/allow-list"
      actions={
        <>
          {query.data === undefined ? null : (
            <ExportMenu list={allowListExport(org, query.data, `${env}-allow-list`)} />
          )}
          {allow}
        </>
      }
    >
      <Loaded
        query={query}
        waiting={<Table label="Allowed here" columns={columns} rows={undefined} rowKey={rowKey} />}
      >
        {(entries) =>
          entries.length === 0 ? (
            <Empty
              title="Nothing is allowed here beside the rules"
              text="An artifact on this list complies in this environment, whatever its policies ask for."
            />
          ) : (
            <Table label="Allowed here" columns={columns} rows={entries} rowKey={rowKey} />
          )
        }
      </Loaded>
      {open === undefined ? null : open === "new" ? (
        <Allow onClose={() => setOpen(undefined)} />
      ) : (
        <Disallow entry={open} onClose={() => setOpen(undefined)} />
      )}
    </EnvironmentPage>
  );
}
