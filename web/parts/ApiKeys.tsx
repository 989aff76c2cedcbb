import { useState } from "react";

import type { Action } from "../api/action.ts";
import type { AnswerOf, InputOf, WriteAddress } from "../api/contract.ts";
import { type EndRules, newEndChoices, noEndRules, sentEnd, usualNewEnd } from "../domain/key-ends.ts";
import { type Role, roles } from "../domain/roles.ts";
import { addressesOf, addressList } from "../domain/security-rules.ts";
import { ChoiceField, Field } from "../ui/Field.tsx";
import { Quiet } from "../ui/Layout.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { Time, useNow } from "../ui/Time.tsx";
import { ActionDialog, wrongField } from "./ActionDialog.tsx";
import { ShownOnce } from "./ShownOnce.tsx";

export type ApiKey = AnswerOf<"GET /user/api-keys">[number];

/** Shows a new key, this once. */
export function NewKey({ value, onClose }: { value: string; onClose: () => void }) {
  return <ShownOnce title="Your new key" label="API key" value={value} onClose={onClose} />;
}

/** What is sent of a new key. */
export interface NewKeyInput {
  description: string;
  expires_at: number;
  role?: Role;
  allowed_addresses?: string[];
}

interface MakeKeyProps<A extends WriteAddress> {
  action: Action<A>;
  /** What rules ask of its end, as far as they are known. */
  rules?: EndRules;
  /** Says what is sent for a key like this. */
  inputOf: (key: NewKeyInput) => InputOf<A>;
  onClose: () => void;
}

/** What a new key is to be less than its owner, as it stands in the fields. */
interface GivenLimits {
  role: Role | undefined;
  addresses: string;
}

function sentLimits({ role, addresses }: GivenLimits): Pick<NewKeyInput, "role" | "allowed_addresses"> {
  const allowed_addresses = addressList(addresses);
  return {
    ...(role === undefined ? {} : { role }),
    ...(allowed_addresses.length === 0 ? {} : { allowed_addresses }),
  };
}

interface LimitFieldsProps {
  error: Error | null;
  given: GivenLimits;
  change: (limits: GivenLimits) => void;
}

const asItsOwner = "owner";
const roleChoices = [
  [asItsOwner, "as much as its owner"],
  ...roles.map((role) => [role, `at most ${role}`] as const),
] as const;

/** Asks for what a key is to be less than its owner. */
function LimitFields({ error, given, change }: LimitFieldsProps) {
  return (
    <>
      <ChoiceField
        label="It may"
        hint="Never more than its owner, whatever is chosen."
        wrong={wrongField(error, "role")}
        choices={roleChoices}
        chosen={given.role ?? asItsOwner}
        onChoose={(chosen) => change({ ...given, role: chosen === asItsOwner ? undefined : chosen })}
      />
      <Field
        label="It works from"
        hint="Networks or addresses, as 10.0.0.0/8; empty for everywhere."
        wrong={error === null ? undefined : addressesOf(error, wrongField)}
      >
        {(tie) => (
          <input
            {...tie}
            spellCheck={false}
            placeholder="everywhere"
            value={given.addresses}
            onChange={({ target }) => change({ ...given, addresses: target.value })}
          />
        )}
      </Field>
    </>
  );
}

/** Asks what a new key is for, and for how long. */
export function MakeKey<A extends WriteAddress>({
  action,
  rules = noEndRules,
  inputOf,
  onClose,
}: MakeKeyProps<A>) {
  const [description, setDescription] = useState("");
  const [chosen, setEnd] = useState<number>();
  const [limits, setLimits] = useState<GivenLimits>({ role: undefined, addresses: "" });
  const now = useNow();
  const end = chosen ?? usualNewEnd(rules);
  const expires_at = sentEnd(end, rules, now);
  return (
    <ActionDialog
      title="New API key"
      submit="Make the key"
      action={action}
      input={inputOf({ description, expires_at, ...sentLimits(limits) })}
      onClose={onClose}
    >
      <Field label="What it is for" wrong={wrongField(action.error, "description")}>
        {(tie) => (
          <input
            {...tie}
            required
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </Field>
      <ChoiceField
        label="It works"
        wrong={wrongField(action.error, "expires_at")}
        choices={newEndChoices(rules)}
        chosen={end}
        onChoose={setEnd}
      />
      <LimitFields error={action.error} given={limits} change={setLimits} />
    </ActionDialog>
  );
}

/** Says when a key got another secret, and until when the former one works as well. */
function Rotated({ at, until }: { at: number; until: number | undefined }) {
  const now = useNow();
  return (
    <div>
      <Quiet isSmall>
        rotated <Time at={at} />
        {until === undefined || until <= now ? null : (
          <>
            ; the former secret ends <Time at={until} mayBeAhead />
          </>
        )}
      </Quiet>
    </div>
  );
}

/** Says for what a key is less than its owner. */
function Limits({ role, addresses }: { role: string | undefined; addresses: readonly string[] | undefined }) {
  if (role === undefined && addresses === undefined) return null;
  const [first = "", ...rest] = addresses ?? [];
  const from = `from ${first}${rest.length === 0 ? "" : ` and ${rest.length} more`}`;
  const words = [
    role === undefined ? undefined : `at most ${role}`,
    addresses === undefined ? undefined : from,
  ];
  return (
    <div title={addresses?.join("\n")}>
      <Quiet isSmall>{words.filter((each) => each !== undefined).join(", ")}</Quiet>
    </div>
  );
}

/** Says when a key ends, by itself or sooner by rules. */
function End({ apiKey: { expires_at, deadline_at } }: { apiKey: ApiKey }) {
  const isByRules = deadline_at !== undefined && (expires_at === 0 || deadline_at < expires_at);
  if (!isByRules) return expires_at === 0 ? <Quiet>never</Quiet> : <Time at={expires_at} mayBeAhead />;
  return (
    <>
      <Time at={deadline_at} mayBeAhead />
      <div>
        <Quiet isSmall>by rules</Quiet>
      </div>
    </>
  );
}

interface ApiKeysProps {
  keys: readonly ApiKey[] | undefined;
  /** What can be done with a key. */
  actions: (key: ApiKey) => React.ReactNode;
}

/** Lists keys, of which only what they are for can be read. */
export function ApiKeys({ keys, actions }: ApiKeysProps) {
  const columns: Column<ApiKey>[] = [
    {
      key: "description",
      head: "For",
      cell: ({ description, rotated_at, grace_period_expires_at, role, allowed_addresses }) => (
        <>
          <strong>{description}</strong>
          <Limits role={role} addresses={allowed_addresses} />
          {rotated_at === undefined ? null : <Rotated at={rotated_at} until={grace_period_expires_at} />}
        </>
      ),
    },
    { key: "used", head: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { key: "made", head: "Made", isOptional: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      key: "ends",
      head: "Ends",
      cell: (apiKey) => <End apiKey={apiKey} />,
    },
    { key: "actions", head: <span className="visually-hidden">Actions</span>, isNumber: true, cell: actions },
  ];
  return <Table label="API keys" columns={columns} rows={keys} rowKey={({ id }) => id} expectedRows={2} />;
}
