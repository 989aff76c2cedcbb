import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Fragment } from "react";

import { pageOfArray } from "../../api/page.ts";
import { listPeriodChoices } from "../../domain/periods.ts";
import { numbered } from "../../domain/snapshot-names.ts";
import { exactDuration } from "../../domain/times.ts";
import { verdictOfSnapshot } from "../../domain/verdict.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Button, buttonClass } from "../../ui/Button.tsx";
import { NoMatch } from "../../ui/Empty.tsx";
import { Choice, FilterBar } from "../../ui/Field.tsx";
import { Quiet, Tag } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import { EnvironmentPage } from "./EnvironmentHead.tsx";
import styles from "./Environments.module.css";
import { changesOf, EnvironmentStrip } from "./EnvironmentStrip.tsx";
import { NeverReported } from "./NeverReported.tsx";
import { environmentQuery, type ListedSnapshot, snapshotsPerPage, snapshotsQuery } from "./queries.ts";
import { snapshotsExport } from "./exports.ts";

const route = getRouteApi("/$org/environments/$env/snapshots");

/** Picks a snapshot, one of two to compare; the one picked first gives way. */
function PickBox({ index }: { index: number }) {
  const { pick = [] } = route.useSearch();
  const navigate = route.useNavigate();
  const name = String(index);
  const isPicked = pick.includes(name);
  const change = (): void => {
    const rest = pick.filter((one) => one !== name);
    const picked = isPicked ? rest : [...rest, name].slice(-2);
    void navigate({
      search: (before) => ({ ...before, pick: picked.length === 0 ? undefined : picked }),
      replace: true,
      resetScroll: false,
    });
  };
  return <input type="checkbox" aria-label={`Pick snapshot ${index}`} checked={isPicked} onChange={change} />;
}

/** Compares the two picked, the older with the newer. */
function ComparePicked() {
  const { org, env } = route.useParams();
  const { pick = [] } = route.useSearch();
  const [older, newer] = pick.map(Number).toSorted((a, b) => a - b);
  if (older === undefined || newer === undefined)
    return <Button refused="Pick two snapshots below">Compare two</Button>;
  return (
    <Link
      to="/$org/diff"
      params={{ org }}
      search={{ from: numbered(env, older), to: numbered(env, newer) }}
      className={buttonClass("primary")}
    >
      Compare {older} with {newer}
    </Link>
  );
}

function ListedVerdict({ snapshot: { compliant, non_compliant_count } }: { snapshot: ListedSnapshot }) {
  return <VerdictMark verdict={verdictOfSnapshot(compliant, non_compliant_count)} />;
}

/** Which snapshot it is, and its verdict and beginning where these have no columns. */
function Which({ snapshot }: { snapshot: ListedSnapshot }) {
  const { org, env } = route.useParams();
  return (
    <>
      <Link
        to="/$org/environments/$env/snapshots/$expression"
        params={{ org, env, expression: String(snapshot.index) }}
      >
        <strong>#{snapshot.index}</strong>
      </Link>
      <span className={styles["narrowVerdict"]}>
        <ListedVerdict snapshot={snapshot} />
        <Quiet isSmall>
          <Time at={snapshot.from} exact />
        </Quiet>
      </span>
    </>
  );
}

/** What a snapshot changed; each number leads to what it counts. */
function ChangeLinks({ snapshot }: { snapshot: ListedSnapshot }) {
  const { org, env } = route.useParams();
  return changesOf(snapshot).map(({ words, search }, index) => (
    <Fragment key={words}>
      {index === 0 ? "" : ", "}
      <Link
        to="/$org/environments/$env/snapshots/$expression"
        params={{ org, env, expression: String(snapshot.index) }}
        search={search}
        className={styles["plain"]}
      >
        {words}
      </Link>
    </Fragment>
  ));
}

const factColumns: readonly Column<ListedSnapshot>[] = [
  {
    key: "verdict",
    head: "Verdict",
    width: "150px",
    isOptional: true,
    cell: (snapshot) => <ListedVerdict snapshot={snapshot} />,
  },
  { key: "from", head: "From", isOptional: true, cell: ({ from }) => <Time at={from} exact /> },
  {
    key: "to",
    head: "To",
    isOptional: true,
    cell: ({ to }) => (to === 0 ? <Quiet>now</Quiet> : <Time at={to} exact />),
  },
  {
    key: "lasted",
    head: "Lasted",
    isOptional: true,
    cell: ({ duration }) => <span className={styles["short"]}>{exactDuration(duration)}</span>,
  },
  {
    key: "changes",
    head: "What changed",
    cell: (snapshot) => (
      <span className={styles["title"]}>
        <span>
          <ChangeLinks snapshot={snapshot} />
        </span>
        {snapshot.policies_changed === true ? <Tag>policies changed</Tag> : null}
      </span>
    ),
  },
];

function useColumns(): Column<ListedSnapshot>[] {
  const { org, env } = route.useParams();
  return [
    {
      key: "pick",
      head: <span className="visually-hidden">Pick</span>,
      width: "40px",
      cell: ({ index }) => <PickBox index={index} />,
    },
    {
      key: "index",
      head: "Snapshot",
      cell: (snapshot) => <Which snapshot={snapshot} />,
    },
    ...factColumns,
    {
      key: "compare",
      head: <span className="visually-hidden">Compare</span>,
      isOptional: true,
      cell: ({ index }) =>
        index <= 1 ? null : (
          <Link
            to="/$org/diff"
            params={{ org }}
            search={{ from: numbered(env, index - 1), to: numbered(env, index) }}
            aria-label={`Compare snapshot ${index} with the one before`}
            aria-keyshortcuts="d"
          >
            Compare
          </Link>
        ),
    },
  ];
}

function Filters() {
  const { since } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <FilterBar>
      <Choice
        label="Time"
        value={since}
        choices={listPeriodChoices}
        onChoose={(chosen) =>
          void navigate({ search: (before) => ({ ...before, since: chosen, page: undefined }) })
        }
      />
      <ComparePicked />
    </FilterBar>
  );
}

function NoSnapshots() {
  const { org, env } = route.useParams();
  const { since, page } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: environment } = useQuery(environmentQuery(org, env));
  if (since === undefined && page === undefined)
    return environment === undefined ? null : <NeverReported org={org} environment={environment} />;
  return (
    <NoMatch
      title="No snapshot"
      text="Nothing changed in this time, so no snapshot was made."
      onClear={() => void navigate({ search: {} })}
    />
  );
}

/** All snapshots of an environment, the newest first. */
export function Timeline() {
  const { org, env } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(60_000);
  const query = useQuery(snapshotsQuery(org, env, search, now));
  const columns = useColumns();
  const { data } = query;
  const page =
    data === undefined
      ? undefined
      : pageOfArray(data.data, { page: search.page ?? 1, per_page: snapshotsPerPage }, data.headers);
  return (
    <EnvironmentPage
      org={org}
      env={env}
      current="/$org/environments/$env/snapshots"
      asOf={search.until ?? now}
      actions={<ExportMenu list={snapshotsExport(org, env, search, now)} />}
    >
      <EnvironmentStrip org={org} env={env} />
      <Filters />
      <PagedList
        query={query}
        page={page}
        empty={<NoSnapshots />}
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Snapshots"
            columns={columns}
            rows={rows}
            rowKey={({ index }) => String(index)}
            isOld={isOld}
          />
        )}
      </PagedList>
    </EnvironmentPage>
  );
}
