import { heavyRows, isHeavy } from "../../../db/heavy-page.ts";
import { constant, param, type Parameter, raw, type Sql, sql } from "../../../db/sql.ts";
import type { TimeWindow } from "../../../domain/time-window.ts";
import type { PageSlice } from "../../../lib/paging.ts";

/**
 * Builds are numbered without gaps in order of time, in the organization and in each repo. So the builds in a window
 * are the numbers from the first to the last one in it, how many there are is a subtraction, and a page is a range of
 * numbers: all of it index lookups, however many builds there are and however deep the page.
 */

/** Which builds a page shows of those in a window. */
export interface BuildPage extends TimeWindow, PageSlice {
  /** URL below which the organization's artifacts are found. */
  artifacts_url: string;
}

/** Values of a statement that lists builds, each of which stands in several places. */
export interface PageValues {
  org: Parameter;
  /** Start of the window. */
  start: Sql;
  /** End of the window. */
  end: Sql;
  offset: Sql;
  limit: Sql;
  /** The URL of the artifacts as it stands between the quotes of JSON. */
  artifactsUrl: Sql;
}

/** Makes a URL a parameter, as it stands between the quotes of JSON. */
export function urlInJson(url: string): Sql {
  return sql`${JSON.stringify(url).slice(1, -1)}::text`;
}

/** Makes the values of a page parameters. */
export function pageValues(orgId: string, page: BuildPage): PageValues {
  return {
    org: param(orgId),
    start: sql`to_timestamp(${param(page.start_ts)}::float8)`,
    end: sql`to_timestamp(${param(page.end_ts)}::float8)`,
    offset: sql`${param(page.offset)}::bigint`,
    limit: sql`${param(page.limit)}::bigint`,
    artifactsUrl: urlInJson(page.artifacts_url),
  };
}

/**
 * Builds on a page at most. The page is a range of numbers already, but only from a constant the planner learns that so
 * few rows are wanted (see `query` in `src/db/sql.ts`). Without it each request is planned anew, which costs more than
 * the page.
 */
export const largestPage = constant(50);

/** Columns of a build that a page needs. */
export const buildColumns = raw("json, fingerprint, flow_id, repo_id, number");

/**
 * Writes two common table expressions with the JSON that is alike for the builds of a flow, and of a repo: made once for
 * each of those in `page`, which are far fewer than builds. Names of flows need no escapes.
 */
export function pageFlowsAndRepos({ org, artifactsUrl }: Pick<PageValues, "org" | "artifactsUrl">): Sql {
  return sql`page_flows as materialized (
      select id, ',"flow_name":"' || name || '","repo_info":' as opening,
        ',"_links":{"self":{"href":"' || ${artifactsUrl} || '/' || name || '/fingerprint/' as link
      from flows where org_id = ${org} and id = any (array(select flow_id from page))
    ), page_repos as materialized (
      select id, '{"name":' || to_json(name)::text || ',"repo_id":' || to_json(coalesce(repo_id, ''))::text
        || ',"provider":' || coalesce(to_json(provider)::text, 'null') || '}' as json
      from repos where org_id = ${org} and id = any (array(select repo_id from page))
    )`;
}

/** One build as JSON text without its braces, from `b`, its flow `f` and its repo `r`. The long part is copied once. */
const buildJson = raw(
  `b.json || (f.opening || coalesce(r.json, 'null') || f.link || b.fingerprint || '"}}')`,
);

/** Bytes of a build, from `page`: those of its repo are taken for as many as the largest one of the page has. */
const buildBytes = sql`octet_length(json) + (select coalesce(max(octet_length(json)), 0) from page_repos)`;

/** Writes a common table expression with the bytes of the page, from the same. */
export const pageBytes = sql`page_bytes as materialized (select sum(${buildBytes}) as bytes from page)`;
const isHeavyPage = isHeavy(sql`(select bytes from page_bytes)`);

/** The page's builds as the text of a JSON array, from `page`, `page_flows` and `page_repos`. */
export const pageJson = sql`(
  select coalesce('[{' || string_agg(${buildJson}, '},{' order by b.number desc) || '}]', '[]')
  from page b left join page_flows f on f.id = b.flow_id left join page_repos r on r.id = b.repo_id
)`;

/** The columns of `pageText`, from the same and `page_bytes`. */
export const pageColumns = sql`case when not ${isHeavyPage} then ${pageJson} end as list,
      case when ${isHeavyPage} then (
        select ${heavyRows({ id: raw("number::text"), bytes: buildBytes, order: "number desc" })} from page) end as heavy`;

/** Selects the first and the last number in the window of each repo; what follows `from` gives `repo.id`. */
export function repoBounds({ org, start, end }: PageValues): Sql {
  return sql`
      select repo.id as repo_id,
        (select repo_number from builds where org_id = ${org} and repo_id = repo.id and created_at >= ${start}
          order by created_at, number limit 1) as first,
        (select repo_number from builds where org_id = ${org} and repo_id = repo.id and created_at <= ${end}
          order by created_at desc, number desc limit 1) as last`;
}

/**
 * Writes a recursive common table expression that finds, by bisection, the number of the build that a page of several
 * repos starts with: the highest number that more builds of `spans` reach than are passed over. None past the end.
 */
export function bisection({ org, offset }: PageValues): Sql {
  return sql`bisection (low, high) as (
      select 1::bigint, (select build_number from org_counters where org_id = ${org}) from total where count > ${offset}
      union all
      select case when reached > ${offset} then middle else low end,
        case when reached > ${offset} then high else middle - 1 end
      from (
        select low, high, middle, ${countReaching(org)} as reached
        from (select low, high, (low + high + 1) / 2 as middle from bisection where low < high) step
        offset 0) probe
    )`;
}

/** Counts the builds of `spans` that have the number `middle` in the organization or a higher one. */
function countReaching(org: Parameter): Sql {
  return sql`(
  select coalesce(sum(greatest(s.last - greatest(s.first, coalesce((
    select b.repo_number from builds b
    where b.org_id = ${org} and b.repo_id = s.repo_id and (b.created_at, b.number) >= (p.created_at, p.number)
    order by b.created_at, b.number limit 1), s.last + 1)) + 1, 0)), 0)
  from (select created_at, number from builds where org_id = ${org} and number = middle limit 1) p
  cross join spans s
)`;
}
