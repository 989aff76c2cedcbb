import { boolean, integer, type RowOf, text, uuids } from "../../../db/row.ts";
import { type PageText, pageOf, pageText } from "../../../db/heavy-page.ts";
import { param, type Query, query, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import type { TimeWindow } from "../../../domain/time-window.ts";
import { type RepoParts, reposWith } from "../repos/parts-sql.ts";
import {
  bisection,
  buildColumns,
  type BuildPage,
  largestPage,
  pageBytes,
  pageColumns,
  pageFlowsAndRepos,
  pageJson,
  type PageValues,
  pageValues,
  repoBounds,
  urlInJson,
} from "./list-sql.ts";

export interface BuildQuery extends BuildPage {
  /** Builds of which repos; undefined means whatever repo, or none. */
  repos: RepoParts | undefined;
}

const buildList = {
  /** Builds in the window. */
  total_count: integer,
  has_builds_ever: boolean,
  ...pageText,
};

type BuildListRow = RowOf<typeof buildList>;

export interface BuildList extends Pick<BuildListRow, "total_count" | "has_builds_ever"> {
  builds: PageText;
}

function shown({ total_count, has_builds_ever, ...page }: BuildListRow): BuildList {
  return { total_count, has_builds_ever, builds: pageOf(page) };
}

/** Reads one page of builds, newest first. One statement, unless several repos fit. */
export async function listBuilds(
  db: Executor,
  orgId: string,
  { repos, ...page }: BuildQuery,
): Promise<BuildList> {
  const values = pageValues(orgId, page);
  if (repos === undefined) return shown(await db.one(buildsOfAll(values)));
  const { repo_ids, ...list } = await db.one(buildsOfRepo(values, repos));
  return shown(repo_ids.length < 2 ? list : await db.one(buildsOfRepos(values, repo_ids)));
}

/** Reads builds by their numbers, newest first, as the text of a JSON array. */
export async function listBuildsByNumber(
  db: Executor,
  orgId: string,
  { numbers, artifacts_url }: { numbers: readonly string[]; artifacts_url: string },
): Promise<string> {
  const org = param(orgId);
  const { list } = await db.one(query("list-builds-by-number", { list: text })`
    with page as materialized (
      select ${buildColumns} from builds where org_id = ${org} and number = any (${numbers}::bigint[])
    ), ${pageFlowsAndRepos({ org, artifactsUrl: urlInJson(artifacts_url) })}
    select ${pageJson} as list`);
  return list;
}

/** Selects builds of the whole organization. */
function buildsOfAll(values: PageValues): Query<BuildListRow> {
  const { org, start, end, offset, limit } = values;
  return query("list-builds", buildList, { pipelined: true })`
    with bounds as materialized (
      select
        (select number from builds where org_id = ${org} and created_at >= ${start}
          order by created_at, number limit 1) as first,
        (select number from builds where org_id = ${org} and created_at <= ${end}
          order by created_at desc, number desc limit 1) as last
    ), page as materialized (
      select b.* from bounds cross join lateral (
        select ${buildColumns} from builds where org_id = ${org}
          and number >= bounds.first and number <= bounds.last - ${offset}
          and number > bounds.last - ${offset} - ${limit}
        order by number desc limit ${largestPage}) b
    ), ${pageFlowsAndRepos(values)}, ${pageBytes}
    select coalesce(greatest(last - first + 1, 0), 0)::bigint as total_count,
      exists (select from org_counters where org_id = ${org} and build_number > 0) as has_builds_ever,
      ${pageColumns}
    from bounds`;
}

/** Selects the ids of all repos that fit and, if that is one, its builds. */
function buildsOfRepo(values: PageValues, parts: RepoParts): Query<BuildListRow & { repo_ids: string[] }> {
  const { org, offset, limit } = values;
  const { ids, shape } = reposWith(org, parts);
  return query(`list-repo-builds-${shape}`, { repo_ids: uuids, ...buildList }, { pipelined: true })`
    with found as materialized (
      select coalesce(array_agg(id), '{}') as ids from (${ids}) repos
    ), bounds as materialized (${repoBounds(values)}
      from (select ids[1] as id from found where cardinality(ids) = 1) repo
    ), page as materialized (
      select b.* from bounds cross join lateral (
        select ${buildColumns} from builds where org_id = ${org} and repo_id = bounds.repo_id
          and repo_number >= bounds.first and repo_number <= bounds.last - ${offset}
          and repo_number > bounds.last - ${offset} - ${limit}
        order by repo_number desc limit ${largestPage}) b
    ), ${pageFlowsAndRepos(values)}, ${pageBytes}
    select found.ids as repo_ids, coalesce(greatest(last - first + 1, 0), 0)::bigint as total_count,
      exists (select from repo_counters where org_id = ${org} and repo_id = bounds.repo_id) as has_builds_ever,
      ${pageColumns}
    from found left join bounds on true`;
}

/**
 * Selects the builds of several repos. Their numberings interleave, so where the page starts is found by bisection over
 * the numbers of the organization.
 */
function buildsOfRepos(values: PageValues, repoIds: readonly string[]): Query<BuildListRow> {
  const { org, start, limit } = values;
  const repos = sql`${param(repoIds)}::uuid[]`;
  return query("list-builds-of-repos", buildList)`
    with recursive spans as materialized (
      select * from (${repoBounds(values)}
        from unnest(${repos}) as repo (id)
      ) bounds where first <= last
    ), total as materialized (
      select coalesce(sum(last - first + 1), 0)::bigint as count from spans
    ), ${bisection(values)}, page as materialized (
      select b.* from (select low as number from bisection where low = high) top
      cross join lateral (
        select created_at, number from builds where org_id = ${org} and number = top.number limit 1) p
      cross join spans s
      cross join lateral (
        select ${buildColumns} from builds b where b.org_id = ${org} and b.repo_id = s.repo_id
          and b.created_at >= ${start}
          and (b.created_at, b.number) <= (p.created_at, p.number)
        order by b.created_at desc, b.number desc limit ${largestPage}) b
      order by b.number desc limit ${limit}
    ), ${pageFlowsAndRepos(values)}, ${pageBytes}
    select total.count as total_count,
      exists (select from repo_counters where org_id = ${org} and repo_id = any (${repos})) as has_builds_ever,
      ${pageColumns}
    from total`;
}

const buildTimes = {
  /** When each was made: Unix seconds with commas between them, oldest first. */
  times: text,
  total_count: integer,
};

/** Counts the builds in the window and lists their moments. */
export function listBuildTimes(
  db: Executor,
  orgId: string,
  { repo_ids, start_ts, end_ts }: TimeWindow & { repo_ids: readonly string[] | undefined },
): Promise<RowOf<typeof buildTimes>> {
  const org = param(orgId);
  const repos = sql`${param(repo_ids ?? null)}::uuid[]`;
  const within = sql`created_at >= to_timestamp(${param(start_ts)}::float8)
        and created_at <= to_timestamp(${param(end_ts)}::float8)`;
  // All builds, or those of each repo that was asked for.
  return db.one(query("build-times", buildTimes)`
    select coalesce(string_agg(epoch(created_at)::text, ',' order by created_at), '') as times,
      count(*)::bigint as total_count
    from (
      select created_at from builds
      where ${repos} is null and org_id = ${org} and ${within}
      union all
      select b.created_at from unnest(${repos}) as repo (id)
      cross join lateral (
        select created_at from builds where org_id = ${org} and repo_id = repo.id and ${within} offset 0) b
    ) as b`);
}
