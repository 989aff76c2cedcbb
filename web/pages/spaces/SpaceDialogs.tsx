import { useState } from "react";

import { useAction } from "../../api/action.ts";
import { moveRefusal, pathOfSpace, treeLines } from "../../domain/space-tree.ts";
import { ActionDialog, SendDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { moveOf, type Thing } from "./moves.ts";
import type { Space } from "./queries.ts";

interface NameFieldProps {
  value: string;
  wrong: string | undefined;
  onChange: (text: string) => void;
}

function NameField({ value, wrong, onChange }: NameFieldProps) {
  return (
    <Field label="Name" wrong={wrong}>
      {(tie) => (
        <input
          {...tie}
          required
          maxLength={128}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Makes a space, at the root or in another one. */
export function NewSpace({
  org,
  parent,
  onClose,
}: {
  org: string;
  parent: Space | undefined;
  onClose: () => void;
}) {
  const [name, setName] = useState("");
  const make = useAction("POST /spaces/{org}", onClose);
  return (
    <ActionDialog
      title={parent === undefined ? "New space" : `New space in ${parent.name}`}
      submit="Make the space"
      action={make}
      input={{ params: { org }, body: { name: name.trim(), parent_id: parent?.id ?? null } }}
      onClose={onClose}
    >
      <NameField value={name} wrong={wrongField(make.error, "name")} onChange={setName} />
    </ActionDialog>
  );
}

interface OfSpace {
  org: string;
  space: Space;
  onClose: () => void;
}

/** Gives a space another name. */
export function RenameSpace({ org, space, onClose }: OfSpace) {
  const [name, setName] = useState(space.name);
  const rename = useAction("PATCH /spaces/{org}/{space_id}", onClose);
  return (
    <ActionDialog
      title={`Rename ${space.name}`}
      submit="Rename"
      action={rename}
      input={{ params: { org, space_id: space.id }, body: { name: name.trim() } }}
      onClose={onClose}
    >
      <NameField value={name} wrong={wrongField(rename.error, "name")} onChange={setName} />
    </ActionDialog>
  );
}

/** Deletes a space that nothing is in. */
export function DeleteSpace({ org, space, onClose }: OfSpace) {
  const remove = useAction("DELETE /spaces/{org}/{space_id}", onClose);
  return (
    <ActionDialog
      title={`Delete ${space.name}?`}
      submit="Delete the space"
      isDanger
      action={remove}
      input={{ params: { org, space_id: space.id } }}
      onClose={onClose}
    >
      <p>It has to be empty. Archived environments and flows in it move to the root.</p>
    </ActionDialog>
  );
}

interface MoveThingProps {
  org: string;
  thing: Thing;
  spaces: readonly Space[];
  onMove: (to: string | null) => void;
  onClose: () => void;
}

/** Says why a thing cannot go there. */
function refusalOf(thing: Thing, spaces: readonly Space[], to: string | null): string | undefined {
  if (thing.kind === "space") return moveRefusal(spaces, thing.id, to);
  return thing.in === to ? "It is there already" : undefined;
}

const notAsked = { isPending: false, error: null };

/** Asks into which space a thing is to go. */
export function MoveThing({ org, thing, spaces, onMove, onClose }: MoveThingProps) {
  const places = [null, ...treeLines(spaces).map(({ space }) => space.id)].filter(
    (to) => refusalOf(thing, spaces, to) === undefined,
  );
  const [to, setTo] = useState(places[0] ?? null);
  return (
    <SendDialog
      title={`Move ${thing.name}`}
      submit="Move"
      action={notAsked}
      sends={[moveOf(org, thing, to)]}
      onSubmit={() => onMove(to)}
      onClose={onClose}
    >
      <Field label="Into">
        {(tie) => (
          <select
            {...tie}
            value={to ?? ""}
            onChange={(event) => setTo(event.target.value === "" ? null : event.target.value)}
          >
            {places.map((place) => (
              <option key={place ?? ""} value={place ?? ""}>
                {place === null ? "The root" : pathOfSpace(spaces, place)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </SendDialog>
  );
}
