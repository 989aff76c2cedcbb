import { mostBytes } from "../../../db/heavy-page.ts";
import { rowById } from "../../../db/row-by-id.ts";
import type { SliceSql } from "../../../db/slice-sql.ts";
import { constant, empty, raw, type Sql, sql } from "../../../db/sql.ts";
import { leftOutMark } from "../../../lib/left-out.ts";
import { type Filters, living, type OrgValues } from "./list-filters-sql.ts";

export interface FlowOrder {
  sort: "name" | "latest_activity";
  sort_direction: "asc" | "desc";
}

/**
 * Stands for the size of a page, at most 100, where the planner is to learn that few rows are wanted (see `query` in
 * `src/db/sql.ts`).
 */
const largestPage = constant(100);

/** Bytes of the JSON of the flow `f` with its activity `a`, but for what is never large. */
const flowBytes = sql`octet_length(f.json_head) + octet_length(f.json_template) + octet_length(f.json_tail)
  + coalesce(octet_length(a.repo_url), 0)`;

/** The columns of a flow `f` and its activity `a` that `flowJson` needs, with their bytes. */
export const flowColumns = sql`f.id, f.name, f.json_head, f.json_template, f.json_tail, f.repo_url, f.archived_at,
  f.original_name, a.json as activity, a.repo_url as reported_url, a.repo_id as reported_repo, ${flowBytes} as own_bytes`;

/**
 * Writes the JSON of a flow, of its columns as `f`, keys in the published order. All but the URL of a repo stands
 * ready in the rows. Short texts are put together first: each time a long one is added to, it is copied.
 */
export function flowJson(org: OrgValues): Sql {
  return sql`(f.json_head || ${org.name}) || (f.json_template || (case
    when f.repo_url is not null then to_json(f.repo_url)::text
    when f.reported_url is not null then to_json(f.reported_url)::text
    when f.reported_repo is not null then coalesce((
      select to_json(r.url)::text from repos r where r.org_id = ${org.id} and r.id = f.reported_repo), '""')
    else '""' end || (f.json_tail || ${tail(org)})))`;
}

/** Writes the end of the JSON of the flow `f`: its activity, and what is added. */
function tail({ more }: OrgValues): Sql {
  const activity = sql`coalesce(f.activity, 'null,"latest_state":null}')`;
  return more === undefined ? activity : sql`(left(${activity}, -1) || ${more} || '}')`;
}

/** Trails that are shown of a flow in lists. */
const fewTrails = constant(20);

/**
 * Writes the newest trails of the flow `f` as a member of its JSON. They are read off their index, and the state of each
 * looked up: 2,000 looks for a page of 100 flows.
 * @param pages address of the pages of the organization's flows, as a text.
 */
export function latestTrails(org: OrgValues, pages: Sql): Sql {
  return sql`',"latest_trails":' || coalesce((
      select json_agg(json_build_object('name', t.name, 'compliance_state', o.state,
        'html_url', ${pages} || f.name || '/trails/' || t.name) order by t.created_at desc, t.id desc)::text
      from (
        select id, name, created_at from trails where org_id = ${org.id} and flow_id = f.id
        order by created_at desc, id desc limit ${fewTrails}) t
      cross join lateral (
        select state from trail_outcomes where org_id = ${org.id} and trail_id = t.id limit 1) o), '[]')`;
}

/** Since when the flow `f` is archived and how it was called, as members of its JSON. */
export const archiving = sql`',"archived_at":' || epoch(f.archived_at)::text
  || ',"original_name":' || json_text(f.original_name)`;

/** Bytes of a flow from which on it is read by itself: 100 that have less are read at once. */
const largeFlow = constant(mostBytes / 100);

const mark = constant(leftOutMark.charCodeAt(0));

/**
 * Writes the texts of some flows, each after a comma but the first; null when there are none. The brackets are left to the
 * reader: adding them would copy it all. In the place of a large flow stands its id, after `leftOutMark`.
 * @param from flows `f` with their activities `a`, in their order.
 */
function joinedJson(org: OrgValues, from: Sql): Sql {
  return sql`(
    select string_agg(case when f.own_bytes <= ${largeFlow} then ${flowJson(org)} else chr(${mark}) || f.id::text end, ',')
    from (select ${flowColumns} from ${from}) f)`;
}

/** Joins the activity `a` of the flow `f`. It is looked up flow by flow, however little is known of the table. */
export function withActivity(org: OrgValues): Sql {
  return sql`left join lateral (
    select * from flow_activity a where a.org_id = ${org.id} and a.flow_id = f.id limit 1) a on true`;
}

/** Reads how many living flows there are off their counter. */
function countOfAll(org: OrgValues): Sql {
  return sql`(select c.count from flow_counts c where c.org_id = ${org.id})`;
}

/** Writes the order. Flows without activity come last both ways; then by name, which no two flows share. */
export function orderBy({ sort, sort_direction }: FlowOrder, row: { name: string; active: string }): Sql {
  return raw(
    sort === "name"
      ? `${row.name} ${sort_direction}`
      : `${row.active} ${sort_direction} nulls last, ${row.name}`,
  );
}

/** SQL for one page. */
export interface PagePlan {
  /** Common table expressions that the others use; undefined when there are none. */
  with?: Sql;
  /** The number of all matches. */
  total: Sql;
  /** The page's texts, as `joinedJson` writes them. */
  flows: Sql;
  /** More of them, which follow; where there can be more. */
  rest?: Sql;
}

/** The list that a page is a part of. */
export interface FlowList {
  org: OrgValues;
  filters: Filters;
  order: FlowOrder;
}

/** Plans how a page is found. */
export function planPage(list: FlowList, slice: SliceSql): PagePlan {
  if (list.filters.shape !== "") return matchedPage(list, slice);
  if (list.order.sort === "latest_activity") return pageByActivity(list, slice);
  const { limit, offset } = slice;
  return offset === undefined ? firstByName(list, limit) : laterByName(list, limit, offset);
}

/** Selects the page's own rows, by their ids. */
function pageRows(org: OrgValues, ordering: Sql): Sql {
  return sql`page ${rowById("flows", "f", org.id, "page.id")} ${withActivity(org)} order by ${ordering}`;
}

/**
 * Plans a page of flows that match filters. Matches are found once; they are counted and the page is a slice of them. Only
 * its own rows are looked at closer.
 */
function matchedPage({ org, filters, order }: FlowList, { limit, offset }: SliceSql): PagePlan {
  const ordering = orderBy(order, { name: "page.name", active: "page.active_at" });
  const [column, activity] =
    order.sort === "latest_activity"
      ? [
          sql`, a.last_modified_at as active_at`,
          sql`left join flow_activity a on a.org_id = ${org.id} and a.flow_id = f.id`,
        ]
      : [empty, empty];
  return {
    with: sql`${filters.with} matching as materialized (
        select f.id, f.name${column} from flows f
        ${activity}
        where ${filters.where}
      ), page as materialized (select * from matching page order by ${ordering} limit ${limit} offset ${offset ?? constant(0)})`,
    total: sql`(select count(*) from matching)`,
    flows: joinedJson(org, pageRows(org, ordering)),
  };
}

/**
 * Plans the first page of all flows by name. Nothing comes before it: its rows are read in order, without finding them by
 * id again.
 */
function firstByName({ org, order: { sort_direction } }: FlowList, limit: Sql): PagePlan {
  const order = raw(`order by f.name ${sort_direction}`);
  return {
    total: countOfAll(org),
    flows: joinedJson(
      org,
      sql`(select * from flows f where ${living(org)} ${order} limit ${largestPage}) f
      ${withActivity(org)} ${order} limit ${limit}`,
    ),
  };
}

/** Plans a later page of all flows by name. What comes before the page is passed over in the index. */
function laterByName({ org, order: { sort_direction } }: FlowList, limit: Sql, offset: Sql): PagePlan {
  const direction = raw(sort_direction);
  return {
    with: sql`page as materialized (select * from (
        select f.id, f.name from flows f where ${living(org)} order by f.name ${direction}, f.id ${direction}
        limit ${largestPage} offset ${offset}) as largest limit ${limit})`,
    total: countOfAll(org),
    flows: joinedJson(org, pageRows(org, sql`page.name ${direction}`)),
  };
}

/**
 * Selects the latest activities up to the end of the page, read off their index and sorted within the minute; all that are
 * at one moment, because their names decide on their order. After the first page, `up_to` tells how many there are up to
 * the moment of each.
 */
function latestActivities({ org, order: { sort_direction } }: FlowList, { limit, offset }: SliceSql): Sql {
  const order = raw(`active_minute ${sort_direction}, last_modified_at ${sort_direction}`);
  const latest = sql`from flow_activity where org_id = ${org.id} order by ${order}`;
  return offset === undefined
    ? sql`select * from (select * ${latest} fetch first ${largestPage} rows with ties) as largest
       order by ${order} fetch first (${limit}) rows with ties`
    : sql`select *, count(*) over (order by ${order}) as up_to ${latest}
       fetch first (${limit} + ${offset}) rows with ties`;
}

/**
 * Plans a page of all flows by activity. Flows without activity are looked for when the page reaches beyond those with
 * some.
 */
function pageByActivity(list: FlowList, slice: SliceSql): PagePlan {
  const { org, order } = list;
  const { limit, offset } = slice;
  const found = sql`(select count(*) from active)`;
  const zero = constant(0);
  // Which of `active` are on the page or after it, how many of these come before it, and how many flows without activity.
  const [reaching, passed, left] =
    offset === undefined
      ? [empty, zero, zero]
      : [
          sql`and a.up_to > ${offset}`,
          sql`${offset} - (select count(*) from active where up_to <= ${offset})`,
          sql`greatest(0, ${offset} - ${found})`,
        ];
  return {
    with: sql`active as materialized (${latestActivities(list, slice)})`,
    total: countOfAll(org),
    flows: joinedJson(
      org,
      sql`active a ${rowById("flows", "f", org.id, "a.flow_id")}
      where f.archived_at is null ${reaching} order by a.last_modified_at ${raw(order.sort_direction)}, f.name limit ${limit} offset ${passed}`,
    ),
    rest: joinedJson(
      org,
      sql`(
        select * from flows f where ${living(org)} and not exists (
          select from flow_activity a where a.org_id = ${org.id} and a.flow_id = f.id)
        order by f.name limit ${largestPage} offset ${left}) f
      cross join (select null::text as json, null::uuid as repo_id, null::text as repo_url) a
      order by f.name limit greatest(0, ${limit} - greatest(0, ${found} - ${offset ?? zero}))`,
    ),
  };
}
