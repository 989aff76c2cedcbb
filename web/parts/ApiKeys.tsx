import { useState } from "react";

import type { Action } from "../api/action.ts";
import type { AnswerOf, InputOf, WriteAddress } from "../api/contract.ts";
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

interface MakeKeyProps<A extends WriteAddress> {
  action: Action<A>;
  /** Says what is sent for a key like this. */
  inputOf: (key: { description: string; expires_at: number }) => InputOf<A>;
  onClose: () => void;
}

/** Asks what a new key is for, and for how long. */
export function MakeKey<A extends WriteAddress>({ action, inputOf, onClose }: MakeKeyProps<A>) {
  const [description, setDescription] = useState("");
  const [days, setDays] = useState(90);
  const now = useNow();
  const expires_at = days === 0 ? 0 : Math.floor(now) + days * 86_400;
  return (
    <ActionDialog
      title="New API key"
      submit="Make the key"
      action={action}
      input={inputOf({ description, expires_at })}
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
      <Field label="It works">
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
      cell: ({ description, rotated_at, grace_period_expires_at }) => (
        <>
          <strong>{description}</strong>
          {rotated_at === undefined ? null : <Rotated at={rotated_at} until={grace_period_expires_at} />}
        </>
      ),
    },
    { key: "used", head: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { key: "made", head: "Made", isOptional: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      key: "ends",
      head: "Ends",
      cell: ({ expires_at }) => (expires_at === 0 ? <Quiet>never</Quiet> : <Time at={expires_at} />),
    },
    { key: "actions", head: <span className="visually-hidden">Actions</span>, isNumber: true, cell: actions },
  ];
  return <Table label="API keys" columns={columns} rows={keys} rowKey={({ id }) => id} expectedRows={2} />;
}
