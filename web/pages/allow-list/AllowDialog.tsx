import { useState } from "react";

import { sending, useAction, useActions } from "../../api/action.ts";
import { ActionDialog, SendDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { EnvironmentPicker } from "../../parts/EnvironmentPicker.tsx";
import { Field } from "../../ui/Field.tsx";
import type { Allowed } from "./queries.ts";

interface Entry {
  artifact_name: string;
  artifact_fingerprint: string;
  description: string;
}

function ArtifactFields({
  entry: { artifact_name, artifact_fingerprint, description },
  change,
  error,
}: {
  entry: Entry;
  change: (changed: Partial<Entry>) => void;
  error: Error | null;
}) {
  return (
    <>
      <Field label="Artifact" wrong={wrongField(error, "artifact_name")}>
        {(tie) => (
          <input
            {...tie}
            required
            placeholder="registry.example/cache:7"
            value={artifact_name}
            onChange={(event) => change({ artifact_name: event.target.value })}
          />
        )}
      </Field>
      <Field
        label="Fingerprint"
        hint="SHA-256, 64 hexadecimal digits."
        wrong={wrongField(error, "artifact_fingerprint")}
      >
        {(tie) => (
          <input
            {...tie}
            required
            spellCheck={false}
            autoComplete="off"
            value={artifact_fingerprint}
            onChange={(event) => change({ artifact_fingerprint: event.target.value })}
          />
        )}
      </Field>
      <Field
        label="Why"
        hint="Whoever audits this reads it: who has looked at it, and where that is written down."
        wrong={wrongField(error, "description")}
      >
        {(tie) => (
          <textarea
            {...tie}
            required
            value={description}
            onChange={(event) => change({ description: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

/** Asks which artifact is to be trusted, where, and why. */
export function AllowDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const [environments, choose] = useState<string[]>([]);
  const [entry, setEntry] = useState<Entry>({ artifact_name: "", artifact_fingerprint: "", description: "" });
  const change = (changed: Partial<Entry>): void => setEntry((before) => ({ ...before, ...changed }));
  const body = { ...entry, artifact_fingerprint: entry.artifact_fingerprint.trim() };
  const sends = environments.map((env_name) =>
    sending("PUT /allowlists/{org}/{env_name}", { params: { org, env_name }, body }),
  );
  const allow = useActions(onClose);
  return (
    <SendDialog
      title="Allow an artifact"
      submit={environments.length < 2 ? "Allow it" : `Allow it in ${environments.length} environments`}
      action={allow}
      sends={sends}
      refused={environments.length === 0 ? "Choose an environment" : undefined}
      onSubmit={() => allow.mutate(sends)}
      onClose={onClose}
    >
      <p>No rule of any policy applies to it there from now on; what runs is judged again at once.</p>
      <ArtifactFields entry={entry} change={change} error={allow.error} />
      <EnvironmentPicker
        org={org}
        label="Where"
        chosen={environments}
        onChange={choose}
        hint="At least one."
      />
    </SendDialog>
  );
}

/** Asks whether an artifact is no longer to be trusted. */
export function DisallowDialog({
  org,
  entry,
  onClose,
}: {
  org: string;
  entry: Allowed;
  onClose: () => void;
}) {
  const { environment_name: env_name, fingerprint, artifact_name } = entry;
  const disallow = useAction("DELETE /allowlists/{org}/{env_name}/{fingerprint}", onClose);
  return (
    <ActionDialog
      title="Allow it no longer"
      submit="Remove from the allow-list"
      isDanger
      action={disallow}
      input={{ params: { org, env_name, fingerprint } }}
      onClose={onClose}
    >
      <p style={{ overflowWrap: "anywhere" }}>
        The rules of all policies apply to <b>{artifact_name}</b> in <b>{env_name}</b> again, and what runs
        there is judged again at once.
      </p>
    </ActionDialog>
  );
}
