import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { AnswerOf } from "../../api/contract.ts";
import { pageOfHead } from "../../api/page.ts";
import { countByDay, leadTimeBuckets, quantile, startOfDays } from "../../domain/series.ts";
import { exactDuration } from "../../domain/times.ts";
import { verdictOfFlag } from "../../domain/verdict.ts";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { ArtifactLink, CommitLink } from "../../parts/ProcessLinks.tsx";
import { VerdictMark } from "../../parts/Verdict.tsx";
import { Counts } from "../../ui/charts/Counts.tsx";
import { Check } from "../../ui/Field.tsx";
import { Card, Quiet, Stack } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import type { Deployments } from "./queries.ts";
import { deploymentsQuery, deploymentTimesQuery } from "./tab-queries.ts";
import type { RepoPartProps } from "./RepoBuilds.tsx";
import styles from "./Repos.module.css";

type Deployment = Deployments["deployments"][number];
type Statistics = AnswerOf<"GET /repos/{org}/{repo}/deployment-statistics">;

function environmentColumn(org: string): Column<Deployment> {
  return {
    key: "environment",
    head: "Environment",
    cell: ({ environment_name: env, snapshot_index }) => (
      <>
        <Link to="/$org/environments/$env" params={{ org, env }}>
          {env}
        </Link>{" "}
        <Link
          to="/$org/environments/$env/snapshots/$expression"
          params={{ org, env, expression: String(snapshot_index) }}
        >
          #{snapshot_index}
        </Link>
      </>
    ),
  };
}

function columnsOf(org: string): Column<Deployment>[] {
  return [
    {
      key: "verdict",
      head: "Verdict",
      width: "142px",
      isOptional: true,
      cell: ({ compliant }) => <VerdictMark verdict={verdictOfFlag(compliant)} />,
    },
    environmentColumn(org),
    {
      key: "artifact",
      head: "Artifact",
      cell: ({ artifact_name, flow_name, fingerprint }) => (
        <span className={styles["name"]}>
          <ArtifactLink org={org} flow={flow_name} fingerprint={fingerprint} name={artifact_name} />
        </span>
      ),
    },
    {
      key: "commit",
      head: "Commit",
      isOptional: true,
      cell: ({ git_commit, replaced_artifact }) => (
        <>
          <CommitLink org={org} sha={git_commit} />{" "}
          {replaced_artifact?.diff_url === null || replaced_artifact?.diff_url === undefined ? null : (
            <ForeignLink address={replaced_artifact.diff_url}>what changed</ForeignLink>
          )}
        </>
      ),
    },
    {
      key: "lead",
      head: "From build",
      isOptional: true,
      cell: ({ lead_time_seconds }) => exactDuration(lead_time_seconds),
    },
    { key: "when", head: "Deployed", width: "112px", cell: ({ deployed_at }) => <Time at={deployed_at} /> },
  ];
}

function LeadTimes({ seconds }: { seconds: readonly number[] }) {
  const parts = [
    ["p50", 0.5],
    ["p90", 0.9],
    ["p99", 0.99],
  ] as const;
  const words = parts.map(([name, part]) => {
    const value = quantile(seconds, part);
    return [name, value === undefined ? "–" : exactDuration(value)] as const;
  });
  return (
    <Card title="Lead time from build">
      <Stack>
        <dl className={styles["numbers"]}>
          {words.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Counts
          label="Deployments by lead time"
          head="Lead time"
          bars={leadTimeBuckets(seconds).map(({ words: span, count }) => ({ words: span, value: count }))}
          caption={
            seconds.length === 0
              ? "Nothing was deployed in this time."
              : `Half of the deployments came within ${words[0]?.[1]} of their build, nine of ten within ${words[1]?.[1]}.`
          }
        />
      </Stack>
    </Card>
  );
}

interface ChartsProps {
  chosen: Statistics["environments"];
  days: number;
  now: number;
}

function Charts({ chosen, days, now }: ChartsProps) {
  const counted = countByDay(
    chosen.flatMap(({ deployed_at }) => deployed_at),
    days,
    now,
  );
  const total = counted.reduce((sum, { count }) => sum + count, 0);
  const median = quantile(
    counted.map(({ count }) => count),
    0.5,
  );
  return (
    <div className={styles["pair"]}>
      <Card title="Deployments by day">
        <Counts
          label="Deployments by day"
          head="Day"
          bars={counted.map(({ day, count }) => ({ words: day, short: day.slice(5), value: count }))}
          line={{ value: median ?? 0, words: `median ${median ?? 0}` }}
          caption={`${total} ${total === 1 ? "deployment" : "deployments"} into ${chosen.length} ${chosen.length === 1 ? "environment" : "environments"} in ${days} days; ${median ?? 0} on a usual day.`}
        />
      </Card>
      <LeadTimes seconds={chosen.flatMap(({ lead_time_seconds }) => lead_time_seconds)} />
    </div>
  );
}

interface ChooseProps {
  environments: Statistics["environments"];
  env: readonly string[];
  onChoose: (env: string[]) => void;
}

/** Chooses environments; none chosen means all. */
function ChooseEnvironments({ environments, env, onChoose }: ChooseProps) {
  return (
    <fieldset className={styles["environments"]} data-no-print>
      <legend className="visually-hidden">Environments</legend>
      {environments.map(({ environment_name: name, total_count }) => (
        <Check
          key={name}
          checked={env.includes(name)}
          onChange={(event) =>
            onChoose(event.target.checked ? [...env, name] : env.filter((one) => one !== name))
          }
        >
          {name} <Quiet isSmall>{total_count}</Quiet>
        </Check>
      ))}
    </fieldset>
  );
}

/** How often a repo is deployed, how long that takes, and its deployments. */
export function RepoReleases({ org, repo, search, onSearch }: RepoPartProps) {
  const now = useNow(60_000);
  const days = Number(search.days ?? 28);
  const start = startOfDays(days, now);
  const env = search.env ?? [];
  const times = useQuery(deploymentTimesQuery(org, repo.id, start));
  const list = useQuery(deploymentsQuery(org, repo.id, start, env, search.page ?? 1));
  return (
    <Stack>
      <Loaded query={times} waiting={<div className={styles["room"]} aria-busy="true" />}>
        {({ environments }) => (
          <>
            <ChooseEnvironments
              environments={environments}
              env={env}
              onChoose={(next) => onSearch({ env: next.length === 0 ? undefined : next, page: undefined })}
            />
            <Charts
              chosen={
                env.length === 0
                  ? environments
                  : environments.filter(({ environment_name }) => env.includes(environment_name))
              }
              days={days}
              now={now}
            />
          </>
        )}
      </Loaded>
      <Loaded query={list}>
        {(answer) => {
          const page = pageOfHead(answer, answer.deployments);
          if (page.total === 0)
            return <p className={styles["quiet"]}>Nothing of it was deployed in this time.</p>;
          return (
            <>
              <Table
                label="Deployments"
                columns={columnsOf(org)}
                rows={page.items}
                rowKey={({ environment_name, snapshot_index, fingerprint }) =>
                  `${environment_name} ${snapshot_index} ${fingerprint}`
                }
                isOld={list.isPlaceholderData}
              />
              <Pager {...page} count={page.items.length} onPage={(number) => onSearch({ page: number })} />
            </>
          );
        }}
      </Loaded>
    </Stack>
  );
}
