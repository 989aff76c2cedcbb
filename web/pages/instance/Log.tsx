import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { addressOf } from "../../api/client.ts";
import type { AnswerOf } from "../../api/contract.ts";
import { type ExportedList, byPages, read } from "../../api/export.ts";
import { pageOfHead } from "../../api/page.ts";
import { detailsInWords, instanceActionWords } from "../../domain/instance-log.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { FilterBar, SearchField } from "../../ui/Field.tsx";
import { OneLine, Quiet, Wrapping } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { wholeLog } from "../audit/exports.ts";
import { InstanceFrame } from "./InstanceFrame.tsx";
import { instanceLogQuery, type InstanceLogSearch } from "./queries.ts";

const route = getRouteApi("/-/instance/log");

type Entry = AnswerOf<"GET /instance/audit-log">["entries"][number];

const columns: Column<Entry>[] = [
  { key: "when", head: "When", width: "170px", cell: ({ occurred_at }) => <Time at={occurred_at} exact /> },
  {
    key: "who",
    head: "Who",
    cell: ({ actor }) => (
      <Wrapping>
        <strong>{actor}</strong>
      </Wrapping>
    ),
  },
  {
    key: "did",
    head: "Did",
    cell: ({ action }) => (
      <>
        {instanceActionWords(action)}
        <div>
          <Quiet isSmall>{action}</Quiet>
        </div>
      </>
    ),
  },
  {
    key: "what",
    head: "To what",
    isOptional: true,
    cell: ({ resource, resource_type }) => (
      <>
        <OneLine text={resource} />
        <div>
          <Quiet isSmall>{resource_type.replaceAll("_", " ")}</Quiet>
        </div>
      </>
    ),
  },
  {
    key: "details",
    head: "Details",
    isOptional: true,
    cell: ({ details }) => <Quiet isSmall>{detailsInWords(details)}</Quiet>,
  },
  {
    key: "from",
    head: "From",
    isOptional: true,
    cell: ({ address }) => <Quiet>{address ?? "not known"}</Quiet>,
  },
  { key: "seq", head: "No.", isNumber: true, isOptional: true, cell: ({ seq }) => <Quiet>{seq}</Quiet> },
];

function exported(search: InstanceLogSearch): ExportedList {
  return {
    file: "instance-log",
    whole: wholeLog((format) => addressOf("GET /instance/audit-log/export", { query: { format } })),
    batches: byPages(async (page, signal) => {
      const { data } = await read(instanceLogQuery({ ...search, page }), signal);
      return pageOfHead(data, data.entries);
    }),
  };
}

/** What was done to the installation itself: sign-ins, backups, settings, emergencies. */
export function Log() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(instanceLogQuery(search));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.entries);
  const filter = (change: InstanceLogSearch): void =>
    void navigate({ search: (before) => ({ ...before, ...change, page: undefined }), replace: true });
  return (
    <InstanceFrame
      about={<span>What belongs to no organization. Entries are never changed or removed.</span>}
      actions={<ExportMenu list={exported(search)} />}
    >
      <FilterBar>
        <SearchField
          label="Who, by whole name"
          value={search.actor ?? ""}
          onSearch={(text) => filter({ actor: text === "" ? undefined : text })}
        />
        <SearchField
          label="Did, such as sign_in_failed"
          value={search.action ?? ""}
          onSearch={(text) => filter({ action: text === "" ? undefined : text })}
        />
      </FilterBar>
      <PagedList
        query={query}
        page={page}
        empty={
          <Empty title="Nothing was recorded" text="Sign-ins, backups and changed settings stand here." />
        }
        onPage={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
      >
        {(rows, isOld) => (
          <Table
            label="What was recorded of the installation"
            columns={columns}
            rows={rows}
            rowKey={({ seq }) => String(seq)}
            isOld={isOld}
          />
        )}
      </PagedList>
    </InstanceFrame>
  );
}
