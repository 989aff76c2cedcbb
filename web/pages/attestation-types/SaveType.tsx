import { type ReactNode, useState } from "react";

import { useAction } from "../../api/action.ts";
import { call } from "../../api/client.ts";
import { definitionText, draftOf, type TypeDraft } from "../../domain/type-draft.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { KeptNameNote, type KeptSearch, useKeptName } from "../../parts/KeptName.tsx";
import { ifAny } from "../../parts/NewName.tsx";
import { Field } from "../../ui/Field.tsx";
import { Note } from "../../ui/Note.tsx";
import { TextDiff } from "../../ui/TextDiff.tsx";
import { formOfType } from "./definition.ts";
import type { AttestationType, NamedType } from "./queries.ts";

/** Finds what type has a name: archived ones, which no list has, keep theirs. */
function typeNamed(org: string, custom_attestation_type_name: string): KeptSearch<NamedType> {
  const operation = "GET /custom-attestation-types/{org}/{custom_attestation_type_name}";
  const input = { params: { org, custom_attestation_type_name } };
  return {
    queryKey: [operation, input, "name"],
    queryFn: ({ signal }) => ifAny(call(operation, input, signal)),
  };
}

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
  const named = useKeptName<NamedType>({
    what: "type",
    edited,
    name,
    search: (wanted) => typeNamed(org, wanted),
  });
  const { kept, isFree } = named;
  const [latest] = kept?.versions ?? [];
  const save = useAction("POST /custom-attestation-types/{org}", () => onSaved(name), named.requireSeen);
  return (
    <ActionDialog
      title={edited === undefined ? "Save the attestation type" : `Save ${edited.name}`}
      submit={kept === undefined ? "Save as a new type" : "Save as a new version"}
      action={save}
      isWide
      refused={refused ?? named.refused}
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
      {edited === undefined ? <KeptNameNote named={named} /> : null}
      {isFree ? <Note>The type is new. Nothing is judged by it until somebody attests with it.</Note> : null}
      {kept === undefined ? null : (
        <Note>
          Attestations from now on are judged by it. Those that are there keep the verdict of their version.
        </Note>
      )}
      {kept?.archived === true ? <Note kind="warn">It is archived. Saving brings it back.</Note> : null}
      {meanwhile}
      <TextDiff
        before={latest === undefined ? "" : definitionText(draftOf(latest, kept?.description))}
        after={definitionText(draft)}
        label="What changes"
      />
    </ActionDialog>
  );
}
