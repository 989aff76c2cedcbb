import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { useAction } from "../../api/action.ts";
import { definitionText, draftOf, type TypeDraft } from "../../domain/type-draft.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { ownTypesQuery } from "../../parts/queries.ts";
import { Field } from "../../ui/Field.tsx";
import { Note } from "../../ui/Note.tsx";
import { TextDiff } from "../../ui/TextDiff.tsx";
import { formOfType } from "./definition.ts";
import { type AttestationType } from "./queries.ts";

interface SaveTypeProps {
  org: string;
  /** What is edited; undefined for a new one. */
  edited: AttestationType | undefined;
  draft: TypeDraft;
  /** What somebody else has saved meanwhile. */
  meanwhile: ReactNode;
  /** Why it cannot be saved yet. */
  refused: string | undefined;
  onSaved: (name: string) => Promise<void>;
  onClose: () => void;
}

/** Asks for the name of a new type, shows what a new version changes, and keeps it. */
export function SaveType({ org, edited, draft, meanwhile, refused, onSaved, onClose }: SaveTypeProps) {
  const [name, setName] = useState(edited?.name ?? "");
  const { data: all } = useQuery({ ...ownTypesQuery(org), enabled: edited === undefined });
  const kept = edited ?? all?.find((one) => one.name === name);
  const [latest] = kept?.versions ?? [];
  const isNew = kept === undefined;
  const save = useAction("POST /custom-attestation-types/{org}", () => onSaved(name));
  return (
    <ActionDialog
      title={edited === undefined ? "Save the attestation type" : `Save ${edited.name}`}
      submit={isNew ? "Save as a new type" : "Save as a new version"}
      action={save}
      isWide
      refused={refused}
      input={{ params: { org }, body: formOfType(name, draft) }}
      onClose={onClose}
    >
      {edited === undefined ? (
        <Field
          label="Name"
          hint={
            <>
              Attestations say <code>custom:{name === "" ? "name" : name}</code>. It stays for good.
            </>
          }
          wrong={wrongField(save.error, "name")}
        >
          {(tie) => (
            <input
              {...tie}
              required
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      ) : null}
      {edited !== undefined || isNew ? null : (
        <Note kind="warn">There is a type of this name. Saving makes its next version.</Note>
      )}
      {isNew ? (
        <Note>The type is new. Nothing is judged by it until somebody attests with it.</Note>
      ) : (
        <Note>
          Attestations from now on are judged by it. Those that are there keep the verdict of their version.
        </Note>
      )}
      {edited?.archived === true ? <Note kind="warn">It is archived. Saving brings it back.</Note> : null}
      {meanwhile}
      <TextDiff
        before={latest === undefined ? "" : definitionText(draftOf(latest, kept?.description))}
        after={definitionText(draft)}
        label="What changes"
      />
    </ActionDialog>
  );
}
