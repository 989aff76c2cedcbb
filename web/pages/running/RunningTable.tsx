import { getRouteApi, Link } from "@tanstack/react-router";

import { verdictOfArtifact } from "../../domain/verdict.ts";
import { Commit } from "../../parts/Commit.tsx";
import { environmentTypeWords } from "../../parts/environments.ts";
import { Fingerprint } from "../../parts/Fingerprint.tsx";
import { PageLink } from "../../parts/PageLink.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { OneLine, Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time } from "../../ui/Time.tsx";
import type { Running, RunningSearch } from "./queries.ts";
import styles from "./Running.module.css";

const route = getRouteApi("/$org/running");
type Sort = NonNullable<RunningSearch["sort"]>;

/** Chooses by what the list is sorted; a second time the other way round. Moments begin with the latest. */
function useSorting(): (sort: Sort) => { direction: "asc" | "desc" | undefined; choose: () => void } {
  const { sort: chosen = "environment", sort_direction = "asc" } = route.useSearch();
  const navigate = route.useNavigate();
  return (sort) => ({
    direction: chosen === sort ? sort_direction : undefined,
    choose: () => {
      const first = sort === "started_at" ? "desc" : "asc";
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

function Environment({ row: { environment_name: env, environment_type } }: { row: Running }) {
  const { org } = route.useParams();
  return (
    <>
      <Link to="/$org/environments/$env" params={{ org, env }} className={styles["environment"]}>
        {env}
      </Link>
      <Quiet isSmall>
        <span className={styles["type"]}>{environmentTypeWords[environment_type]}</span>
      </Quiet>
    </>
  );
}

/** What an artifact is; its verdict and the environment it runs in, too, where these have no column. */
function Artifact({ row }: { row: Running }) {
  return (
    <>
      <div className={styles["narrow"]}>
        <VerdictCell row={row} />
      </div>
      <PageLink address={row.html_url} className={styles["name"]}>
        {row.artifact_name}
      </PageLink>
      <div className={styles["digest"]}>
        <Fingerprint value={row.fingerprint} />
      </div>
      <div className={styles["narrow"]}>
        <Environment row={row} />
      </div>
    </>
  );
}

function VerdictCell({ row }: { row: Running }) {
  const [reason] = row.reasons;
  return (
    <>
      <VerdictMark verdict={verdictOfArtifact(row.compliant, row.allow_listed)} />
      {reason === undefined ? null : (
        <Quiet isSmall>
          <span className={styles["reason"]} title={reason.message}>
            {reason.message}
          </span>
        </Quiet>
      )}
    </>
  );
}

/** Which flow knows it, and the code it was made from. */
function Origin({ row }: { row: Running }) {
  const { flow_name, repo_name, git_commit, commit_url } = row;
  if (flow_name === null) return <span className={styles["unproven"]}>No flow knows it</span>;
  return (
    <>
      <Link
        from="/$org/running"
        search={(before) => ({ ...before, flow: [flow_name], page: undefined })}
        title={`Only what ${flow_name} made`}
      >
        {flow_name}
      </Link>
      <Quiet isSmall>
        <span className={styles["code"]}>
          {repo_name === null ? null : <OneLine text={repo_name} />}
          {git_commit === null ? null : <Commit sha={git_commit} url={commit_url} />}
        </span>
      </Quiet>
    </>
  );
}

function useColumns(): Column<Running>[] {
  const sorting = useSorting();
  return [
    {
      key: "name",
      head: "Artifact",
      sort: sorting("name"),
      width: "27%",
      cell: (row) => <Artifact row={row} />,
    },
    {
      key: "environment",
      head: "Environment",
      sort: sorting("environment"),
      isOptional: true,
      width: "18%",
      cell: (row) => <Environment row={row} />,
    },
    {
      key: "compliant",
      head: "Verdict",
      sort: sorting("compliant"),
      isOptional: true,
      width: "22%",
      cell: (row) => <VerdictCell row={row} />,
    },
    { key: "origin", head: "Made by", isOptional: true, cell: (row) => <Origin row={row} /> },
    {
      key: "started",
      head: "Since",
      sort: sorting("started_at"),
      isOptional: true,
      width: "96px",
      cell: ({ started_at }) => <Time at={started_at} />,
    },
    {
      key: "instances",
      head: "Instances",
      isNumber: true,
      isOptional: true,
      width: "84px",
      cell: ({ instance_count }) => instance_count,
    },
  ];
}

/** What runs, an artifact in an environment a row. */
export function RunningTable({ rows, isOld }: { rows: readonly Running[] | undefined; isOld: boolean }) {
  const columns = useColumns();
  return (
    <Table
      label="What runs"
      columns={columns}
      rows={rows}
      rowKey={({ environment_name, artifact_name, fingerprint }) =>
        `${environment_name} ${fingerprint} ${artifact_name}`
      }
      isOld={isOld}
    />
  );
}
