import type { PreparedExecutor } from "../../db/connect.ts";
import type { TimeWindow } from "../../domain/time-window.ts";
import { organizationList, repoList, reposList, statistics } from "./statements.ts";

/** Builds of which repos; `undefined` means whatever repo, or none. */
export type RepoIds = readonly string[] | undefined;

export interface BuildQuery extends TimeWindow {
  repo_ids: RepoIds;
  offset: number;
  limit: number;
  /** URL of the organization's artifacts. */
  artifacts_url: string;
}

export interface BuildPage {
  total_count: number;
  has_builds_ever: boolean;
  /** The page as the text of a JSON array. */
  builds: string;
}

/** One page of builds, newest first, with the number of builds in the window. */
export async function listBuilds(db: PreparedExecutor, orgId: string, query: BuildQuery): Promise<BuildPage> {
  const { repo_ids, start_ts, end_ts, offset, limit, artifacts_url } = query;
  if (repo_ids?.length === 0) return { total_count: 0, has_builds_ever: false, builds: "[]" };
  const values: unknown[] = [
    orgId,
    start_ts,
    end_ts,
    offset,
    limit,
    JSON.stringify(artifacts_url).slice(1, -1),
  ];
  const [statement, repos] =
    repo_ids === undefined
      ? [organizationList, []]
      : repo_ids.length === 1
        ? [repoList, [repo_ids[0]]]
        : [reposList, [repo_ids]];
  const [page] = await db.prepared<BuildPage & Record<string, unknown>>(statement, [...values, ...repos]);
  if (page === undefined) throw new Error("the list of builds answered no row");
  return page;
}

/** How many builds there are in the window, and when each was made, as comma-separated Unix seconds, oldest first. */
export async function listBuildTimes(
  db: PreparedExecutor,
  orgId: string,
  query: TimeWindow & { repo_ids: RepoIds },
): Promise<{ times: string; total_count: number }> {
  const [row] = await db.prepared<{ times: string; total_count: number }>(statistics, [
    orgId,
    query.start_ts,
    query.end_ts,
    query.repo_ids ?? null,
  ]);
  if (row === undefined) throw new Error("the times of builds answered no row");
  return row;
}
