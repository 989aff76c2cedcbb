import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { useAction } from "../../api/action.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { pageOfData } from "../../api/page.ts";
import { FailedToRead } from "../../parts/Loaded.tsx";
import { Button } from "../../ui/Button.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { Card, OneLine, Quiet, Tag } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { sessionsQuery } from "./queries.ts";

const route = getRouteApi("/-/profile");
type Session = AnswerOf<"GET /user/sessions">["data"][number];

/** Where one is signed in, each of which can be ended. */
export function Sessions() {
  const { page: number = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(sessionsQuery(number));
  const end = useAction("DELETE /user/sessions/{session_id}");
  const columns: Column<Session>[] = [
    {
      key: "browser",
      head: "Browser",
      cell: ({ user_agent, address }) => (
        <>
          <OneLine text={user_agent === "" ? "unknown" : user_agent} />
          <Quiet isSmall>from {address}</Quiet>
        </>
      ),
    },
    { key: "used", head: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { key: "begun", head: "Signed in", isOptional: true, cell: ({ created_at }) => <Time at={created_at} /> },
    { key: "ends", head: "Ends", isOptional: true, cell: ({ expires_at }) => <Time at={expires_at} /> },
    {
      key: "end",
      head: <span className="visually-hidden">Action</span>,
      isNumber: true,
      cell: ({ id, is_current }) =>
        is_current ? (
          <Tag>this one</Tag>
        ) : (
          <Button onClick={() => end.mutate({ params: { session_id: id } })}>End</Button>
        ),
    },
  ];
  const page = query.data === undefined ? undefined : pageOfData(query.data);
  return (
    <Card title="Where you are signed in">
      {end.error === null ? null : <ErrorNote failure={end.error} />}
      {query.error !== null && page === undefined ? (
        <FailedToRead error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Table
          label="Sessions"
          columns={columns}
          rows={page?.items}
          rowKey={({ id }) => id}
          expectedRows={2}
        />
      )}
      {page === undefined || (page.total ?? 0) <= page.per_page ? null : (
        <Pager {...page} count={page.items.length} onPage={(to) => void navigate({ search: { page: to } })} />
      )}
    </Card>
  );
}
