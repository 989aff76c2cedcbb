import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { periodWords } from "../../domain/periods.ts";
import { duration } from "../../domain/times.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { Commit } from "../../parts/Commit.tsx";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { PagedList } from "../../parts/PagedList.tsx";
import { ArtifactLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Empty } from "../../ui/Empty.tsx";
import { Choice, FilterBar } from "../../ui/Field.tsx";
import { Quiet } from "../../ui/Layout.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import { EnvironmentPage } from "./EnvironmentHead.tsx";
import styles from "./Environments.module.css";
import { deploymentsExport } from "./exports.ts";
import { deploymentsQuery } from "./queries.ts";

const route = getRouteApi("/$org/environments/$env/deployments");
type Deployment = AnswerOf<"GET /deployments/{org}">["deployments"][number];

const periodChoices = (["24h", "7d", "90d"] as const).map((period) => [period, periodWords[period]] as const);

function What({ deployment }: { deployment: Deployment }) {
  const { org } = route.useParams();
  const { artifact_name, flow_name, fingerprint, replaced_artifact: replaced } = deployment;
  return (
    <>
      <span className={styles["name"]}>
        <ArtifactLink org={org} flow={flow_name} fingerprint={fingerprint} name={artifact_name} />
      </span>
      {replaced === null ? null : (
        <div>
          <Quiet isSmall>
            after {replaced.artifact_name}
            {replaced.diff_url === null ? "" : " · "}
            {replaced.diff_url === null ? null : (
              <ForeignLink address={replaced.diff_url}>what changed</ForeignLink>
            )}
          </Quiet>
        </div>
      )}
    </>
  );
}

function Repo({ name }: { name: string }) {
  const { org } = route.useParams();
  return (
    <Link to="/$org/repos/$" params={{ org, _splat: name }}>
      {name}
    </Link>
  );
}

const columns: readonly Column<Deployment>[] = [
  { key: "when", head: "When", cell: ({ deployed_at }) => <Time at={deployed_at} /> },
  { key: "what", head: "Artifact", width: "38%", cell: (deployment) => <What deployment={deployment} /> },
  {
    key: "verdict",
    head: "Verdict",
    isOptional: true,
    cell: ({ compliant }) => <VerdictMark verdict={verdictOfFlag(compliant)} />,
  },
  {
    key: "repo",
    head: "Repo",
    isOptional: true,
    cell: ({ repo_info }) => <Repo name={repo_info.name} />,
  },
  {
    key: "commit",
    head: "Commit",
    isOptional: true,
    cell: ({ git_commit, commit_url }) => <Commit sha={git_commit} url={commit_url} />,
  },
  {
    key: "lead",
    head: "Lead time from build",
    isNumber: true,
    isOptional: true,
    cell: ({ lead_time_seconds }) => duration(lead_time_seconds),
  },
];

function useColumns(): Column<Deployment>[] {
  const { org } = route.useParams();
  const snapshot: Column<Deployment> = {
    key: "snapshot",
    head: "Snapshot",
    cell: ({ environment_name, snapshot_index }) => (
      <Link
        to="/$org/environments/$env/snapshots/$expression"
        params={{ org, env: environment_name, expression: String(snapshot_index) }}
      >
        #{snapshot_index}
      </Link>
    ),
  };
  return [...columns, snapshot];
}

/** What was deployed into an environment: what started there out of a known repo. */
export function Deployments() {
  const { org, env } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(60_000);
  const query = useQuery(deploymentsQuery(org, env, search, now));
  const { data } = query;
  const page = data === undefined ? undefined : pageOfHead(data, data.deployments);
  const shown = useColumns();
  return (
    <EnvironmentPage
      org={org}
      env={env}
      current="/$org/environments/$env/deployments"
      asOf={search.until ?? now}
      actions={<ExportMenu list={deploymentsExport(org, env, search, now)} />}
    >
      <FilterBar>
        <Choice
          label="Time"
          all={periodWords["30d"]}
          value={search.since}
          choices={periodChoices}
          onChoose={(since) => void navigate({ search: (before) => ({ ...before, since, page: undefined }) })}
        />
      </FilterBar>
      <PagedList
        query={query}
        page={page}
        empty={
          <Empty
            title="Nothing was deployed in this time"
            text="A deployment is an artifact out of a known repo that starts here."
          />
        }
        onPage={(number) => void navigate({ search: (before) => ({ ...before, page: number }) })}
      >
        {(rows, isOld) => (
          <Table
            label="Deployments"
            columns={shown}
            rows={rows}
            rowKey={({ snapshot_index, fingerprint }) => `${snapshot_index} ${fingerprint}`}
            isOld={isOld}
          />
        )}
      </PagedList>
    </EnvironmentPage>
  );
}
