import { useState } from "react";

import { sending, useAction } from "../../api/action.ts";
import {
  type ControlDraft,
  controlDraft,
  controlStart,
  controlText,
  givenControl,
} from "../../domain/control-draft.ts";
import { SendDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { SavedMeanwhile, undecided } from "../../parts/ChangedMeanwhile.tsx";
import { DescriptionField } from "../../parts/NewThing.tsx";
import { Field } from "../../ui/Field.tsx";
import { useWrittenOver } from "../../ui/useWrittenOver.ts";
import type { ListedControl } from "./queries.ts";

interface ControlDialogProps {
  org: string;
  /** What is edited; undefined for a new one. */
  control: ListedControl | undefined;
  onSaved: (identifier: string) => void;
  onClose: () => void;
}

interface DefinitionProps {
  draft: ControlDraft;
  error: Error | null;
  onChange: (part: Partial<ControlDraft>) => void;
}

function Definition({ draft, error, onChange }: DefinitionProps) {
  return (
    <>
      <Field label="Name" wrong={wrongField(error, "name")}>
        {(tie) => (
          <input
            {...tie}
            required
            value={draft.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <DescriptionField
        text={draft.description}
        onChange={(description) => onChange({ description })}
        error={error}
      />
      <Field label="Links" hint="One a line: its words, then its address." wrong={wrongField(error, "links")}>
        {(tie) => (
          <textarea
            {...tie}
            value={draft.links}
            onChange={(event) => onChange({ links: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

/** Asks for what a control says: a new one, or the next version of one that is there. */
export function ControlDialog({ org, control, onSaved, onClose }: ControlDialogProps) {
  const [identifier, identify] = useState(control?.identifier ?? "");
  const written = useWrittenOver(control === undefined ? controlStart : controlDraft(control), controlText);
  const { draft, write, overtaken } = written;
  const create = useAction("POST /controls/{org}", (made) => onSaved(made.identifier));
  const edit = useAction("PUT /controls/{org}/{identifier}", (made) => onSaved(made.identifier));
  const isNew = control === undefined;
  const action = isNew ? create : edit;
  const definition = givenControl(draft);
  const made = { params: { org }, body: { identifier, ...definition } };
  const edited = { params: { org, identifier }, body: definition };
  return (
    <SendDialog
      title={control === undefined ? "New control" : `Edit ${control.identifier}`}
      submit={isNew ? "Make the control" : "Save as a new version"}
      action={action}
      refused={overtaken === undefined ? undefined : undecided}
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
      <Definition draft={draft} error={action.error} onChange={(part) => write({ ...draft, ...part })} />
      <SavedMeanwhile what={`version ${control?.version}`} written={written} />
    </SendDialog>
  );
}
