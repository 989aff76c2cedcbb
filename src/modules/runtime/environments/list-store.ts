import type { Database, Executor } from "../../../db/connect.ts";
import {
  askedRows,
  idList,
  idText,
  lightEnough,
  listInSlices,
  slice,
  type SlicedList,
} from "../../../db/id-list.ts";
import { integer, type RowOf, text } from "../../../db/row.ts";
import { sliceSql } from "../../../db/slice-sql.ts";
import { empty, param, type Query, query as select, type Sql, sql } from "../../../db/sql.ts";
import type { Org } from "../../../domain/principal.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { environmentJson, environmentsJson } from "./environment-sql.ts";
import { allConditions, filtersOf } from "./list-filters-sql.ts";
import { type EnvironmentQuery, moreOf, orderBy, planPage, scopeOf } from "./list-sql.ts";

const environmentPage = {
  /** How many there are on all pages. */
  total: integer,
  /** The page as a JSON array. */
  environments: text,
};

export type EnvironmentPage = RowOf<typeof environmentPage>;

/**
 * Reads one page of at most 50 (interface spec 8), in one statement. A page past the end is empty and still knows the
 * total.
 */
export function listEnvironmentPage(
  db: Executor,
  org: Org,
  query: EnvironmentQuery,
  page: PageSlice,
): Promise<EnvironmentPage> {
  return db.one(pageOfEnvironments(org, query, page));
}

/** Selects one page. There is one text for each order and combination of filters. */
export function pageOfEnvironments(
  org: Org,
  query: EnvironmentQuery,
  page: PageSlice,
): Query<EnvironmentPage> {
  const rows = sliceSql(page);
  const isFirst = rows.offset === undefined;
  const filters = filtersOf(idOf(org), query);
  const scope = scopeOf(filters.org, query);
  const plan = planPage(filters, query, rows);
  const occurring = `${scope.archived ? "past" : "live"}${scope.logical ? "-group" : ""}`;
  // The database tells names apart by their first 63 characters.
  const name = `envs-${isFirst ? "first" : "page"}-${query.summary === undefined ? "" : "more-"}${orderName(query)}-${occurring}-${filters.shape}`;
  return select(
    name,
    environmentPage,
    isFirst && filters.countedBy === "counters" ? { pipelined: true } : {},
  )`
    ${plan.with === undefined ? empty : sql`with recursive ${plan.with}`}
    select ${plan.total}::bigint as total,
      ${environmentsJson("e", { id: filters.org, name: nameOf(org) }, { ...plan, scope })} as environments`;
}

/** Reads all that match, as texts of some of them each, with commas between these. */
export function listEnvironments(
  db: Database,
  org: Org,
  query: EnvironmentQuery,
): Promise<AsyncGenerator<string>> {
  return listInSlices(db, allEnvironments(org, query));
}

/** Selects everything that matches: its ids at once, what is shown a slice at a time. */
export function allEnvironments(org: Org, query: EnvironmentQuery): SlicedList {
  const orgId = idOf(org);
  const filters = filtersOf(orgId, query);
  return {
    ids: select(`envs-all-${orderName(query)}-${filters.shape}`, idList)`
      with recursive ${filters.with} always as (select true)
      select ${idText("e.id", orderBy("e", query))} as ids from environments e where ${allConditions(filters)}`,
    slice: (ids) => select(query.summary === undefined ? "envs-slice" : "envs-more-slice", slice)`
      select string_agg(${environmentJson("e", { id: orgId, name: nameOf(org) }, moreOf("e", orgId, query))}, ',' order by e.place) as items, max(e.place) as last
      from ${askedRows("environments", { org: orgId, ids, weight: sql`octet_length(r.json)` })} e
      where e.archived = ${query.archived}::boolean and ${lightEnough("e")}`,
  };
}

function idOf({ id }: Org): Sql {
  return sql`${param(id)}::uuid`;
}

/** Writes the organization's name as it stands in JSON. */
function nameOf({ name }: Org): Sql {
  return sql`${param(JSON.stringify(name))}::text`;
}

function orderName({ sort, direction }: EnvironmentQuery): string {
  return `${sort.replace(/^last_|_at$/g, "")}-${direction}`;
}
