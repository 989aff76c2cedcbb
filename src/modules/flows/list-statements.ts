import type { PreparedStatement } from "../../db/connect.ts";
import { askedRows, idText, lightEnough, type SlicedList } from "../../db/id-list.ts";
import { type Bound, Parameters } from "../../db/list-statement.ts";
import {
  type FlowFilter,
  type Filters,
  filtersOf,
  living,
  type Org,
  orgId,
  orgName,
  parametersOf,
} from "./list-filters.ts";

export interface FlowOrder {
  sort: "name" | "latest_activity";
  sort_direction: "asc" | "desc";
}

/** Which rows of the list: at most 100, the most a page can have. */
export interface PageOf {
  limit: number;
  offset: number;
}

/**
 * Stands for the size of a page where the planner is to learn that few rows are wanted. It cannot see the value of a
 * parameter; from a constant the plan for any values, made once, is a good one.
 */
const largestPage = 100;

/**
 * SQL for the JSON of the flow `f` with its activity `a`, keys in the published order. All but the URL of a repo stands
 * ready in the rows. Short texts are put together first: each time a long one is added to, it is copied.
 */
const flowJson = `(f.json_head || ${orgName}) || (f.json_template || (case
    when f.repo_url is not null then to_json(f.repo_url)::text
    when a.repo_url is not null then to_json(a.repo_url)::text
    when a.repo_id is not null then coalesce((
      select to_json(r.url)::text from repos r where r.org_id = ${orgId} and r.id = a.repo_id), '""')
    else '""' end || (f.json_tail || coalesce(a.json, 'null,"latest_state":null}'))))`;

/**
 * SQL for the texts of some flows, each after a comma but the first; null when there are none. The brackets are left to
 * the reader: adding them would copy it all.
 */
function joined(from: string): string {
  return `(select string_agg(shown.json, ',') from (select ${flowJson} as json from ${from}) as shown)`;
}

/** Looked up flow by flow, however little is known of the table. */
const itsActivity = `left join lateral (
    select * from flow_activity a where a.org_id = ${orgId} and a.flow_id = f.id limit 1) a on true`;

const counted = `(select c.count from flow_counts c where c.org_id = ${orgId})`;

/** Flows without activity come last both ways; then by name, which no two flows share. */
function orderBy({ sort, sort_direction }: FlowOrder, row: { name: string; active: string }): string {
  return sort === "name"
    ? `${row.name} ${sort_direction}`
    : `${row.active} ${sort_direction} nulls last, ${row.name}`;
}

/** Names the text by everything that makes it another one. */
function named(part: string, order: FlowOrder, { shape }: Filters, text: string): PreparedStatement {
  const sort = order.sort === "name" ? "name" : "activity";
  return { name: `flows-${part}-${sort}-${order.sort_direction}-${shape}`, text };
}

/** The statements for all flows that match. */
export function allStatements(org: Org, filter: FlowFilter, order: FlowOrder): SlicedList {
  const parameters = new Parameters(org.id);
  const filters = filtersOf(parameters, filter);
  const ordering = orderBy(order, { name: "f.name", active: "a.last_modified_at" });
  const text = `with recursive ${filters.with} always as (select true)
    select ${idText("f.id", ordering)} as ids
    from flows f left join flow_activity a on a.org_id = ${orgId} and a.flow_id = f.id where ${filters.where}`;
  return {
    ids: { statement: named("all", order, filters, text), values: parameters.values },
    slice: sliceStatement,
    values: [org.id, JSON.stringify(org.name)],
  };
}

const sliceStatement: PreparedStatement = {
  name: "flows-slice",
  text: `select string_agg(${flowJson}, ',' order by f.place) as items, max(f.place) as last
    from ${askedRows("flows", "$3::uuid[]", "octet_length(r.json_template)")} f
    ${itsActivity}
    where f.archived_at is null and ${lightEnough("f")}`,
};

/** SQL for one page. */
interface PagePlan {
  /** Common table expressions that the others use; empty when there are none. */
  with: string;
  /** The number of all matches. */
  total: string;
  /** The page's texts with commas between them, or null. */
  flows: string;
  /** More of them, which follow; where there can be more. */
  rest?: string;
}

/** SQL for the size of the page and, unless it is the first, for how many rows come before it. */
interface Cut {
  limit: string;
  offset: string | undefined;
}

/** The page's own rows, by their ids. */
function pageRows(ordering: string): string {
  return `page join flows f on f.org_id = ${orgId} and f.id = page.id ${itsActivity} order by ${ordering}`;
}

/** Matches are found once; they are counted and the page is cut from them. Only its own rows are looked at closer. */
function matchedPage(filters: Filters, order: FlowOrder, { limit, offset }: Cut): PagePlan {
  const byActivity = order.sort === "latest_activity";
  const ordering = orderBy(order, { name: "page.name", active: "page.active_at" });
  return {
    with: `${filters.with} matching as materialized (
        select f.id, f.name${byActivity ? ", a.last_modified_at as active_at" : ""} from flows f
        ${byActivity ? `left join flow_activity a on a.org_id = ${orgId} and a.flow_id = f.id` : ""}
        where ${filters.where}
      ), page as (select * from matching page order by ${ordering} limit ${limit} offset ${offset ?? "0"})`,
    total: "(select count(*) from matching)",
    flows: joined(pageRows(ordering)),
  };
}

/** Nothing comes before the first page: its rows are read in order, without finding them by id again. */
function firstByName({ sort_direction }: FlowOrder, { limit }: Cut): PagePlan {
  const order = `order by f.name ${sort_direction}`;
  return {
    with: "",
    total: counted,
    flows: joined(`(select * from flows f where ${living} ${order} limit ${largestPage}) f
      ${itsActivity} ${order} limit ${limit}`),
  };
}

/** What comes before the page is passed over in the index. */
function pageByName({ sort_direction }: FlowOrder, { limit, offset }: Cut): PagePlan {
  return {
    with: `page as (select * from (
        select f.id, f.name from flows f where ${living} order by f.name ${sort_direction}, f.id ${sort_direction}
        limit ${largestPage} offset ${offset}) as largest limit ${limit})`,
    total: counted,
    flows: joined(pageRows(`page.name ${sort_direction}`)),
  };
}

/**
 * The latest activities up to the end of the page, read off their index and sorted within the minute; all that are at one
 * moment, because their names decide on their order. After the first page, `up_to` tells how many there are up to the
 * moment of each.
 */
function activeRows(direction: string, { limit, offset }: Cut): string {
  const order = `active_minute ${direction}, last_modified_at ${direction}`;
  const latest = `from flow_activity where org_id = ${orgId} order by ${order}`;
  return offset === undefined
    ? `select * from (select * ${latest} fetch first ${largestPage} rows with ties) as largest
       order by ${order} fetch first (${limit}) rows with ties`
    : `select *, count(*) over (order by ${order}) as up_to ${latest} fetch first (${limit} + ${offset}) rows with ties`;
}

/** Flows without activity are looked for when the page reaches beyond those with some. */
function pageByActivity({ sort_direction }: FlowOrder, cut: Cut): PagePlan {
  const { limit, offset } = cut;
  const found = "(select count(*) from active)";
  const [reaching, passed, left] =
    offset === undefined
      ? ["", "0", "0"]
      : [
          `where a.up_to > ${offset}`,
          `${offset} - (select count(*) from active where up_to <= ${offset})`,
          `greatest(0, ${offset} - ${found})`,
        ];
  return {
    with: `active as materialized (${activeRows(sort_direction, cut)})`,
    total: counted,
    flows: joined(`active a join flows f on f.org_id = ${orgId} and f.id = a.flow_id and f.archived_at is null
      ${reaching} order by a.last_modified_at ${sort_direction}, f.name limit ${limit} offset ${passed}`),
    rest: joined(`(
        select * from flows f where ${living} and not exists (
          select from flow_activity a where a.org_id = ${orgId} and a.flow_id = f.id)
        order by f.name limit ${largestPage} offset ${left}) f
      cross join (select null::text as json, null::uuid as repo_id, null::text as repo_url) a
      order by f.name limit greatest(0, ${limit} - greatest(0, ${found} - ${offset ?? "0"}))`),
  };
}

function planPage(filters: Filters, order: FlowOrder, cut: Cut): PagePlan {
  if (filters.shape !== "") return matchedPage(filters, order, cut);
  if (order.sort === "latest_activity") return pageByActivity(order, cut);
  return cut.offset === undefined ? firstByName(order, cut) : pageByName(order, cut);
}

/** The statement for one page. There is one text for each order and combination of filters. */
export function pageStatement(
  org: Org,
  filter: FlowFilter,
  { limit, offset, ...order }: FlowOrder & PageOf,
): Bound {
  const parameters = parametersOf(org);
  const filters = filtersOf(parameters, filter);
  const plan = planPage(filters, order, {
    limit: parameters.add(limit, "bigint"),
    offset: offset === 0 ? undefined : parameters.add(offset, "bigint"),
  });
  const text = `${plan.with === "" ? "" : `with recursive ${plan.with}`}
    select coalesce(${plan.total}, 0) as total, ${plan.flows} as flows, ${plan.rest ?? "null"} as rest`;
  const isFirst = offset === 0;
  const statement = named(isFirst ? "first" : "page", order, filters, text);
  return {
    statement: isFirst && filters.shape === "" ? { ...statement, brief: true } : statement,
    values: parameters.values,
  };
}
