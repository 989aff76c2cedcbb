import type { PreparedStatement } from "../../db/connect.ts";

/**
 * Builds are numbered without gaps in order of time, in the organization and in each repo. So the builds in a window
 * are the numbers from the first to the last one in it, how many there are is a subtraction, and a page is a range of
 * numbers: all of it index lookups, however many builds there are and however deep the page.
 *
 * Parameters of all lists: $1 organization, $2 and $3 the window's ends as Unix seconds, $4 builds to pass over,
 * $5 builds on the page, $6 URL below which artifacts are found, as it stands between the
 * quotes of JSON; $7 and on what repos are known by.
 */

/**
 * Builds on a page at most. The page is a range of numbers already, but the planner cannot see the values of
 * parameters: only from a constant it learns that so few rows are wanted that the plan for any values, made once, is a
 * good one. Without it each request is planned anew, which costs more than the page.
 */
const largestPage = 50;

/**
 * What is alike for the builds of a flow, and of a repo: made once for each of those in `page`, which are far fewer. Names of
 * flows need no escapes.
 */
const named = `page_flows as materialized (
      select id, ',"flow_name":"' || name || '","repo_info":' as opening,
        ',"_links":{"self":{"href":"' || $6::text || '/' || name || '/fingerprint/' as link
      from flows where org_id = $1 and id = any (array(select flow_id from page))
    ), page_repos as materialized (
      select id, '{"name":' || to_json(name)::text || ',"repo_id":' || to_json(coalesce(repo_id, ''))::text
        || ',"provider":' || coalesce(to_json(provider)::text, 'null') || '}' as json
      from repos where org_id = $1 and id = any (array(select repo_id from page))
    )`;

/** One build as JSON text without its braces, from `b`, its flow `f` and its repo `r`. The long part is copied once. */
const item = `b.json || (f.opening || coalesce(r.json, 'null') || f.link || b.fingerprint || '"}}')`;

/** The page's builds as the text of a JSON array, from `page` and what is `named` there. */
const pageText = `(
  select coalesce('[{' || string_agg(${item}, '},{' order by b.number desc) || '}]', '[]')
  from page b left join page_flows f on f.id = b.flow_id left join page_repos r on r.id = b.repo_id
)`;

/** What a page needs of a build. */
const columns = "json, fingerprint, flow_id, repo_id, number";

/** All builds of the organization. */
export const organizationList: PreparedStatement = {
  name: "list-builds",
  brief: true,
  text: `
    with bounds as materialized (
      select
        (select number from builds where org_id = $1 and created_at >= to_timestamp($2::float8)
          order by created_at, number limit 1) as first,
        (select number from builds where org_id = $1 and created_at <= to_timestamp($3::float8)
          order by created_at desc, number desc limit 1) as last
    ), page as materialized (
      select b.* from bounds cross join lateral (
        select ${columns} from builds where org_id = $1
          and number >= bounds.first and number <= bounds.last - $4::bigint
          and number > bounds.last - $4::bigint - $5::bigint
        order by number desc limit ${largestPage}) b
    ), ${named}
    select coalesce(greatest(last - first + 1, 0), 0)::bigint as total_count,
      exists (select from org_counters where org_id = $1 and build_number > 0) as has_builds_ever,
      ${pageText} as builds
    from bounds`,
};

const repoBounds = `
      select repo.id as repo_id,
        (select repo_number from builds where org_id = $1 and repo_id = repo.id and created_at >= to_timestamp($2::float8)
          order by created_at, number limit 1) as first,
        (select repo_number from builds where org_id = $1 and repo_id = repo.id and created_at <= to_timestamp($3::float8)
          order by created_at desc, number desc limit 1) as last`;

/**
 * The builds of the one repo that is asked for, and the ids of all that fit what was asked: there are no builds with them
 * unless it is one.
 * @param repos SQL for those ids, and a name for it.
 */
export function repoList(repos: { sql: string; shape: string }): PreparedStatement {
  const name = `list-repo-builds-${repos.shape}`;
  return { name, brief: true, text: repoListText(repos.sql) };
}

const repoListText = (repos: string): string => `
    with found as materialized (
      select coalesce(array_agg(id), '{}') as ids from (${repos}) repos
    ), bounds as materialized (${repoBounds}
      from (select ids[1] as id from found where cardinality(ids) = 1) repo
    ), page as materialized (
      select b.* from bounds cross join lateral (
        select ${columns} from builds where org_id = $1 and repo_id = bounds.repo_id
          and repo_number >= bounds.first and repo_number <= bounds.last - $4::bigint
          and repo_number > bounds.last - $4::bigint - $5::bigint
        order by repo_number desc limit ${largestPage}) b
    ), ${named}
    select found.ids as repo_ids, coalesce(greatest(last - first + 1, 0), 0)::bigint as total_count,
      exists (select from repo_counters where org_id = $1 and repo_id = bounds.repo_id) as has_builds_ever,
      ${pageText} as builds
    from found left join bounds on true`;

/** How many builds of the repos, within the window, have this number in the organization or a higher one. */
const countFrom = (number: string): string => `(
  select coalesce(sum(greatest(s.last - greatest(s.first, coalesce((
    select b.repo_number from builds b
    where b.org_id = $1 and b.repo_id = s.repo_id and (b.created_at, b.number) >= (p.created_at, p.number)
    order by b.created_at, b.number limit 1), s.last + 1)) + 1, 0)), 0)
  from (select created_at, number from builds where org_id = $1 and number = ${number} limit 1) p
  cross join spans s
)`;

/**
 * The builds of several repos. Their numberings interleave, so where the page starts is found by bisection: the
 * highest number that enough of the builds reach.
 */
export const reposList: PreparedStatement = {
  name: "list-builds-of-repos",
  text: `
    with recursive spans as materialized (
      select * from (${repoBounds}
        from unnest($7::uuid[]) as repo (id)
      ) bounds where first <= last
    ), total as materialized (
      select coalesce(sum(last - first + 1), 0)::bigint as count from spans
    ), bisection (low, high) as (
      select 1::bigint, (select build_number from org_counters where org_id = $1) from total where count > $4::bigint
      union all
      select case when reached > $4::bigint then middle else low end,
        case when reached > $4::bigint then high else middle - 1 end
      from (
        select low, high, middle, ${countFrom("middle")} as reached
        from (select low, high, (low + high + 1) / 2 as middle from bisection where low < high) step
        offset 0) probe
    ), page as materialized (
      select b.* from (select low as number from bisection where low = high) top
      cross join lateral (
        select created_at, number from builds where org_id = $1 and number = top.number limit 1) p
      cross join spans s
      cross join lateral (
        select ${columns} from builds b where b.org_id = $1 and b.repo_id = s.repo_id
          and b.created_at >= to_timestamp($2::float8)
          and (b.created_at, b.number) <= (p.created_at, p.number)
        order by b.created_at desc, b.number desc limit ${largestPage}) b
      order by b.number desc limit $5::bigint
    ), ${named}
    select total.count as total_count,
      exists (select from repo_counters where org_id = $1 and repo_id = any ($7::uuid[])) as has_builds_ever,
      ${pageText} as builds
    from total`,
};

/** Moments of builds in the window as the text of a JSON array. $4 is null for all repos, or which. */
export const statistics: PreparedStatement = {
  name: "build-times",
  text: `
    select coalesce(string_agg(epoch(created_at)::text, ',' order by created_at), '') as times,
      count(*)::bigint as total_count
    from (
      select created_at from builds
      where $4::uuid[] is null and org_id = $1
        and created_at >= to_timestamp($2::float8) and created_at <= to_timestamp($3::float8)
      union all
      select b.created_at from unnest($4::uuid[]) as repo (id)
      cross join lateral (
        select created_at from builds where org_id = $1 and repo_id = repo.id
          and created_at >= to_timestamp($2::float8) and created_at <= to_timestamp($3::float8) offset 0) b
    ) as b`,
};
