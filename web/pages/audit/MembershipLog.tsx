import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { pageOfHead } from "../../api/page.ts";
import { PagedList } from "../../parts/PagedList.tsx";
import { Choice, FilterBar, SearchField } from "../../ui/Field.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { Chooses, DayFilters, NoEntries, useFilter } from "./filters.tsx";
import { type MembershipChange, membershipQuery } from "./queries.ts";

const route = getRouteApi("/$org/audit-log");

const eventChoices = [
  ["added", "Added"],
  ["changed", "Role changed"],
  ["removed", "Removed"],
] as const;
const roleChoices = [
  ["admin", "Admin"],
  ["member", "Member"],
  ["snapshotter", "Snapshotter"],
  ["reader", "Reader"],
] as const;

/** Says what became of a role: none before, none after, or both. */
function Became({ change: { role, previous_role } }: { change: MembershipChange }) {
  if (role === null) return <Quiet>no longer {previous_role}</Quiet>;
  return (
    <>
      {previous_role === null ? null : <Quiet>{previous_role} → </Quiet>}
      <Tag>{role}</Tag>
    </>
  );
}

const columns: Column<MembershipChange>[] = [
  { key: "when", head: "When", width: "150px", cell: ({ when }) => <Time at={when} exact /> },
  {
    key: "user",
    head: "Member",
    cell: ({ user }) => (
      <Chooses change={{ q: user }}>
        <strong>{user}</strong>
      </Chooses>
    ),
  },
  {
    key: "event",
    head: "What",
    isOptional: true,
    cell: ({ event_type }) => eventChoices.find(([event]) => event === event_type)?.[1],
  },
  { key: "role", head: "Role", cell: (change) => <Became change={change} /> },
  {
    key: "by",
    head: "By",
    cell: ({ changed_by, source }) => (
      <>
        {changed_by} {source === "app" ? null : <Quiet isSmall>by command line</Quiet>}
      </>
    ),
  },
];

function Filters() {
  const { q, event, role } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useFilter();
  return (
    <FilterBar>
      <SearchField
        label="Member, or who changed them"
        value={q ?? ""}
        onSearch={(text) =>
          void navigate({
            search: (before) => ({ ...before, q: text === "" ? undefined : text, page: undefined }),
            replace: true,
          })
        }
      />
      <Choice
        label="What"
        value={event}
        choices={eventChoices}
        onChoose={(chosen) => filter({ event: chosen })}
      />
      <Choice
        label="Role"
        value={role}
        choices={roleChoices}
        onChoose={(chosen) => filter({ role: chosen })}
      />
      <DayFilters />
    </FilterBar>
  );
}

/** What became of members and their roles. */
export function MembershipLog() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(membershipQuery(org, search));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.entries);
  return (
    <>
      <Filters />
      <PagedList
        query={query}
        page={page}
        empty={<NoEntries title="Nobody was added yet" />}
        onPage={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Changes of members and roles"
            columns={columns}
            rows={rows}
            rowKey={({ when, user }, index) => `${when} ${user} ${index}`}
            isOld={isOld}
          />
        )}
      </PagedList>
    </>
  );
}
