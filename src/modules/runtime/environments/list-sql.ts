import { rowById } from "../../../db/row-by-id.ts";
import type { SliceSql } from "../../../db/slice-sql.ts";
import { constant, empty, raw, type Sql, sql } from "../../../db/sql.ts";
import type { EnvironmentSort, SortDirection } from "../../../domain/environments.ts";
import { type EnvironmentScope, endsAlike } from "./environment-sql.ts";
import { summaryJson } from "./summary-sql.ts";
import { allConditions, type EnvironmentFilter, type Filters, type Held } from "./list-filters-sql.ts";

/** Which environments, in which order. */
export interface EnvironmentQuery extends EnvironmentFilter {
  sort: EnvironmentSort;
  direction: SortDirection;
  /** Whether each is told of in more detail, and for which moment in Unix seconds. */
  summary?: { at: number } | undefined;
}

/** Says which environments may be in a list; part of the names of its statements. */
export function scopeOf(org: Sql, query: EnvironmentQuery): EnvironmentScope & { archived: boolean } {
  const { archived, types } = query;
  return {
    archived,
    logical: types === undefined || types.includes("logical"),
    more: moreOf("e", org, query),
  };
}

/** Writes what is told of each environment beside what always is; undefined for nothing. */
export function moreOf(alias: string, org: Sql, { summary }: EnvironmentQuery): Sql | undefined {
  return summary === undefined ? undefined : summaryJson(alias, org, summary.at);
}

/** Writes the order: sort key, then name, then id; what has no sort key comes last both ways (S3). */
export function orderBy(alias: string, { sort, direction }: EnvironmentQuery): Sql {
  if (sort === "name") return raw(`${alias}.name ${direction}, ${alias}.id ${direction}`);
  const nulls = sort === "last_modified_at" ? "" : " nulls last";
  return raw(`${alias}.${sort} ${direction}${nulls}, ${alias}.name, ${alias}.id`);
}

/** Names the columns that decide on the order. */
function orderColumns(alias: string, { sort }: EnvironmentQuery): Sql {
  return raw(`${alias}.id, ${alias}.name${sort === "name" ? "" : `, ${alias}.${sort}`}`);
}

/** How one page is found, and how many matches there are in all. */
export interface PagePlan {
  /** Common table expressions that the rows use; undefined when there are none. */
  with?: Sql;
  /** What follows `from`, with the page's rows as `e`. */
  rows: Sql;
  order: Sql;
  /** The number of all matches. */
  total: Sql;
}

/** Plans how a page is found. */
export function planPage(filters: Filters, query: EnvironmentQuery, slice: SliceSql): PagePlan {
  if (filters.countedBy === "matches") return countedPage(filters, query, slice);
  if (filters.held !== undefined) return heldPage(filters, filters.held, { ...slice, query });
  if (filters.types !== undefined && query.sort === "name")
    return mergedPage(filters, { ...slice, query, types: filters.types });
  // Where few match, many rows would be read for the first page, instead of what the index has of them.
  return slice.offset === undefined && filters.countedBy === "counters"
    ? firstPage(filters, query, slice.limit)
    : orderedPage(filters, query, slice);
}

/**
 * Plans pages under filters for which no counter and no ordered index exist. Matches are found once, by the index of their
 * filter; they are counted and the page is a slice of them, whatever page it is. Among 100,000 environments nearly all of it
 * goes into the total, which no other plan can tell: of a name or tag that a fifth has 22 to 38 ms, of a tag that all have
 * 74 to 127, of 2,600 silent ones 2.4. A policy is the dearest, measured on a busy machine: 87 to 135 where 1,000 have it, 130 to 400
 * where all have, because all environments are hashed either way.
 */
function countedPage(filters: Filters, query: EnvironmentQuery, slice: SliceSql): PagePlan {
  const matching = sql`matching as materialized (
      select ${orderColumns("e", query)} from environments e where ${allConditions(filters)})`;
  const page = sliced(sql`select * from matching m order by ${orderBy("m", query)}`, slice);
  return pageById(filters, query, {
    with: sql`${filters.with} ${matching},`,
    page,
    total: sql`(select count(*) from matching)`,
  });
}

/** Environments up to which they are looked up one by one, instead of looking through all in their order. */
const fewHeld = constant(2000);

/**
 * Plans pages of environments by what is held to them. Their ids are read off its index. A few are looked up and sorted; with
 * many the index of the order is read until the page is full, and what is not among them is passed over. Neither way reads
 * rows that are not on the page, but for those few. SQL has both ways, because only PostgreSQL knows how many there are.
 */
function heldPage(
  filters: Filters,
  { ids, rest, total }: Held,
  { query, ...slice }: SliceSql & { query: EnvironmentQuery },
): PagePlan {
  const { org, ofType } = filters;
  const own = ofType === undefined ? rest : sql`${rest} and ${ofType("e")}`;
  const columns = orderColumns("e", query);
  const areFew = raw("(select is_so from few)");
  // A list to be searched, and not a join, which would lose the order.
  const many = sql`not ${areFew} and ${own} and (e.id in (select id from held)) is true`;
  const few = sliced(sql`select * from found m order by ${orderBy("m", query)}`, slice);
  const inOrder = sql`select ${columns} from environments e where ${many} order by ${orderBy("e", query)}`;
  return pageById(filters, query, {
    with: sql`${filters.with} held as (${ids}), few as materialized (
      select count(*) <= ${fewHeld} as is_so from (select from held limit ${fewHeld} + 1) h
    ), found as materialized (
      select ${columns} from (select distinct id from held) h
      ${rowById("environments", "e", org, "h.id")}
      where ${areFew} and ${own}
    ),`,
    page: sql`(${few}) union all (${sliced(inOrder, slice)})`,
    total:
      total ??
      sql`case when ${areFew} then (select count(*) from found)
        else (select count(*) from environments e where ${many}) end`,
  });
}

/**
 * Plans later pages of all environments, of one type or, unless sorted by name, of several. The page is read off the index
 * in its order, past what comes before it without reading those rows: page 1,000 of 100,000 takes 5 to 9 ms, page 2,000
 * 12 to 16; found and counted as under filters 18 to 55. Filters by state, and those that are not silent, are checked on the
 * way in the same index: with their number 1 to 55 ms, whatever the page.
 */
function orderedPage(filters: Filters, query: EnvironmentQuery, slice: SliceSql): PagePlan {
  const rows = sql`select ${orderColumns("e", query)} from environments e where ${allConditions(filters)}
      order by ${orderBy("e", query)}`;
  return pageById(filters, query, { page: sliced(rows, slice) });
}

/**
 * Plans the first page of the same lists, which is asked for most. Nothing comes before it: its rows are read in order,
 * without finding them by id again: of a type by name 0.37 ms instead of 0.52.
 */
function firstPage(filters: Filters, query: EnvironmentQuery, limit: Sql): PagePlan {
  const columns = orderColumns("e", query);
  const read = endsAlike(scopeOf(filters.org, query)) ? sql`e.json, ${columns}` : raw("*");
  const order = orderBy("e", query);
  return {
    rows: sql`(select ${read} from environments e where ${allConditions(filters)} order by ${order} limit ${largestPage}) as e`,
    order: sql`${order} limit ${limit}`,
    total: countOf(filters),
  };
}

/**
 * Plans pages of several types by name. One index scan in this order would pass over all environments of other types; so
 * the types' own indexes are merged, and rare types cost no more than frequent ones: page 20 of two of nine types takes 0.8 to 2.4 ms, in
 * one scan 4.6 to 6.1.
 */
function mergedPage(
  filters: Filters,
  { query, types, limit, offset }: SliceSql & { query: EnvironmentQuery; types: Sql },
): PagePlan {
  const deep = offset === undefined ? largestPage : sql`${largestPage} + ${offset}`;
  const rows = sql`select t.* from unnest(${types}) as wanted (type) cross join lateral (
        select ${orderColumns("e", query)} from environments e
        where ${filters.where} and e.type = wanted.type
        order by ${orderBy("e", query)} limit ${deep}) t
      order by ${orderBy("t", query)}`;
  return pageById(filters, query, { page: sliced(rows, { limit, offset }) });
}

/**
 * Plans a page that is found by what an index has of it: only its own rows are read. It is found once, whatever the planner
 * expects: right after many environments were made it takes them for a few, and found the page again for each of them.
 */
function pageById(
  filters: Filters,
  query: EnvironmentQuery,
  found: { with?: Sql; page: Sql; total?: Sql },
): PagePlan {
  return {
    with: sql`${found.with ?? empty} page as materialized (${found.page})`,
    rows: sql`page ${rowById("environments", "e", filters.org, "page.id")}`,
    order: orderBy("page", query),
    total: found.total ?? countOf(filters),
  };
}

/** Reads how many environments match off their counters, or off the index of an order: 8 to 25 ms among 100,000. */
function countOf(filters: Filters): Sql {
  if (filters.countedBy !== "counters")
    return sql`(select count(*) from environments e where ${allConditions(filters)})`;
  const { org, archived, ofType } = filters;
  const where = ofType === undefined ? empty : sql` and ${ofType("c")}`;
  return sql`(select coalesce(sum(c.count), 0) from environment_counts c
    where c.org_id = ${org} and c.archived = ${archived}${where})`;
}

/** Rows on a page at most (interface spec 8). */
const largestPage = constant(50);

/**
 * Takes a page of rows. The limit stands there twice because only from a constant the planner learns that few rows are
 * wanted (see `query` in `src/db/sql.ts`).
 */
function sliced(rows: Sql, { limit, offset }: SliceSql): Sql {
  const start = offset === undefined ? empty : sql` offset ${offset}`;
  return sql`select * from (${rows} limit ${largestPage}${start}) as largest limit ${limit}`;
}
