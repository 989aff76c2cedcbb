import type { Executor } from "../../../db/connect.ts";
import { integer, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { constant, empty, join, moment, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { SortDirection } from "../../../domain/environments.ts";
import { type RunningSort, type RunningVerdict, verdicts } from "../../../domain/running.ts";
import type { TagFilter } from "../../../domain/tags.ts";
import { containsPattern } from "../../../lib/like.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { filtersOf } from "../../runtime/environments/list-filters-sql.ts";

/*
 * What runs is looked for in `running_artifacts`, whose rows are narrow. Of 330,000 artifacts in 100,000 environments, on two
 * cores with a load of 10: a page without filters is read off the index of its order (2 ms) and the
 * total is known; a filter that fits many counts them in an index (60); a filter that fits few finds them in an index of its own (1 to 20); part of a name is looked for in all names, in their index alone (110). A
 * page far down the list of environments counts each environment's and reads those it touches (400), in other orders it passes over the index
 * (400 for the last one). What a list costs is bounded by what runs, whatever ran before.
 */

/** Which artifacts. What is undefined does not matter, an empty list fits nothing. */
export interface RunningFilter {
  /** Of these environments, which are physical. */
  environment_ids?: readonly string[] | undefined;
  /** Of environments of these types, with any of these tags, in these spaces or below. */
  types?: readonly string[] | undefined;
  tags?: TagFilter | undefined;
  spaces?: readonly string[] | undefined;
  /** That any of these flows knows. */
  flow_ids?: readonly string[] | undefined;
  /** Built from any of these repos. */
  repo_ids?: readonly string[] | undefined;
  /** Case-insensitive part of the name. */
  name?: string | undefined;
  /** The beginning of the fingerprint. */
  fingerprint?: string | undefined;
  verdicts?: readonly RunningVerdict[] | undefined;
  /** Whether any flow knows them. */
  known?: boolean | undefined;
  allow_listed?: boolean | undefined;
}

export interface RunningOrder {
  sort: RunningSort;
  direction: SortDirection;
}

const runningKey = {
  environment_id: uuid,
  id: integer,
  /** Only where the order needs it. */
  environment_name: nullable(text),
  name_start: text,
  started_at: timestamp,
  verdict: integer,
  /** Of all matches; null where finding the page does not tell it. */
  total: nullable(integer),
};

/** An artifact that runs, with what decides on its place in any order. */
export type RunningKey = RowOf<typeof runningKey>;

/** Digits of fingerprints are below this letter. */
const afterDigits = "g";

/** Tests whether any of these flows knows `r`: an index has the first one of each, another what several flows know. */
function knownToAny(flowIds: readonly string[]): Sql {
  const flows = param(flowIds);
  return sql`(r.flow_ids[1] = any(${flows}::uuid[]) or (cardinality(r.flow_ids) > 1 and r.flow_ids && ${flows}::uuid[]))`;
}

function ownConditions(filter: RunningFilter): Sql[] {
  const { environment_ids, flow_ids, repo_ids, name, fingerprint, known, allow_listed } = filter;
  const all: Sql[] = [];
  if (environment_ids !== undefined) all.push(sql`r.environment_id = any(${environment_ids}::uuid[])`);
  if (flow_ids !== undefined) all.push(knownToAny(flow_ids));
  if (repo_ids !== undefined) all.push(sql`r.repo_id = any(${repo_ids}::uuid[])`);
  if (name !== undefined && name !== "")
    all.push(sql`r.name_start like ${containsPattern(name.toLowerCase())}::text`);
  if (fingerprint !== undefined)
    all.push(sql`r.fingerprint >= ${fingerprint} and r.fingerprint < ${fingerprint + afterDigits}`);
  if (filter.verdicts !== undefined)
    all.push(
      sql`r.verdict = any(${filter.verdicts.map((verdict) => verdicts.indexOf(verdict))}::smallint[])`,
    );
  if (known !== undefined) all.push(known ? sql`r.flow_ids <> '{}'` : sql`r.flow_ids = '{}'`);
  if (allow_listed !== undefined) all.push(allow_listed ? sql`r.allow_listed` : sql`not r.allow_listed`);
  return all;
}

/** Says whether an index finds what a filter asks for, which is few among many. */
function isSelective({ environment_ids, flow_ids, repo_ids, fingerprint }: RunningFilter): boolean {
  return [environment_ids, flow_ids, repo_ids, fingerprint].some((given) => given !== undefined);
}

/** Artifacts that are looked at to guess how many match, and how many of them have to match so that pages are soon full. */
const [sampled, enough] = [constant(2000), 20];

/**
 * Guesses whether a filter fits few among many: then those are found first, whatever the order. Otherwise the order is followed
 * until the page is full. Only time depends on it.
 */
async function areFew(db: Executor, orgId: string, filter: RunningFilter): Promise<boolean> {
  const { name, known, allow_listed } = filter;
  if (isSelective(filter)) return true;
  if ((name ?? "") === "" && known !== false && allow_listed !== true) return false;
  const own = join(ownConditions({ name, known, allow_listed }), " and ");
  const { count } = await db.one(query({ count: integer })`
    select count(*) as count from (
      select * from running_artifacts where org_id = ${orgId}::uuid limit ${sampled}) r where ${own}`);
  return count < enough;
}

/** The environments that are asked for. */
interface Places {
  /** Common table expressions that `where` uses, each with its comma. */
  with: Sql;
  /** Conditions on the row `e`; undefined when only archived ones are left out. */
  where: Sql | undefined;
}

function placesOf(org: Sql, { types, tags, spaces }: RunningFilter): Places {
  if (types === undefined && tags === undefined && spaces === undefined)
    return { with: empty, where: undefined };
  const asked = filtersOf(org, { archived: false, types, tags, spaces });
  const ofType = asked.ofType === undefined ? [] : [asked.ofType("e")];
  return { with: asked.with, where: join([asked.where, ...ofType], " and ") };
}

const ofEnvironment = sql`join environments e on e.org_id = r.org_id and e.id = r.environment_id`;

/** What a statement reads of the matches. */
interface Shown {
  columns: Sql;
  /** Whether the order needs the environment's name, as `e.name`. */
  needsName: boolean;
  /** More conditions. */
  after?: readonly Sql[];
  /** Whether they are found first, and once. */
  materialized?: boolean;
}

/**
 * Writes `with` and the common table expressions of a statement, the last one `matching`: the artifacts `r` that match,
 * with their environments `e` where those are asked about. Otherwise it is enough to know which environments are archived:
 * those are few.
 */
function withMatching(orgId: string, filter: RunningFilter, shown: Shown): Sql {
  const { columns, needsName, after = [], materialized = false } = shown;
  const org = sql`${param(orgId)}::uuid`;
  const own = [sql`r.org_id = ${org}`, ...ownConditions(filter), ...after];
  const places = placesOf(org, filter);
  const as = materialized ? sql`as materialized` : sql`as not materialized`;
  if (!needsName && places.where === undefined)
    return sql`with matching ${as} (
      select ${columns} from running_artifacts r where ${join(own, " and ")} and r.environment_id not in (
        select id from environments where org_id = ${org} and archived))`;
  const living = places.where ?? sql`not e.archived`;
  return sql`with recursive ${places.with} matching ${as} (
    select ${columns} from running_artifacts r ${ofEnvironment} where ${join([...own, living], " and ")})`;
}

/** What decides on the place of an artifact, first things first: columns of `matching`. */
const orders: Record<RunningSort, readonly string[]> = {
  environment: ["environment_name", "name_start", "id"],
  name: ["name_start", "environment_id", "id"],
  started_at: ["started_at", "environment_id", "id"],
  compliant: ["verdict", "environment_id", "id"],
};

/** The same as the rows `r` and `e` have it. */
const sources: Record<RunningSort, readonly Sql[]> = {
  environment: [sql`e.name`, sql`r.name_start`, sql`r.id`],
  name: [sql`r.name_start`, sql`r.environment_id`, sql`r.id`],
  started_at: [sql`r.started_at`, sql`r.environment_id`, sql`r.id`],
  compliant: [sql`r.verdict`, sql`r.environment_id`, sql`r.id`],
};

function placeOf(sort: RunningSort, key: RunningKey): readonly Sql[] {
  const { environment_id, id, environment_name, name_start, started_at, verdict } = key;
  switch (sort) {
    case "environment":
      return [sql`${environment_name}::text`, sql`${name_start}::text`, sql`${id}::bigint`];
    case "name":
      return [sql`${name_start}::text`, sql`${environment_id}::uuid`, sql`${id}::bigint`];
    case "started_at":
      return [moment(started_at), sql`${environment_id}::uuid`, sql`${id}::bigint`];
    case "compliant":
      return [sql`${verdict}::smallint`, sql`${environment_id}::uuid`, sql`${id}::bigint`];
  }
}

/** Writes the conditions for what comes after a row in an order; the first one is for its index. */
function comesAfter({ sort, direction }: RunningOrder, key: RunningKey | undefined): Sql[] {
  if (key === undefined) return [];
  const [columns, place] = [sources[sort], placeOf(sort, key)];
  const [first, start] = [join(columns.slice(0, 1)), join(place.slice(0, 1))];
  const later = raw(direction === "asc" ? ">" : "<");
  return [sql`${first} ${later}= ${start}`, sql`(${join(columns)}) ${later} (${join(place)})`];
}

function keyColumns({ sort }: RunningOrder): Sql {
  const name = sort === "environment" ? sql`e.name` : sql`null::text`;
  return sql`r.environment_id, r.id, ${name} as environment_name, r.name_start, r.started_at, r.verdict`;
}

function orderBy({ sort, direction }: RunningOrder): Sql {
  return raw(orders[sort].map((column) => `${column} ${direction}`).join(", "));
}

/** Lists the artifacts that come after one in the order; all such steps together look at each artifact once. */
export function listRunningAfter(
  db: Executor,
  orgId: string,
  filter: RunningFilter,
  order: RunningOrder & { after: RunningKey | undefined; limit: number },
): Promise<RunningKey[]> {
  const { after, limit } = order;
  const shown = {
    columns: keyColumns(order),
    needsName: order.sort === "environment",
    after: comesAfter(order, after),
  };
  return db.all(query(runningKey)`
    ${withMatching(orgId, filter, shown)}
    select *, null::bigint as total from matching order by ${orderBy(order)} limit ${limit}::bigint`);
}

/** Rows that are passed over one by one at most, to get to a page in the order of environments. */
const passedOver = 1000;

/** Lists the artifacts on a page. */
export async function listRunningKeys(
  db: Executor,
  orgId: string,
  filter: RunningFilter,
  order: RunningOrder & PageSlice,
): Promise<RunningKey[]> {
  const { limit, offset, sort } = order;
  const materialized = await areFew(db, orgId, filter);
  if (!materialized && sort === "environment" && offset > passedOver)
    return listDistantKeys(db, orgId, filter, order);
  const shown = { columns: keyColumns(order), needsName: sort === "environment", materialized };
  const total = materialized ? sql`(select count(*) from matching)` : sql`null::bigint`;
  return db.all(query(runningKey)`
    ${withMatching(orgId, filter, shown)}
    select *, ${total} as total from matching order by ${orderBy(order)} limit ${limit}::bigint offset ${offset}::bigint`);
}

/**
 * Lists the artifacts on a page far from the first one, in the order of environments: how many match is counted for each
 * environment, and only those that the page touches are read.
 */
function listDistantKeys(
  db: Executor,
  orgId: string,
  filter: RunningFilter,
  order: RunningOrder & PageSlice,
): Promise<RunningKey[]> {
  const org = sql`${param(orgId)}::uuid`;
  const own = join([sql`r.org_id = ${org}`, ...ownConditions(filter)], " and ");
  const places = placesOf(org, filter);
  const [offset, limit] = [param(order.offset), param(order.limit)];
  return db.all(query(runningKey)`
    with recursive ${places.with} counts as (
      select r.environment_id, count(*) as count from running_artifacts r where ${own} group by r.environment_id
    ), places as (
      select e.id, e.name, counts.count, sum(counts.count) over (order by e.name ${raw(order.direction)}) as until,
        sum(counts.count) over () as total
      from counts join environments e on e.org_id = ${org} and e.id = counts.environment_id
      where ${places.where ?? sql`not e.archived`}
    ), touched as materialized (
      select id, name, until - count as before, total from places
      where until > ${offset}::bigint and until - count < ${offset}::bigint + ${limit}::bigint
    )
    select ${keyColumns(order)}, e.total::bigint as total
    from touched e join running_artifacts r on r.environment_id = e.id where ${own}
    order by ${orderBy(order)} limit ${limit}::bigint offset ${offset}::bigint - (select min(before) from touched)`);
}

const artifactCounts = { all: integer, unproven: integer, allowed: integer };

/** Tells a number that is kept, of all that runs or of what one filter lets through; undefined for others. */
async function countKept(db: Executor, orgId: string, filter: RunningFilter): Promise<number | undefined> {
  const { known, allow_listed, ...others } = filter;
  const isKept =
    Object.values(others).every((given) => given === undefined) &&
    (known === undefined || allow_listed === undefined);
  if (!isKept) return undefined;
  const kept = await db.one(query("running-total", artifactCounts)`
    select coalesce(sum(artifacts), 0)::bigint as all, coalesce(sum(unproven), 0)::bigint as unproven,
      coalesce(sum(allowed), 0)::bigint as allowed
    from environment_tallies where org_id = ${orgId}::uuid`);
  if (known !== undefined) return known ? kept.all - kept.unproven : kept.unproven;
  if (allow_listed !== undefined) return allow_listed ? kept.allowed : kept.all - kept.allowed;
  return kept.all;
}

/** Counts the artifacts that match: by what is kept, or in an index. */
export async function countRunning(db: Executor, orgId: string, filter: RunningFilter): Promise<number> {
  const kept = await countKept(db, orgId, filter);
  if (kept !== undefined) return kept;
  const matching = withMatching(orgId, filter, { columns: empty, needsName: false });
  const { count } = await db.one(
    query({ count: integer })`${matching} select count(*) as count from matching`,
  );
  return count;
}
