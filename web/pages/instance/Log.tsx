import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { detailsInWords, instanceActionWords } from "../../domain/instance-log.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { FilterBar, SearchField } from "../../ui/Field.tsx";
import { OneLine, Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { instanceLogExport } from "./exports.ts";
import { InstanceFrame } from "./InstanceFrame.tsx";
import styles from "./Log.module.css";
import { instanceLogQuery, type InstanceLogSearch } from "./queries.ts";

const route = getRouteApi("/-/instance/log");

type Entry = AnswerOf<"GET /instance/audit-log">["entries"][number];

/** What is said of an entry in a second line. */
function Second({ words }: { words: string }) {
  return (
    <div>
      <Quiet isSmall>{words}</Quiet>
    </div>
  );
}

const columns: Column<Entry>[] = [
  { key: "when", head: "When", width: "170px", cell: ({ occurred_at }) => <Time at={occurred_at} exact /> },
  {
    key: "did",
    head: "Did",
    cell: ({ action }) => (
      <>
        {instanceActionWords(action)}
        <Second words={action} />
      </>
    ),
  },
  {
    key: "who",
    head: "Who, from where",
    cell: ({ actor, address }) => (
      <div className={styles["who"]}>
        <strong>{actor}</strong>
        {address === null ? null : <Second words={address} />}
      </div>
    ),
  },
  {
    key: "what",
    head: "To what",
    isOptional: true,
    cell: ({ resource, resource_type, details }) => (
      <>
        <OneLine text={resource} />
        <Second words={resource_type.replaceAll("_", " ")} />
        {details === null ? null : <Second words={detailsInWords(details)} />}
      </>
    ),
  },
  { key: "seq", head: "No.", isNumber: true, isOptional: true, cell: ({ seq }) => <Quiet>{seq}</Quiet> },
];

/** Stands for a log without entries: nothing matches, or nothing was recorded yet. */
function NoEntries() {
  const { actor, action } = route.useSearch();
  const navigate = route.useNavigate();
  if (actor === undefined && action === undefined)
    return <Empty title="Nothing was recorded" text="Sign-ins, backups and changed settings stand here." />;
  return (
    <NoMatch
      title="No entry matches"
      text="None is as the filters say."
      onClear={() => void navigate({ search: {} })}
    />
  );
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
      actions={<ExportMenu list={instanceLogExport(search)} />}
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
        empty={<NoEntries />}
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
