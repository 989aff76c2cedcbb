import { useQuery } from "@tanstack/react-query";

import { pageOfHead } from "../../api/page.ts";
import { countByDay, quantile, startOfDays } from "../../domain/series.ts";
import { ExportMenu } from "../../parts/ExportMenu.tsx";
import { ForeignLink } from "../../parts/ForeignLink.tsx";
import { Loaded } from "../../parts/Loaded.tsx";
import { ArtifactLink, CommitLink, FlowLink } from "../../parts/ProcessLinks.tsx";
import { Counts } from "../../ui/charts/Counts.tsx";
import { Card, OneLine, Quiet, Stack } from "../../ui/Layout.tsx";
import { Pager } from "../../ui/Pager.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Time, useNow } from "../../ui/Time.tsx";
import { buildsExport } from "./exports.ts";
import type { Builds, Repo, RepoSearch } from "./queries.ts";
import { buildsQuery, buildTimesQuery } from "./tab-queries.ts";
import styles from "./Repos.module.css";

type Build = Builds["builds"][number];

/** What each part of a repo's page is given. */
export interface RepoPartProps {
  org: string;
  repo: Repo;
  search: RepoSearch;
  onSearch: (change: RepoSearch) => void;
}

function columnsOf(org: string): Column<Build>[] {
  return [
    {
      key: "name",
      head: "Artifact",
      cell: ({ filename, flow_name, fingerprint }) => (
        <span className={styles["name"]}>
          <ArtifactLink org={org} flow={flow_name} fingerprint={fingerprint} name={filename} />
        </span>
      ),
    },
    {
      key: "flow",
      head: "Flow",
      isOptional: true,
      cell: ({ flow_name }) => <FlowLink org={org} flow={flow_name} />,
    },
    {
      key: "commit",
      head: "Commit",
      cell: ({ git_commit, git_commit_info }) => (
        <>
          <CommitLink org={org} sha={git_commit} />
          {git_commit_info?.message === null || git_commit_info?.message === undefined ? null : (
            <Quiet isSmall>
              <OneLine text={git_commit_info.message} />
            </Quiet>
          )}
        </>
      ),
    },
    {
      key: "build",
      head: "Built",
      width: "150px",
      cell: ({ created_at, build_url }) => (
        <>
          <Time at={created_at} />{" "}
          {build_url === "" ? null : <ForeignLink address={build_url}>build</ForeignLink>}
        </>
      ),
    },
  ];
}

/** How often a repo is built, and its builds. */
export function RepoBuilds({ org, repo, search, onSearch }: RepoPartProps) {
  const now = useNow(60_000);
  const days = Number(search.days ?? 28);
  const start = startOfDays(days, now);
  const times = useQuery(buildTimesQuery(org, repo.id, start));
  const list = useQuery(buildsQuery(org, repo.id, start, search.page ?? 1));
  return (
    <Stack>
      <Card title="Builds by day">
        <Loaded query={times} waiting={<div className={styles["room"]} aria-busy="true" />}>
          {({ build_timestamps, total_count }) => {
            const counted = countByDay(build_timestamps, days, now);
            const median = quantile(
              counted.map(({ count }) => count),
              0.5,
            );
            return (
              <Counts
                label="Builds by day"
                head="Day"
                bars={counted.map(({ day, count }) => ({ words: day, short: day.slice(5), value: count }))}
                line={{ value: median ?? 0, words: `median ${median ?? 0}` }}
                caption={`${total_count} ${total_count === 1 ? "build" : "builds"} in ${days} days, on ${counted.filter(({ count }) => count > 0).length} of them; ${median ?? 0} on a usual day.`}
              />
            );
          }}
        </Loaded>
      </Card>
      <Loaded query={list}>
        {(answer) => {
          const page = pageOfHead(answer, answer.builds);
          if (page.total === 0)
            return (
              <p className={styles["quiet"]}>
                {answer.has_builds_ever
                  ? "It was not built in this time; choose a longer one."
                  : "No build of it was ever reported."}
              </p>
            );
          return (
            <>
              <ExportMenu list={buildsExport(org, repo, start)} />
              <Table
                label="Builds"
                columns={columnsOf(org)}
                rows={page.items}
                rowKey={({ fingerprint }) => fingerprint}
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
