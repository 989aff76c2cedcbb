import type { PreparedStatement } from "../../db/connect.ts";
import type { TagFilter } from "../../domain/tags.ts";

/** Which flows. A filter that is absent lets everything through, an empty list nothing. */
export interface FlowFilter {
  /** Part of the name. */
  search: string | undefined;
  case_sensitive: boolean;
  /** Any of these spaces, or a space below one of them. */
  space_ids: string[] | undefined;
  tags: TagFilter | undefined;
}

export interface FlowOrder {
  sort: "name" | "latest_activity";
  sort_direction: "asc" | "desc";
}

/** Which rows of the list: at most 100, the most a page can have. */
export interface PageOf {
  limit: number;
  offset: number;
}

/** Whose flows, and what the replies call it. */
export interface Org {
  id: string;
  name: string;
}

/** A statement with its values, for running it or for looking at its plan. */
export interface Bound {
  statement: PreparedStatement;
  values: unknown[];
}

/**
 * Stands for the size of a page where the planner is to learn that few rows are wanted. It cannot see the value of a
 * parameter; from a constant the plan for any values, made once, is a good one.
 */
const largestPage = 100;

/** Gathers the values of a statement and hands out their places. The organization comes first. */
class Parameters {
  readonly values: unknown[];
  constructor(org: Org) {
    this.values = [org.id, JSON.stringify(org.name)];
  }
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

const [orgId, orgName] = ["$1::uuid", "$2::text"];

/**
 * SQL for the JSON of the flow `f` with its activity `a`, keys in the published order. All but the URL of a repo stands
 * ready in the rows.
 */
const flowJson = `f.json_head || ${orgName} || f.json_template || case
    when a.repo_url is not null then to_json(a.repo_url)::text
    when a.repo_id is not null then (
      select to_json(r.url)::text from repos r where r.org_id = ${orgId} and r.id = a.repo_id)
    else '""' end || f.json_tail || coalesce(a.json, 'null,"latest_state":null}')`;

/**
 * SQL for the texts of some flows, each after a comma but the first; null when there are none. The brackets are left to
 * the reader: each time such a long text is added to, it is copied.
 */
function joined(from: string): string {
  return `(select string_agg(shown.json, ',') from (select ${flowJson} as json from ${from}) as shown)`;
}

const living = `f.org_id = ${orgId} and f.archived_at is null`;

/** Looked up flow by flow, however little is known of the table. */
const itsActivity = `left join lateral (
    select * from flow_activity a where a.org_id = ${orgId} and a.flow_id = f.id limit 1) a on true`;

const counted = `(select c.count from flow_counts c where c.org_id = ${orgId})`;

interface Filters {
  /** Condition on the row `f`. */
  where: string;
  /** Common table expression that the condition uses, with its comma. */
  with: string;
  /** Tells the text of one combination of filters from all others; empty when there are none. */
  shape: string;
}

function searchCondition(search: string, caseSensitive: boolean): string {
  return caseSensitive ? `strpos(f.name, ${search}) > 0` : `strpos(lower(f.name), lower(${search})) > 0`;
}

function spacesBelow(roots: string): string {
  return `below (id) as (
    select s.id from spaces s where s.org_id = ${orgId} and s.id = any(${roots})
    union
    select s.id from spaces s join below on s.org_id = ${orgId} and s.parent_id = below.id
  ),`;
}

function tagCondition(parameters: Parameters, tags: TagFilter): string {
  const keys = parameters.add(tags.keys, "text[]");
  const pairs = tags.pairs.map(([key, value]) => JSON.stringify({ [key]: value }));
  return `(f.tags ?| ${keys} or f.tags @> any(${parameters.add(pairs, "jsonb[]")}))`;
}

function filtersOf(parameters: Parameters, filter: FlowFilter): Filters {
  const where = [living];
  const shape: string[] = [];
  const { search, case_sensitive, space_ids, tags } = filter;
  if (search !== undefined) {
    where.push(searchCondition(parameters.add(search, "text"), case_sensitive));
    shape.push(case_sensitive ? "name" : "any-case");
  }
  if (space_ids !== undefined) {
    where.push("f.space_id = any(array(select id from below))");
    shape.push("space");
  }
  if (tags !== undefined) {
    where.push(tagCondition(parameters, tags));
    shape.push("tag");
  }
  return {
    where: where.join(" and "),
    with: space_ids === undefined ? "" : spacesBelow(parameters.add(space_ids, "uuid[]")),
    shape: shape.join("-"),
  };
}

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

/** The statement for all flows that match. */
export function allStatement(org: Org, filter: FlowFilter, order: FlowOrder): Bound {
  const parameters = new Parameters(org);
  const filters = filtersOf(parameters, filter);
  const ordering = orderBy(order, { name: "f.name", active: "a.last_modified_at" });
  const rows = `flows f left join flow_activity a on a.org_id = ${orgId} and a.flow_id = f.id
      where ${filters.where} order by ${ordering}`;
  const text = `with recursive ${filters.with} always as (select true)
    select ${joined(rows)} as flows`;
  return { statement: named("all", order, filters, text), values: parameters.values };
}

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
 * The latest activities are read off their index and sorted within the minute, those at the same moment by name. Flows
 * without any are looked for when the page reaches beyond those with some.
 */
function pageByActivity({ sort_direction }: FlowOrder, { limit, offset }: Cut): PagePlan {
  const latest = (direction: string) =>
    `active_minute ${direction}, last_modified_at ${direction} fetch first`;
  const first = `select * from (
      select * from flow_activity a where a.org_id = ${orgId}
      order by ${latest(sort_direction)} ${largestPage} rows with ties) as largest
    order by ${latest(sort_direction)} (${limit}) rows with ties`;
  // What is at the same moment as the first on the page may belong before it, and so is looked at, too.
  const further = `select *, count(*) over (order by active_minute ${sort_direction}, last_modified_at ${sort_direction}) as up_to
    from flow_activity a where a.org_id = ${orgId}
    order by ${latest(sort_direction)} (${limit} + ${offset}) rows with ties`;
  const [before, passed] =
    offset === undefined ? ["0", "0"] : [offset, `(select count(*) from active where up_to <= ${offset})`];
  const found = "(select count(*) from active)";
  return {
    with: `active as materialized (${offset === undefined ? first : further})`,
    total: counted,
    flows: joined(`active a join flows f on f.org_id = ${orgId} and f.id = a.flow_id and f.archived_at is null
      ${offset === undefined ? "" : `where a.up_to > ${offset}`}
      order by a.last_modified_at ${sort_direction}, f.name limit ${limit} offset ${before} - ${passed}`),
    rest: joined(`(
        select * from flows f where ${living} and not exists (
          select from flow_activity a where a.org_id = ${orgId} and a.flow_id = f.id)
        order by f.name limit ${largestPage} offset greatest(0, ${before} - ${found})) f
      cross join (select null::text as json, null::uuid as repo_id, null::text as repo_url) a
      order by f.name limit greatest(0, ${limit} - greatest(0, ${found} - ${before}))`),
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
  const parameters = new Parameters(org);
  const filters = filtersOf(parameters, filter);
  const plan = planPage(filters, order, {
    limit: parameters.add(limit, "bigint"),
    offset: offset === 0 ? undefined : parameters.add(offset, "bigint"),
  });
  const text = `${plan.with === "" ? "" : `with recursive ${plan.with}`}
    select coalesce(${plan.total}, 0) as total, ${plan.flows} as flows${plan.rest === undefined ? "" : `, ${plan.rest} as rest`}`;
  return {
    statement: named(offset === 0 ? "first" : "page", order, filters, text),
    values: parameters.values,
  };
}
