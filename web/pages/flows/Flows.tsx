import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import { pageOfData } from "../../api/page.ts";
import { commandPlace } from "../../api/place.ts";
import { flowCommand } from "../../domain/commands.ts";
import { pathOfSpace } from "../../domain/space-tree.ts";
import { verdictOfText } from "../../domain/verdict.ts";
import { Commands } from "../../parts/Commands.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { MakeLink } from "../../parts/MakeLink.tsx";
import { OrByCommand } from "../../parts/NewThing.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { spacesQuery } from "../../parts/spaces.ts";
import { Chosen } from "../../parts/TrailFilters.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Spark, type Tone } from "../../ui/charts/Spark.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Check, FilterBar, SearchField } from "../../ui/Field.tsx";
import { OneLine, Quiet, Tags } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { flowsExport } from "./exports.ts";
import { flowsQuery, type ListedFlow } from "./queries.ts";

const route = getRouteApi("/$org/flows");

const tones = {
  COMPLIANT: "good",
  "NON-COMPLIANT": "bad",
  INCOMPLETE: "warn",
} as const satisfies Record<string, Tone>;

/** How many trails the list tells of each flow. */
const latestTrails = 20;

/** Says in words what the marks of the latest trails show. */
function latestWords(trails: NonNullable<ListedFlow["latest_trails"]>): string {
  const count = (state: keyof typeof tones): number =>
    trails.filter(({ compliance_state }) => compliance_state === state).length;
  return (
    `The latest ${trails.length}: ${count("COMPLIANT")} compliant, ` +
    `${count("NON-COMPLIANT")} non-compliant, ${count("INCOMPLETE")} incomplete`
  );
}

function LatestTrails({ org, flow }: { org: string; flow: ListedFlow }) {
  const { name, latest_trails: trails = [] } = flow;
  if (trails.length === 0) return <Quiet>no trails</Quiet>;
  const marks = trails.map(({ compliance_state }) => tones[compliance_state]).toReversed();
  return (
    <Link to="/$org/flows/$flow" params={{ org, flow: name }} tabIndex={-1}>
      <Spark tones={marks} words={latestWords(trails)} room={latestTrails} />
    </Link>
  );
}

/** Chooses by what the list is sorted; a second time the other way round. */
function useSorting() {
  const { sort: chosen = "name", sort_direction = "asc" } = route.useSearch();
  const navigate = route.useNavigate();
  return (sort: typeof chosen) => ({
    direction: chosen === sort ? sort_direction : undefined,
    choose: () => {
      const first = sort === "name" ? ("asc" as const) : ("desc" as const);
      const other = sort_direction === "asc" ? ("desc" as const) : ("asc" as const);
      void navigate({
        search: (before) => ({
          ...before,
          sort,
          sort_direction: chosen === sort ? other : first,
          page: undefined,
        }),
      });
    },
  });
}

function nameColumn(org: string, sort: Column<ListedFlow>["sort"]): Column<ListedFlow> {
  return {
    key: "name",
    head: "Name",
    ...(sort === undefined ? {} : { sort }),
    cell: ({ name, original_name, description }) => (
      <>
        <Link to="/$org/flows/$flow" params={{ org, flow: name }}>
          <strong>{original_name ?? name}</strong>
        </Link>
        {description === "" ? null : (
          <Quiet isSmall>
            <OneLine text={description} />
          </Quiet>
        )}
      </>
    ),
  };
}

const repoColumn: Column<ListedFlow> = {
  key: "repo",
  head: "Repo",
  isOptional: true,
  cell: ({ repo_url }) =>
    repo_url === "" ? (
      <Quiet>unknown</Quiet>
    ) : (
      <ForeignLink address={repo_url}>{repo_url.replace(/^https?:\/\/[^/]*\//, "")}</ForeignLink>
    ),
};

function useColumns(): Column<ListedFlow>[] {
  const { org } = route.useParams();
  const sorting = useSorting();
  return [
    nameColumn(org, sorting("name")),
    {
      key: "state",
      head: "Latest trail",
      width: "150px",
      cell: ({ latest_state }) =>
        latest_state === null ? (
          <Quiet>none yet</Quiet>
        ) : (
          <VerdictMark verdict={verdictOfText(latest_state)} />
        ),
    },
    {
      key: "trails",
      head: `Latest ${latestTrails} trails`,
      isOptional: true,
      width: "170px",
      cell: (flow) => <LatestTrails org={org} flow={flow} />,
    },
    repoColumn,
    { key: "tags", head: "Tags", isOptional: true, cell: ({ tags }) => <Tags tags={tags} shown={1} /> },
    {
      key: "activity",
      head: "Last activity",
      sort: sorting("latest_activity"),
      width: "130px",
      cell: ({ latest_activity_at, archived_at }) =>
        archived_at === undefined ? (
          <Time at={latest_activity_at} />
        ) : (
          <>
            archived <Time at={archived_at} />
          </>
        ),
    },
  ];
}

/** Says in which space the flows are that are listed, which is chosen elsewhere, and takes that away. */
function ChosenSpace() {
  const { org } = route.useParams();
  const { space_id } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: spaces = [] } = useQuery({ ...spacesQuery(org), enabled: space_id !== undefined });
  const path = pathOfSpace(spaces, space_id ?? null);
  return (
    <Chosen
      words={space_id === undefined ? undefined : `space ${path === "" ? space_id : path}`}
      onClear={() =>
        void navigate({ search: (before) => ({ ...before, space_id: undefined, page: undefined }) })
      }
    />
  );
}

function Filters() {
  const { search, tag, archived } = route.useSearch();
  const navigate = route.useNavigate();
  const find = useCallback(
    (text: string) =>
      void navigate({
        search: (before) => ({ ...before, search: text === "" ? undefined : text, page: undefined }),
        replace: true,
      }),
    [navigate],
  );
  return (
    <FilterBar>
      <SearchField label="Filter by name" value={search ?? ""} onSearch={find} />
      <Check
        checked={archived === true}
        onChange={(event) => {
          const isOn = event.target.checked ? (true as const) : undefined;
          void navigate({ search: (before) => ({ ...before, archived: isOn, page: undefined }) });
        }}
      >
        Archived
      </Check>
      <Chosen
        words={tag}
        onClear={() =>
          void navigate({ search: (before) => ({ ...before, tag: undefined, page: undefined }) })
        }
      />
      <ChosenSpace />
    </FilterBar>
  );
}

function NoFlows() {
  const { org } = route.useParams();
  const { search, tag, space_id, archived } = route.useSearch();
  const navigate = route.useNavigate();
  if ([search, tag, space_id, archived].some((filter) => filter !== undefined))
    return (
      <NoMatch
        title="No flow matches"
        text="None of this organization's flows is as the filters say."
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty
      title="No flows yet"
      text="A flow is a way that software takes to production. Each run of it is a trail, and its template says which evidence a trail needs."
    >
      <OrByCommand>
        <MakeLink org={org} page="flows" />
      </OrByCommand>
      <Commands command={flowCommand(commandPlace(org), "my-flow")} label="command that makes a flow" />
    </Empty>
  );
}

/** The list of flows. */
export function Flows() {
  const { org } = route.useParams();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const query = useQuery(flowsQuery(org, search));
  const columns = useColumns();
  const { data } = query;
  const page = data === undefined || Array.isArray(data) ? undefined : pageOfData(data);
  return (
    <>
      <PageHead
        title="Flows"
        actions={
          <>
            <MakeLink org={org} page="flows" />
            <ExportMenu list={flowsExport(org, search)} />
          </>
        }
      />
      <Filters />
      <PagedList
        query={query}
        page={page}
        empty={<NoFlows />}
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => (
          <Table label="Flows" columns={columns} rows={rows} rowKey={({ name }) => name} isOld={isOld} />
        )}
      </PagedList>
    </>
  );
}
