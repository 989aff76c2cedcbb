import { useState } from "react";

import { sending, useAction } from "../../api/action.ts";
import { SendDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { Field } from "../../ui/Field.tsx";
import type { ListedControl } from "./queries.ts";

interface ControlDialogProps {
  org: string;
  /** What is edited; undefined for a new one. */
  control: ListedControl | undefined;
  onSaved: (identifier: string) => void;
  onClose: () => void;
}

const linesOf = (links: Readonly<Record<string, string>>): string =>
  Object.entries(links)
    .map(([name, address]) => `${name} ${address}`)
    .join("\n");

/** Reads links written one a line, the address last: `Standard https://…`. */
function linksOf(lines: string): Record<string, string> {
  const pairs = lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line): [string, string] => {
      const at = line.lastIndexOf(" ");
      return at === -1 ? [line, line] : [line.slice(0, at).trim(), line.slice(at + 1)];
    });
  return Object.fromEntries(pairs);
}

/** Asks for what a control says: a new one, or the next version of one that is there. */
export function ControlDialog({ org, control, onSaved, onClose }: ControlDialogProps) {
  const [identifier, identify] = useState(control?.identifier ?? "");
  const [name, rename] = useState(control?.name ?? "");
  const [description, describe] = useState(control?.description ?? "");
  const [links, link] = useState(linesOf(control?.links ?? {}));
  const create = useAction("POST /controls/{org}", (made) => onSaved(made.identifier));
  const edit = useAction("PUT /controls/{org}/{identifier}", (made) => onSaved(made.identifier));
  const isNew = control === undefined;
  const action = isNew ? create : edit;
  const definition = { name, description, links: linksOf(links) };
  const made = { params: { org }, body: { identifier, ...definition } };
  const edited = { params: { org, identifier }, body: definition };
  return (
    <SendDialog
      title={control === undefined ? "New control" : `Edit ${control.identifier}`}
      submit={isNew ? "Make the control" : "Save as a new version"}
      action={action}
      sends={[isNew ? sending(create.operation, made) : sending(edit.operation, edited)]}
      onSubmit={() => (isNew ? create.mutate(made) : edit.mutate(edited))}
      onClose={onClose}
    >
      {isNew ? (
        <Field
          label="Identifier"
          hint="For good: no other control can ever have it."
          wrong={wrongField(action.error, "identifier")}
        >
          {(tie) => (
            <input
              {...tie}
              required
              placeholder="CC-7.1"
              value={identifier}
              onChange={(event) => identify(event.target.value)}
            />
          )}
        </Field>
      ) : null}
      <Field label="Name" wrong={wrongField(action.error, "name")}>
        {(tie) => <input {...tie} required value={name} onChange={(event) => rename(event.target.value)} />}
      </Field>
      <Field label="Description" wrong={wrongField(action.error, "description")}>
        {(tie) => (
          <textarea {...tie} value={description} onChange={(event) => describe(event.target.value)} />
        )}
      </Field>
      <Field
        label="Links"
        hint="One a line: its words, then its address."
        wrong={wrongField(action.error, "links")}
      >
        {(tie) => <textarea {...tie} value={links} onChange={(event) => link(event.target.value)} />}
      </Field>
    </SendDialog>
  );
}
