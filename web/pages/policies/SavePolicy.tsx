import { type ReactNode, useState } from "react";

import { useAction } from "../../api/action.ts";
import { call } from "../../api/client.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { KeptNameNote, type KeptSearch, useKeptName } from "../../parts/KeptName.tsx";
import { ifAny } from "../../parts/NewName.tsx";
import { Field } from "../../ui/Field.tsx";
import { Note } from "../../ui/Note.tsx";
import { TextDiff } from "../../ui/TextDiff.tsx";
import { type Policy } from "./queries.ts";

/** Finds what policy has a name. */
function policyNamed(org: string, policy_name: string): KeptSearch<Policy> {
  const input = { params: { org, policy_name } };
  return {
    queryKey: ["GET /policies/{org}/{policy_name}", input, "name"],
    queryFn: ({ signal }) => ifAny(call("GET /policies/{org}/{policy_name}", input, signal)),
  };
}

/** Says what saving sets off. */
function Consequences({ policy, isText }: { policy: Policy; isText: boolean }) {
  const count = policy.consuming_envs.length;
  if (!isText) return <Note>The text stays, so nothing is judged again.</Note>;
  if (count === 0) return <Note>It is attached nowhere, so nothing is judged again.</Note>;
  return (
    <Note kind="warn">
      <strong>
        {count} {count === 1 ? "environment" : "environments"}
      </strong>{" "}
      will be judged again at once: {policy.consuming_envs.slice(0, 5).join(", ")}
      {count > 5 ? ` and ${count - 5} more` : ""}.
    </Note>
  );
}

interface SavePolicyProps {
  org: string;
  /** What is edited; undefined for a new one. */
  edited: Policy | undefined;
  text: string;
  /** What somebody else has saved meanwhile. */
  meanwhile: ReactNode;
  /** Why it cannot be saved yet. */
  refused: string | undefined;
  onSaved: (name: string) => Promise<void>;
  onClose: () => void;
}

function formOf(payload: { name: string; description: string; comment: string }, text: string): FormData {
  const body = new FormData();
  body.append("payload", JSON.stringify(payload));
  body.append("policy_file", new File([text], "policy.yaml", { type: "application/yaml" }));
  return body;
}

/** Asks for the words that go with a new version, and shows what it changes and how much it touches. */
export function SavePolicy({ org, edited, text, meanwhile, refused, onSaved, onClose }: SavePolicyProps) {
  const [name, setName] = useState(edited?.name ?? "");
  const [described, describe] = useState<string>();
  const [comment, setComment] = useState("");
  const named = useKeptName({ what: "policy", edited, name, search: (wanted) => policyNamed(org, wanted) });
  const { kept: policy, isFree } = named;
  const description = described ?? policy?.description ?? "";
  const before = policy?.versions.at(-1)?.policy_yaml ?? "";
  const save = useAction("PUT /policies/{org}", (saved) => onSaved(saved.name), named.requireSeen);
  const isText = before !== text;
  return (
    <ActionDialog
      title={edited === undefined ? "Save the policy" : `Save ${edited.name}`}
      submit={policy === undefined ? "Save as a new policy" : isText ? "Save as a new version" : "Save"}
      action={save}
      isWide
      refused={refused ?? named.refused}
      input={{ params: { org }, body: formOf({ name, description, comment }, text) }}
      onClose={onClose}
    >
      {edited === undefined ? (
        <Field label="Name" wrong={wrongField(save.error, "name")}>
          {(tie) => (
            <input
              {...tie}
              required
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      ) : null}
      {edited === undefined ? <KeptNameNote named={named} /> : null}
      <Field label="Description" wrong={wrongField(save.error, "description")}>
        {(tie) => <input {...tie} value={description} onChange={(event) => describe(event.target.value)} />}
      </Field>
      <Field
        label="Comment"
        hint="Why this version is made; it stands in the list of versions."
        wrong={wrongField(save.error, "comment")}
      >
        {(tie) => (
          <input
            {...tie}
            required={isText}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
        )}
      </Field>
      {meanwhile}
      {isFree ? (
        <Note>The policy is new. It judges nothing until it is attached to an environment.</Note>
      ) : null}
      {policy === undefined ? null : <Consequences policy={policy} isText={isText} />}
      <TextDiff before={before} after={text} label="What changes" />
    </ActionDialog>
  );
}
