import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { commandPlace } from "../../api/place.ts";
import { environmentCommand } from "../../domain/commands.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { Commands } from "../../parts/Commands.tsx";
import { MakeLink } from "../../parts/MakeLink.tsx";
import { OrByCommand } from "../../parts/NewThing.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { environmentTypeWords } from "../../parts/environments.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { PageHead } from "../../shell/PageHead.tsx";
import { Empty, NoMatch } from "../../ui/Empty.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { OneLine, Quiet, Tags } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import { EnvironmentFilters } from "./EnvironmentFilters.tsx";
import styles from "./Environments.module.css";
import { environmentsExport } from "./exports.ts";
import { environmentsQuery } from "./queries.ts";

const route = getRouteApi("/$org/environments");
type Environment = Exclude<AnswerOf<"GET /environments/{org}">, readonly unknown[]>["environments"][number];
type Sort = "name" | "state" | "last_changed_at" | "last_reported_at";

/** Chooses by what the list is sorted; a second time the other way round. Moments begin with the latest. */
function useSorting(): (sort: Sort) => { direction: "asc" | "desc" | undefined; choose: () => void } {
  const { sort: chosen = "name", sort_direction = "asc" } = route.useSearch();
  const navigate = route.useNavigate();
  return (sort) => ({
    direction: chosen === sort ? sort_direction : undefined,
    choose: () => {
      const first = sort === "name" || sort === "state" ? "asc" : "desc";
      const other = sort_direction === "asc" ? "desc" : "asc";
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

/** How many artifacts run, and how many of them do not comply; both lead to those. */
function Artifacts({ org, environment }: { org: string; environment: Environment }) {
  const { name, artifact_compliance_count: counts } = environment;
  if (counts === null || counts === undefined) return <Quiet>–</Quiet>;
  const all = counts.true + counts.false + counts.null;
  return (
    <span className={styles["counts"]}>
      {counts.false === 0 ? null : (
        <Link
          to="/$org/environments/$env"
          params={{ org, env: name }}
          search={{ verdict: "non-compliant" }}
          className={styles["failing"]}
        >
          {counts.false} failing
        </Link>
      )}
      <Link
        to="/$org/environments/$env"
        params={{ org, env: name }}
        aria-label={`${all} artifacts in ${name}`}
      >
        {all}
      </Link>
    </span>
  );
}

function Policies({ org, policies: [first, ...more] }: { org: string; policies: readonly string[] }) {
  if (first === undefined) return <Quiet>none</Quiet>;
  return (
    <span className={styles["counts"]}>
      <Link to="/$org/policies/$policy" params={{ org, policy: first }}>
        <OneLine text={first} />
      </Link>
      {more.length === 0 ? null : (
        <Quiet>
          <span title={more.join("\n")}>
            +{more.length}
            <span className="visually-hidden">: {more.join(", ")}</span>
          </span>
        </Quiet>
      )}
    </span>
  );
}

function State({ environment: { state, snapshot_count } }: { environment: Environment }) {
  const words = snapshot_count === 0 ? "Never reported" : undefined;
  return <VerdictMark verdict={verdictOfFlag(state)} words={words} />;
}

/** What it is called and is for, and its state where that has no column. */
function Name({ org, environment }: { org: string; environment: Environment }) {
  const { name, type, description } = environment;
  const about =
    description === "" ? environmentTypeWords[type] : `${environmentTypeWords[type]} · ${description}`;
  return (
    <>
      <span className={styles["narrowVerdict"]}>
        <State environment={environment} />
      </span>
      <span className={styles["name"]}>
        <Link to="/$org/environments/$env" params={{ org, env: name }}>
          {name}
        </Link>
      </span>
      <Quiet isSmall>
        <span className={styles["about"]} title={about}>
          {about}
        </span>
      </Quiet>
    </>
  );
}

/** When it was reported on last, and whether that is too long ago. */
function Reported({ environment }: { environment: Environment }) {
  const { type, last_reported_at, is_stale } = environment;
  if (type === "logical") return <Quiet>by members</Quiet>;
  return (
    <span className={is_stale === true ? styles["silent"] : undefined}>
      <Time at={last_reported_at} />
      {is_stale === true ? (
        <>
          {" "}
          <Icon name="silence" size={14} />
          <span className="visually-hidden">silent for too long</span>
        </>
      ) : null}
    </span>
  );
}

function timeColumns(sorting: ReturnType<typeof useSorting>): Column<Environment>[] {
  return [
    {
      key: "changed",
      head: "Changed",
      sort: sorting("last_changed_at"),
      isOptional: true,
      width: "104px",
      cell: ({ last_changed_at }) => <Time at={last_changed_at} />,
    },
    {
      key: "reported",
      head: "Reported",
      sort: sorting("last_reported_at"),
      width: "112px",
      cell: (environment) => <Reported environment={environment} />,
    },
  ];
}

function useColumns(): Column<Environment>[] {
  const { org } = route.useParams();
  const sorting = useSorting();
  return [
    {
      key: "name",
      head: "Name",
      sort: sorting("name"),
      cell: (environment) => <Name org={org} environment={environment} />,
    },
    {
      key: "state",
      head: "State",
      sort: sorting("state"),
      isOptional: true,
      width: "150px",
      cell: (environment) => <State environment={environment} />,
    },
    {
      key: "artifacts",
      head: "Artifacts",
      isOptional: true,
      isNumber: true,
      cell: (environment) => <Artifacts org={org} environment={environment} />,
    },
    {
      key: "policies",
      head: "Policies",
      isOptional: true,
      cell: ({ policies }) => <Policies org={org} policies={policies ?? []} />,
    },
    { key: "tags", head: "Tags", isOptional: "wide", cell: ({ tags }) => <Tags tags={tags} /> },
    ...timeColumns(sorting),
  ];
}

function NoEnvironments() {
  const { org } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isFiltered = Object.entries(search).some(
    ([name, value]) => value !== undefined && !name.startsWith("sort"),
  );
  if (isFiltered)
    return (
      <NoMatch
        title="No environment matches"
        text="None of this organization's environments is as the filters say."
        onClear={() => void navigate({ search: {} })}
      />
    );
  return (
    <Empty
      title="No environments yet"
      text="An environment is a place where software runs. Its reporter tells what runs there, and its policies what may."
    >
      <OrByCommand>
        <MakeLink org={org} page="environments" />
      </OrByCommand>
      <Commands
        command={environmentCommand(commandPlace(org), "production", "K8S")}
        label="command that makes an environment"
      />
    </Empty>
  );
}

/** The list of environments. */
export function Environments() {
  const { org } = route.useParams();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const query = useQuery(environmentsQuery(org, search));
  const columns = useColumns();
  const { data } = query;
  const page = data === undefined || Array.isArray(data) ? undefined : pageOfHead(data, data.environments);
  return (
    <>
      <PageHead
        title="Environments"
        actions={
          <>
            <MakeLink org={org} page="environments" />
            <ExportMenu list={environmentsExport(org, search)} />
          </>
        }
      />
      <EnvironmentFilters isReady={page !== undefined} />
      <PagedList
        query={query}
        page={page}
        empty={<NoEnvironments />}
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Environments"
            columns={columns}
            rows={rows}
            rowKey={({ name }) => name}
            isOld={isOld}
          />
        )}
      </PagedList>
    </>
  );
}
