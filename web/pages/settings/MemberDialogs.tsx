import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAction } from "../../api/action.ts";
import { ApiError } from "../../api/errors.ts";
import { alreadyMember, type Role } from "../../domain/roles.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { RoleField } from "../../parts/RoleField.tsx";
import { Field } from "../../ui/Field.tsx";
import { type Member, membersQuery } from "./queries.ts";

/** Makes a user a member. Who is one already keeps the role: it is changed where it is shown. */
export function AddMember({ org, onClose }: { org: string; onClose: () => void }) {
  const [user, setUser] = useState("");
  const [role, setRole] = useState<Role>("reader");
  const queries = useQueryClient();
  const { data: members } = useQuery(membersQuery(org));
  const already = members && alreadyMember(members, user);
  const add = useAction("PUT /members/{org}/{user}", onClose, async () => {
    // Looked at once more: the role of who became one meanwhile would be another one then.
    const now = alreadyMember(await queries.fetchQuery({ ...membersQuery(org), staleTime: 0 }), user);
    if (now !== undefined) throw new ApiError(409, now);
  });
  return (
    <ActionDialog
      title="Add a member"
      submit="Add"
      action={add}
      refused={members === undefined ? "It is not known yet who is a member" : already}
      input={{ params: { org, user }, body: { role } }}
      onClose={onClose}
    >
      <Field
        label="Name"
        hint="Of somebody who is a user here already. Others are invited."
        wrong={already === undefined ? wrongField(add.error, "user") : <span role="status">{already}</span>}
      >
        {(tie) => (
          <input
            {...tie}
            required
            autoComplete="off"
            value={user}
            onChange={(event) => setUser(event.target.value)}
          />
        )}
      </Field>
      <RoleField value={role} onChoose={setRole} wrong={wrongField(add.error, "role")} />
    </ActionDialog>
  );
}

interface OfMember {
  org: string;
  member: Member;
  onClose: () => void;
}

/** Gives a member another role. */
export function ChangeRole({ org, member: { user, role: before }, onClose }: OfMember) {
  const [role, setRole] = useState<Role>(before);
  const change = useAction("PUT /members/{org}/{user}", onClose);
  return (
    <ActionDialog
      title={`Role of ${user}`}
      submit="Change the role"
      action={change}
      input={{ params: { org, user }, body: { role } }}
      onClose={onClose}
    >
      <RoleField value={role} onChoose={setRole} wrong={wrongField(change.error, "role")} />
    </ActionDialog>
  );
}

/** Takes a member's role away. */
export function RemoveMember({ org, member: { user }, onClose }: OfMember) {
  const remove = useAction("DELETE /members/{org}/{user}", onClose);
  return (
    <ActionDialog
      title={`Remove ${user}?`}
      submit="Remove"
      isDanger
      action={remove}
      input={{ params: { org, user } }}
      onClose={onClose}
    >
      <p>
        They lose access at once, with all their keys and sessions. Service accounts that they made stay, and
        so does everything they did.
      </p>
    </ActionDialog>
  );
}
