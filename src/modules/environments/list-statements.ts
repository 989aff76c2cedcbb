import type { PreparedStatement } from "../../db/connect.ts";
import { askedRows, idText, lightEnough, type SlicedList } from "../../db/id-list.ts";
import { type Bound, Parameters, spacesBelow, tagCondition } from "../../db/list-statement.ts";
import type { EnvironmentSort, SortDirection } from "../../domain/environments.ts";
import type { TagFilter } from "../../domain/tags.ts";
import { containsPattern } from "../../lib/like.ts";
import { environmentJson, environmentsJson, isAlike, type Occurring } from "./environment-json.ts";

/** Which environments, in which order. A filter that is absent lets everything through, an empty list nothing. */
export interface EnvironmentQuery {
  archived: boolean;
  sort: EnvironmentSort;
  direction: SortDirection;
  types?: string[] | undefined;
  /** Case-insensitive part of the name. */
  name?: string | undefined;
  tags?: TagFilter | undefined;
  /** Ids; each stands for itself and all spaces below it. */
  spaces?: string[] | undefined;
  /** Those that were, or were not, silent for too long at a moment in Unix seconds. */
  stale?: { is: boolean; at: number } | undefined;
}

/** Which rows of the list: at most 50, the most a page can have (interface spec 8). */
export interface PageOf {
  limit: number;
  offset: number;
}

const largestPage = 50;

/** The trigram index helps from three characters on. */
const shortestIndexedText = 3;

interface Filters {
  /** Conditions on the row `e`, but for its type. */
  where: string;
  /** Common table expressions that the conditions use, each with its comma. */
  with: string;
  /** Condition on the type of the row of this alias, when types were asked for. */
  ofType: ((alias: string) => string) | undefined;
  /** The types, when there are several. */
  types: string | undefined;
  /** Whether the matches have to be counted one by one, because no counter has their number. */
  counted: boolean;
  /** Tells the text of one combination of filters from all others. */
  shape: string;
}

function nameCondition(parameters: Parameters, text: string): string {
  return text.length < shortestIndexedText
    ? `position(${parameters.add(text.toLowerCase(), "text")} in lower(e.name)) > 0`
    : `lower(e.name) like ${parameters.add(containsPattern(text), "text")}`;
}

/** Everything is looked up by the row's key: nothing is indexed for it that reports would have to keep. */
function staleCondition(parameters: Parameters, stale: { is: boolean; at: number }): string {
  const at = parameters.add(stale.at, "float8");
  return `(e.type <> 'logical' and not e.archived and coalesce(greatest(
      coalesce(e.last_reported_at, case when e.silence_limit is not null then e.created_at end),
      (select w.since from silence_watch w)) + make_interval(secs => coalesce(e.silence_limit, (
        select r.learned_limit from environment_reports r where r.org_id = e.org_id and r.environment_id = e.id)))
    < to_timestamp(${at}), false)) = ${stale.is}`;
}

function filtersOf(parameters: Parameters, org: string, query: EnvironmentQuery): Filters {
  const where = [`e.org_id = ${org}`, `e.archived = ${parameters.add(query.archived, "boolean")}`];
  const shape: string[] = [];
  const filters: Filters = {
    where: "",
    with: "",
    ofType: undefined,
    types: undefined,
    counted: false,
    shape: "",
  };
  const types = query.types && [...new Set(query.types)];
  if (types?.length === 1) {
    const type = parameters.add(types[0], "text");
    filters.ofType = (alias) => `${alias}.type = ${type}`;
    shape.push("type");
  } else if (types !== undefined) {
    const several = parameters.add(types, "text[]");
    filters.types = several;
    filters.ofType = (alias) => `${alias}.type = any(${several})`;
    shape.push("types");
  }
  if (query.name !== undefined && query.name !== "") {
    where.push(nameCondition(parameters, query.name));
    shape.push(query.name.length < shortestIndexedText ? "short" : "name");
  }
  if (query.tags !== undefined) {
    where.push(tagCondition(parameters, "e", query.tags));
    shape.push("tag");
  }
  if (query.spaces !== undefined) {
    filters.with = spacesBelow(org, parameters.add(query.spaces, "uuid[]"));
    where.push("e.space_id = any(array(select id from below))");
    shape.push("space");
  }
  if (query.stale !== undefined) {
    where.push(staleCondition(parameters, query.stale));
    shape.push(query.stale.is ? "stale" : "fresh");
  }
  filters.counted = shape.some((part) => !part.startsWith("type"));
  return { ...filters, where: where.join(" and "), shape: shape.join("-") };
}

function allConditions({ where, ofType }: Filters): string {
  return ofType === undefined ? where : `${where} and ${ofType("e")}`;
}

/** Which texts of environments a list may have to make; part of the statement's name. */
function occurringIn({ archived, types }: EnvironmentQuery): Occurring & { archived: boolean } {
  return { archived, logical: types === undefined || types.includes("logical") };
}

/** Sort key, then name, then id; what has no sort key comes last both ways (S3). */
function orderBy(alias: string, { sort, direction }: EnvironmentQuery): string {
  if (sort === "name") return `${alias}.name ${direction}, ${alias}.id ${direction}`;
  const nulls = sort === "last_changed_at" ? " nulls last" : "";
  return `${alias}.${sort} ${direction}${nulls}, ${alias}.name, ${alias}.id`;
}

function columns(alias: string, { sort }: EnvironmentQuery): string {
  return `${alias}.id, ${alias}.name${sort === "name" ? "" : `, ${alias}.${sort}`}`;
}

/** How one page is found, and how many matches there are in all. */
interface PagePlan {
  /** Common table expressions that the rows use; empty when there are none. */
  with: string;
  /** What follows `from`, with the page's rows as `e`. */
  rows: string;
  order: string;
  /** SQL for the number of all matches. */
  total: string;
}

/** The page is found first, by what an index has of it; only its own rows are read. */
function pageOf(found: { with: string; total: string }, query: EnvironmentQuery): PagePlan {
  return {
    ...found,
    rows: "page join environments e on e.org_id = $1::uuid and e.id = page.id",
    order: orderBy("page", query),
  };
}

/** Matches are found once, by the index of their filter; they are counted and the page is cut from them. */
function countedPage(filters: Filters, query: EnvironmentQuery, cut: Cut): PagePlan {
  const matching = `matching as materialized (
      select ${columns("e", query)} from environments e where ${allConditions(filters)})`;
  const page = cutOut(`select * from matching m order by ${orderBy("m", query)}`, cut);
  return pageOf(
    { with: `${filters.with} ${matching}, page as (${page})`, total: "(select count(*) from matching)" },
    query,
  );
}

/** The page is read off the index in its order, and the counter knows the number of all. */
function orderedPage(filters: Filters, query: EnvironmentQuery, cut: Cut): PagePlan {
  const rows = `select ${columns("e", query)} from environments e where ${allConditions(filters)}
      order by ${orderBy("e", query)}`;
  return pageOf({ with: `page as (${cutOut(rows, cut)})`, total: counter(filters) }, query);
}

/** Nothing comes before the first page: its rows are read in order, without finding them by id again. */
function firstPage(filters: Filters, query: EnvironmentQuery, cut: Cut): PagePlan {
  const read = isAlike(occurringIn(query)) ? `e.json, ${columns("e", query)}` : "*";
  const rows = `select ${read} from environments e where ${allConditions(filters)} order by ${orderBy("e", query)}`;
  return {
    with: "",
    rows: `(${rows} limit ${largestPage}) as e`,
    order: `${orderBy("e", query)} limit ${cut.limit}`,
    total: counter(filters),
  };
}

/** By name, the types' own indexes are merged: rare types cost no more than frequent ones. */
function mergedPage(filters: Filters, query: EnvironmentQuery, cut: Cut): PagePlan {
  const deep = cut.offset === undefined ? String(largestPage) : `${largestPage} + ${cut.offset}`;
  const rows = `select t.* from unnest(${filters.types}) as wanted (type) cross join lateral (
        select ${columns("e", query)} from environments e
        where ${filters.where} and e.type = wanted.type
        order by ${orderBy("e", query)} limit ${deep}) t
      order by ${orderBy("t", query)}`;
  return pageOf({ with: `page as (${cutOut(rows, cut)})`, total: counter(filters) }, query);
}

function counter(filters: Filters): string {
  const where = filters.ofType === undefined ? "" : ` and ${filters.ofType("c")}`;
  return `(select coalesce(sum(c.count), 0) from environment_counts c
    where c.org_id = $1::uuid and c.archived = $3::boolean${where})`;
}

/** SQL for the size of the page and, unless it is the first, for how many rows come before it. */
interface Cut {
  limit: string;
  offset: string | undefined;
}

/**
 * The page's rows. The limit stands there twice because the planner cannot see the value of a parameter: only from a
 * constant it learns that so few rows are wanted that the plan for any values, made once, is a good one.
 */
function cutOut(rows: string, { limit, offset }: Cut): string {
  const start = offset === undefined ? "" : ` offset ${offset}`;
  return `select * from (${rows} limit ${largestPage}${start}) as largest limit ${limit}`;
}

function planPage(filters: Filters, query: EnvironmentQuery, cut: Cut): PagePlan {
  if (filters.counted) return countedPage(filters, query, cut);
  if (filters.types !== undefined && query.sort === "name") return mergedPage(filters, query, cut);
  return cut.offset === undefined ? firstPage(filters, query, cut) : orderedPage(filters, query, cut);
}

function orderName({ sort, direction }: EnvironmentQuery): string {
  return `${sort.replace(/^last_|_at$/g, "")}-${direction}`;
}

/** Names the text by everything that makes it another one. */
function statement(
  part: string,
  query: EnvironmentQuery,
  { shape }: Filters,
  text: string,
): PreparedStatement {
  const { archived, logical } = occurringIn(query);
  const occurring = `${archived ? "past" : "live"}${logical ? "-group" : ""}`;
  // The database tells names apart by their first 63 characters.
  return { name: `envs-${part}-${orderName(query)}-${occurring}-${shape}`, text };
}

/** Whose environments, and what the replies call it. */
export interface Org {
  id: string;
  name: string;
}

/** The statement for one page. There is one text for each order and combination of filters. */
export function pageStatement(org: Org, query: EnvironmentQuery, page: PageOf): Bound {
  const parameters = new Parameters();
  const orgId = parameters.add(org.id, "uuid");
  const orgName = parameters.add(JSON.stringify(org.name), "text");
  const filters = filtersOf(parameters, orgId, query);
  const plan = planPage(filters, query, {
    limit: parameters.add(page.limit, "bigint"),
    offset: page.offset === 0 ? undefined : parameters.add(page.offset, "bigint"),
  });
  const text = `${plan.with === "" ? "" : `with recursive ${plan.with}`}
    select ${plan.total}::bigint as total,
      ${environmentsJson("e", orgName, { ...plan, occurring: occurringIn(query) })} as environments`;
  return {
    statement: {
      ...statement(page.offset === 0 ? "first" : "page", query, filters, text),
      ...(page.offset === 0 && !filters.counted ? { brief: true } : {}),
    },
    values: parameters.values,
  };
}

/** The statements for everything that matches. */
export function allStatements(org: Org, query: EnvironmentQuery): SlicedList {
  const parameters = new Parameters();
  const orgId = parameters.add(org.id, "uuid");
  const filters = filtersOf(parameters, orgId, query);
  const text = `with recursive ${filters.with} always as (select true)
    select ${idText("e.id", orderBy("e", query))} as ids from environments e where ${allConditions(filters)}`;
  return {
    ids: {
      statement: { name: `envs-all-${orderName(query)}-${filters.shape}`, text },
      values: parameters.values,
    },
    slice: sliceStatement,
    values: [org.id, JSON.stringify(org.name), query.archived],
  };
}

const sliceStatement: PreparedStatement = {
  name: "envs-slice",
  text: `select string_agg(${environmentJson("e", "$2::text")}, ',' order by e.place) as items, max(e.place) as last
    from ${askedRows("environments", "$4::uuid[]", "octet_length(r.json)")} e
    where e.archived = $3::boolean and ${lightEnough("e")}`,
};
