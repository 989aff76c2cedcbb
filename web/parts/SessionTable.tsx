import type { ReactNode } from "react";

import type { AnswerOf } from "../api/contract.ts";
import { deviceOf, networkOf } from "../domain/devices.ts";
import { Quiet } from "../ui/Layout.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";

type Session = AnswerOf<"GET /user/sessions">["data"][number];

function begunWith({ issuer, api_key_id }: Session): string {
  if (issuer !== null) return URL.canParse(issuer) ? new URL(issuer).host : issuer;
  return api_key_id === null ? "a link" : "an API key";
}

interface SessionTableProps {
  sessions: readonly Session[] | undefined;
  /** What can be done about one of them. */
  action?: (session: Session) => ReactNode;
}

/** Sessions: on which device and in which network, when they were used last, and what began them. */
export function SessionTable({ sessions, action }: SessionTableProps) {
  const columns: Column<Session>[] = [
    {
      key: "device",
      head: "Device",
      cell: (session) => (
        <>
          <span title={session.user_agent}>{deviceOf(session.user_agent)}</span>
          <div>
            <Quiet isSmall>
              <span title={session.address}>{networkOf(session.address)}</span>, signed in with{" "}
              {begunWith(session)}
            </Quiet>
          </div>
        </>
      ),
    },
    { key: "used", head: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { key: "begun", head: "Signed in", isOptional: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      key: "ends",
      head: "Ends",
      isOptional: true,
      cell: ({ expires_at }) => <Time at={expires_at} mayBeAhead />,
    },
  ];
  const acting: Column<Session> = {
    key: "action",
    head: <span className="visually-hidden">Action</span>,
    isNumber: true,
    cell: (session) => action?.(session),
  };
  return (
    <Table
      label="Sessions"
      columns={action === undefined ? columns : [...columns, acting]}
      rows={sessions}
      rowKey={({ id }) => id}
      expectedRows={2}
    />
  );
}
