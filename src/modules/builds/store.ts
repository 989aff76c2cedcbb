import type { PreparedExecutor, PreparedStatement } from "../../db/connect.ts";
import { Parameters } from "../../db/list-statement.ts";
import type { TimeWindow } from "../../domain/time-window.ts";
import { type RepoParts, reposWith } from "../repos/store.ts";
import { organizationList, repoList, reposList, statistics } from "./statements.ts";

export interface BuildQuery extends TimeWindow {
  /** Builds of which repos; undefined means whatever repo, or none. */
  repos: RepoParts | undefined;
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

/** One page of builds, newest first, with the number of builds in the window. One statement, unless several repos fit. */
export async function listBuilds(db: PreparedExecutor, orgId: string, query: BuildQuery): Promise<BuildPage> {
  const { repos, start_ts, end_ts, offset, limit, artifacts_url } = query;
  const link = JSON.stringify(artifacts_url).slice(1, -1);
  const shared = [orgId, start_ts, end_ts, offset, limit, link];
  if (repos === undefined) return getPage(db, organizationList, shared);
  const parameters = new Parameters(...shared);
  const { repo_ids, ...page } = await getPage<BuildPage & { repo_ids: string[] }>(
    db,
    repoList(reposWith(repos, parameters)),
    parameters.values,
  );
  if (repo_ids.length < 2) return page;
  return getPage(db, reposList, [...shared, repo_ids]);
}

async function getPage<Page extends BuildPage>(
  db: PreparedExecutor,
  statement: PreparedStatement,
  values: unknown[],
): Promise<Page> {
  const [page] = await db.prepared<Page & Record<string, unknown>>(statement, values);
  if (page === undefined) throw new Error("the list of builds answered no row");
  return page;
}

/** How many builds there are in the window, and when each was made, as comma-separated Unix seconds, oldest first. */
export async function listBuildTimes(
  db: PreparedExecutor,
  orgId: string,
  query: TimeWindow & { repo_ids: readonly string[] | undefined },
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
