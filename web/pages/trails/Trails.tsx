import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { pageOfData } from "../../api/page.ts";
import { progressOf } from "../../domain/matrix.ts";
import { isNarrowed, trailTitle } from "../../domain/trail-search.ts";
import { verdictOfText } from "../../domain/verdict.ts";
import { Commit } from "../../parts/Commit.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { Chosen, NoTrailMatches, SearchedUntil, TrailFilters } from "../../parts/TrailFilters.tsx";
import { isMatrixTrail, type MatrixTrail } from "../../parts/TrailMatrix.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { OneLine, Quiet, Stack } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import { trailsExport } from "./exports.ts";
import { trailsQuery, type trailsSearch } from "./queries.ts";
import styles from "./Trails.module.css";

const route = getRouteApi("/$org/trails");
type Search = ReturnType<typeof trailsSearch>;

/** How much of what the template asks for is there. */
function Progress({ trail }: { trail: MatrixTrail }) {
  const { met, asked } = progressOf(trail);
  if (asked === 0) return <Quiet>nothing asked</Quiet>;
  return (
    <span className={styles["progress"]}>
      <span className={styles["bar"]} aria-hidden="true">
        <span style={{ width: `${Math.round((met / asked) * 100)}%` }} />
      </span>
      {met} of {asked}
    </span>
  );
}

function nameColumn(org: string): Column<MatrixTrail> {
  return {
    key: "name",
    head: "Trail",
    cell: ({ name, flow_name: flow, git_commit_info: commit }) => (
      <>
        <Link to="/$org/flows/$flow/trails/$trail" params={{ org, flow, trail: name }} title={name}>
          <strong>{trailTitle(name)}</strong>
        </Link>
        {commit === null || commit.message === "" ? null : (
          <Quiet isSmall>
            <OneLine text={commit.message} />
          </Quiet>
        )}
      </>
    ),
  };
}

const columnsOf = (org: string): Column<MatrixTrail>[] => [
  nameColumn(org),
  {
    key: "state",
    head: "State",
    width: "150px",
    cell: ({ compliance_state }) => <VerdictMark verdict={verdictOfText(compliance_state)} />,
  },
  {
    key: "flow",
    head: "Flow",
    cell: ({ flow_name: flow }) => (
      <Link to="/$org/flows/$flow" params={{ org, flow }}>
        {flow}
      </Link>
    ),
  },
  { key: "met", head: "Met", isOptional: true, width: "140px", cell: (trail) => <Progress trail={trail} /> },
  {
    key: "commit",
    head: "Commit",
    isOptional: true,
    width: "150px",
    cell: ({ git_commit_info }) => <Commit sha={git_commit_info?.sha1} url={git_commit_info?.url} />,
  },
  {
    key: "began",
    head: "Began",
    isOptional: true,
    width: "110px",
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    key: "last",
    head: "Last report",
    isOptional: true,
    width: "110px",
    cell: ({ last_modified_at }) => <Time at={last_modified_at} />,
  },
];

function NoTrails({ isCut }: { isCut: boolean }) {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  if (isNarrowed(search))
    return (
      <NoTrailMatches
        search={search}
        whose="this organization's"
        isCut={isCut}
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty title="No trails yet" text="A trail is one run of a flow, with the evidence of it.">
      <p>
        <Link to="/$org/flows" params={{ org }}>
          Begin one in a flow
        </Link>
      </p>
    </Empty>
  );
}

/** The trails of all flows. */
export function Trails() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const query = useQuery(trailsQuery(org, search, now));
  const onSearch = useCallback(
    (change: Search, replace = false) =>
      void navigate({ search: (before) => ({ ...before, ...change }), replace, resetScroll: false }),
    [navigate],
  );
  const { data } = query;
  const page = data === undefined ? undefined : pageOfData<MatrixTrail | object>(data);
  const searched =
    data === undefined ? null : <SearchedUntil search={search} answer={data} onSearch={onSearch} />;
  return (
    <>
      <PageHead
        title="Trails"
        asOf={search.until ?? now}
        actions={<ExportMenu list={trailsExport(org, search, now)} />}
      />
      <TrailFilters search={search} onSearch={onSearch}>
        <Chosen
          words={search.flow === undefined ? undefined : `flow ${search.flow}`}
          onClear={() => onSearch({ flow: undefined, page: undefined })}
        />
        <Chosen
          words={search.repo === undefined ? undefined : `repo ${search.repo}`}
          onClear={() => onSearch({ repo: undefined, page: undefined })}
        />
      </TrailFilters>
      <PagedList
        query={query}
        page={page}
        empty={
          <Stack>
            <NoTrails isCut={data?.truncated === true} />
            {searched}
          </Stack>
        }
        onPage={(number) => onSearch({ page: number })}
      >
        {(rows, isOld) => (
          <Stack>
            <Table
              label="Trails"
              columns={columnsOf(org)}
              rows={rows?.filter(isMatrixTrail)}
              rowKey={({ flow_name, name }) => `${flow_name}/${name}`}
              isOld={isOld}
            />
            {searched}
          </Stack>
        )}
      </PagedList>
    </>
  );
}
