import { useState } from "react";

import { useRole } from "../../api/account.ts";
import { useAction } from "../../api/action.ts";
import { differing } from "../../domain/differing.ts";
import type { Role } from "../../domain/roles.ts";
import { ActionDialog, wrongField } from "../../parts/ActionDialog.tsx";
import { RoleField } from "../../parts/RoleField.tsx";
import { Field } from "../../ui/Field.tsx";
import { useWritten } from "../../ui/useWritten.ts";
import type { ServiceAccount } from "./queries.ts";

interface DescriptionProps {
  value: string;
  onChange: (text: string) => void;
  wrong: string | undefined;
}

function Description({ value, onChange, wrong }: DescriptionProps) {
  return (
    <Field label="Description" wrong={wrong}>
      {(tie) => <input {...tie} value={value} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

/** Makes a service account, which has no key yet. */
export function NewAccount({ org, onClose }: { org: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [privilege, setPrivilege] = useState<Role>("reader");
  const make = useAction("POST /service-accounts/{org}", onClose);
  return (
    <ActionDialog
      title="New service account"
      submit="Make the account"
      action={make}
      input={{ params: { org }, body: { name, description, privilege } }}
      onClose={onClose}
    >
      <Field label="Name" wrong={wrongField(make.error, "name")}>
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
      <Description
        value={description}
        onChange={setDescription}
        wrong={wrongField(make.error, "description")}
      />
      <RoleField value={privilege} onChoose={setPrivilege} wrong={wrongField(make.error, "privilege")} />
    </ActionDialog>
  );
}

interface OfAccount {
  org: string;
  /** As it is kept now. */
  account: ServiceAccount;
  onClose: () => void;
}

/** Changes what an account is for; admins change what it may do. */
export function ChangeAccount({ org, account, onClose }: OfAccount) {
  const [description, writeDescription] = useWritten(account.description);
  const [privilege, choosePrivilege] = useWritten(account.privilege);
  const isAdmin = useRole(org) === "admin";
  const change = useAction("PATCH /service-accounts/{org}/{name}", onClose);
  return (
    <ActionDialog
      title={`Change ${account.name}`}
      submit="Save"
      action={change}
      input={{ params: { org, name: account.name }, body: differing({ description, privilege }, account) }}
      onClose={onClose}
    >
      <Description
        value={description}
        onChange={writeDescription}
        wrong={wrongField(change.error, "description")}
      />
      {isAdmin ? (
        <RoleField
          value={privilege}
          onChoose={choosePrivilege}
          wrong={wrongField(change.error, "privilege")}
        />
      ) : (
        <p>Admins change its role, which is {account.privilege}.</p>
      )}
    </ActionDialog>
  );
}

/** Removes an account with its keys. */
export function RemoveAccount({ org, account: { name }, onClose }: OfAccount) {
  const remove = useAction("DELETE /service-accounts/{org}/{name}", onClose);
  return (
    <ActionDialog
      title={`Remove ${name}?`}
      submit="Remove the account"
      isDanger
      action={remove}
      input={{ params: { org, name } }}
      onClose={onClose}
    >
      <p>Its keys stop working at once, and whatever reports with them is refused. The name becomes free.</p>
    </ActionDialog>
  );
}
