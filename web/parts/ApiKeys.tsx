import { useState } from "react";

import type { Action } from "../api/action.ts";
import type { AnswerOf, InputOf, WriteAddress } from "../api/contract.ts";
import { type Role, roles } from "../domain/roles.ts";
import { addressesOf, addressList } from "../domain/security-rules.ts";
import { Field } from "../ui/Field.tsx";
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

/** How long keys may be made for, in days; 0 for ever. */
const lifetimes = [
  [30, "30 days"],
  [90, "90 days"],
  [365, "a year"],
  [0, "for ever"],
] as const;

interface NewKeyInput {
  description: string;
  expires_at: number;
  role?: Role;
  allowed_addresses?: string[];
}

interface MakeKeyProps<A extends WriteAddress> {
  action: Action<A>;
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

/** Asks for what a key is to be less than its owner. */
function LimitFields({ error, given, change }: LimitFieldsProps) {
  return (
    <>
      <Field
        label="It may"
        hint="Never more than its owner, whatever is chosen."
        wrong={wrongField(error, "role")}
      >
        {(tie) => (
          <select
            {...tie}
            value={given.role ?? ""}
            onChange={({ target }) => change({ ...given, role: roles.find((role) => role === target.value) })}
          >
            <option value="">as much as its owner</option>
            {roles.map((role) => (
              <option key={role} value={role}>
                at most {role}
              </option>
            ))}
          </select>
        )}
      </Field>
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
export function MakeKey<A extends WriteAddress>({ action, inputOf, onClose }: MakeKeyProps<A>) {
  const [description, setDescription] = useState("");
  const [days, setDays] = useState(90);
  const [limits, setLimits] = useState<GivenLimits>({ role: undefined, addresses: "" });
  const now = useNow();
  const expires_at = days === 0 ? 0 : Math.floor(now) + days * 86_400;
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
      <Field label="It works" wrong={wrongField(action.error, "expires_at")}>
        {(tie) => (
          <select {...tie} value={days} onChange={(event) => setDays(Number(event.target.value))}>
            {lifetimes.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
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
            ; the former secret ends <Time at={until} />
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
  if (!isByRules) return expires_at === 0 ? <Quiet>never</Quiet> : <Time at={expires_at} />;
  return (
    <>
      <Time at={deadline_at} />
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
