import type { Executor } from "../../../../db/connect.ts";
import { integer, json, type RowOf, text, uuid } from "../../../../db/row.ts";
import { hasAnyTag } from "../../../../db/list-filters.ts";
import { empty, join, moment, param, type Parameter, query, raw, type Sql, sql } from "../../../../db/sql.ts";
import { type EventKind, eventKinds } from "../../../../domain/snapshot/annotate.ts";
import type { TagFilter } from "../../../../domain/tags.ts";
import type { TimeWindow } from "../../../../domain/time-window.ts";
import { firstFlowOfVersion } from "../document-sql.ts";
import { event, eventColumns } from "./event-store.ts";

/*
 * Events of all environments. Snapshots say how many of each kind they brought, and an index has them in the order of time
 * with these numbers: events are counted there, and the page is found there, so that only its own events are read. Where the
 * flow or the repo matters, an index has the events themselves in that order.
 */

/** Which events. What is undefined does not matter, an empty list fits none. */
export interface AllEventsFilter extends TimeWindow {
  environment_ids: readonly string[] | undefined;
  types: readonly string[] | undefined;
  tags: TagFilter | undefined;
  /** Those that built the artifact. */
  flow_ids: readonly string[] | undefined;
  repo_ids: readonly string[] | undefined;
  kinds: readonly EventKind[] | undefined;
}

/**
 * Writes SQL for whether the environment of the row `x` is wanted. Those of a type or with a tag may be many: they are looked
 * up in a table made of them, while the window is read in its order.
 */
function inScope(org: Parameter, { environment_ids, types, tags }: AllEventsFilter): Sql {
  const conditions: Sql[] = [];
  if (environment_ids !== undefined) conditions.push(sql`x.environment_id = any(${environment_ids}::uuid[])`);
  const wanted: Sql[] = [];
  if (types !== undefined) wanted.push(sql`e.type = any(${types}::text[])`);
  if (tags !== undefined) wanted.push(hasAnyTag("e", tags));
  const some = sql`select e.id from environments e where e.org_id = ${org}::uuid and e.archived = any ('{f,t}')`;
  if (wanted.length > 0)
    conditions.push(sql`(x.environment_id in (${some} and ${join(wanted, " and ")})) is true`);
  // Logical ones repeat what their members tell.
  if (environment_ids === undefined && types?.includes("logical") !== true)
    conditions.push(sql`x.environment_id not in (${some} and e.type = 'logical')`);
  return conditions.length === 0 ? raw("true") : join(conditions, " and ");
}

function inWindow(org: Parameter, filter: AllEventsFilter): Sql {
  return sql`x.org_id = ${org}::uuid and x.created_at >= ${moment(filter.start_ts)}
    and x.created_at <= ${moment(filter.end_ts)} and ${inScope(org, filter)}`;
}

/** Says whether events have to be looked at themselves. */
function isByOrigin({ flow_ids, repo_ids }: AllEventsFilter): boolean {
  return flow_ids !== undefined || repo_ids !== undefined;
}

/** Writes SQL for whether the event `x` is of an artifact that any of these flows, or of these repos, built. */
function ofOrigin({ flow_ids, repo_ids }: AllEventsFilter): Sql {
  const conditions = [sql`x.type <> 'unchanged'`];
  if (flow_ids !== undefined)
    conditions.push(sql`x.provenance <> '{}' and ${firstFlowOfVersion("x")} = any(${flow_ids}::uuid[])`);
  if (repo_ids !== undefined)
    conditions.push(sql`x.repo_ids <> '{}' and x.repo_ids[1] = any(${repo_ids}::uuid[])`);
  return join(conditions, " and ");
}

const kindConditions: Record<EventKind, Sql> = {
  started: raw("x.type like 'started-%'"),
  exited: raw("x.type = 'exited'"),
  changed: raw("x.type in ('changed', 'updated-provenance')"),
  verdict: raw("x.type like 'became-%'"),
};

/** Writes SQL for whether an event `x` is of one of these kinds. */
function ofKinds(kinds: readonly EventKind[] | undefined): Sql {
  return kinds === undefined
    ? raw("true")
    : sql`(${join(
        kinds.map((kind) => kindConditions[kind]),
        " or ",
      )})`;
}

/** Writes SQL for how many events of these kinds there are with the snapshot `x`. */
function countedKinds(kinds: readonly EventKind[] | undefined): Sql {
  return raw([...new Set(kinds ?? eventKinds)].map((kind) => `x.${kind}_count`).join(" + "));
}

const eventCounts = {
  started: integer,
  exited: integer,
  changed: integer,
  verdict: integer,
  by_environment: json<{ environment_name: string; count: number }[]>(),
};
export type EventCounts = RowOf<typeof eventCounts>;

/** Environments that are counted each for itself. */
const countedEnvironments = raw("50");

/** Writes SQL for the events of each environment by kind. */
function countsByEnvironment(org: Parameter, filter: AllEventsFilter): Sql {
  if (isByOrigin(filter)) {
    const counts = eventKinds.map(
      (kind) => sql`count(*) filter (where ${kindConditions[kind]}) as ${raw(`${kind}_count`)}`,
    );
    return sql`select x.environment_id, ${join(counts)} from snapshot_artifacts x
      where ${inWindow(org, filter)} and ${ofOrigin(filter)} group by x.environment_id`;
  }
  const sums = eventKinds.map((kind) => raw(`sum(x.${kind}_count)::bigint as ${kind}_count`));
  return sql`select x.environment_id, ${join(sums)} from snapshots x where ${inWindow(org, filter)}
    group by x.environment_id`;
}

/**
 * Counts the events by kind, those of all kinds, and by environment, those of the kinds asked for. A day of 100,000
 * environments (13,000 snapshots with 33,000 events, of a million in all) takes 24 ms, a week 150; by flow or repo 1. It grows
 * with the snapshots in the window, not with those before it.
 */
export function countAllEvents(db: Executor, orgId: string, filter: AllEventsFilter): Promise<EventCounts> {
  const org = param(orgId);
  const sums = eventKinds.map((kind) => raw(`coalesce(sum(x.${kind}_count), 0)::bigint as ${kind}`));
  const count = countedKinds(filter.kinds);
  return db.one(query(eventCounts)`
    with per as materialized (${countsByEnvironment(org, filter)})
    select kinds.*, (
      select coalesce(json_agg(json_build_object('environment_name', e.name, 'count', most.count)
        order by most.count desc, e.name), '[]')
      from (
        select x.environment_id, ${count} as count from per x where ${count} > 0
        order by 2 desc, 1 limit ${countedEnvironments}) most
      join environments e on e.org_id = ${org}::uuid and e.id = most.environment_id
    ) as by_environment
    from (select ${join(sums)} from per x) kinds`);
}

const placedEvent = { ...event, id: integer, environment_id: uuid, environment_name: text };
export type PlacedEventRow = RowOf<typeof placedEvent>;

/** A part of the list of events. */
export interface EventSlice {
  limit: number;
  offset: number;
  /** The last event of the part before, and how many of its snapshot were told; the offset does not count then. */
  after?: Pick<PlacedEventRow, "reported_at" | "environment_id" | "snapshot_index" | "id"> & { told: number };
}

/**
 * Lists events, newest first: 1 to 3 ms for a page of 100 in a week of 100,000 environments, 7 to 15 of those with a tag or
 * of a type; page 2,000 takes 95.
 */
export function listAllEvents(
  db: Executor,
  orgId: string,
  filter: AllEventsFilter,
  slice: EventSlice,
): Promise<PlacedEventRow[]> {
  const org = param(orgId);
  return db.all(query(placedEvent)`
    select ${eventColumns(org)}, a.id, a.environment_id, e.name as environment_name
    from (${isByOrigin(filter) ? originEvents(org, filter, slice) : snapshotEvents(org, filter, slice)}) a
    cross join lateral (
      select compliant from snapshots
      where org_id = ${org}::uuid and environment_id = a.environment_id and index = a.first_index limit 1) s
    join environments e on e.org_id = ${org}::uuid and e.id = a.environment_id
    order by a.created_at desc, a.environment_id desc, a.id desc`);
}

/** Writes SQL for events by flow or repo: their keys first, off the index that has them in this order. */
function originEvents(org: Parameter, filter: AllEventsFilter, { limit, offset, after }: EventSlice): Sql {
  const later =
    after === undefined
      ? empty
      : sql`and (x.created_at, x.environment_id, x.id)
          < (${moment(after.reported_at)}, ${after.environment_id}::uuid, ${after.id}::bigint)`;
  return sql`
    select a.* from (
      select x.environment_id, x.id from snapshot_artifacts x
      where ${inWindow(org, filter)} and ${ofOrigin(filter)} and ${ofKinds(filter.kinds)} ${later}
      order by x.created_at desc, x.environment_id desc, x.id desc
      limit ${limit}::bigint offset ${after === undefined ? offset : 0}::bigint) chosen
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${org}::uuid and environment_id = chosen.environment_id and id = chosen.id limit 1) a`;
}

/**
 * Writes SQL for events by their snapshots. Each snapshot found has at least one, so that those of the page are among the
 * first so many; which they are follows from their numbers added up.
 */
function snapshotEvents(org: Parameter, filter: AllEventsFilter, { limit, offset, after }: EventSlice): Sql {
  const [most, skipped] = [param(limit), param(after?.told ?? offset)];
  const wanted = countedKinds(filter.kinds);
  const later =
    after === undefined
      ? empty
      : sql`and (x.created_at, x.environment_id, x.index)
          <= (${moment(after.reported_at)}, ${after.environment_id}::uuid, ${after.snapshot_index}::integer)`;
  const newest = raw("x.created_at desc, x.environment_id desc, x.index desc");
  return sql`
    select a.* from (
      select x.*, sum(x.count) over (order by ${newest} rows unbounded preceding) as upto
      from (
        select x.created_at, x.environment_id, x.index, ${wanted} as count, ${countedKinds(undefined)} as all_events
        from snapshots x where ${inWindow(org, filter)} and ${wanted} > 0 ${later}
        order by ${newest} limit ${skipped}::bigint + ${most}::bigint) x
    ) chosen
    cross join lateral (
      select event_count from snapshots
      where org_id = ${org}::uuid and environment_id = chosen.environment_id and index = chosen.index limit 1) s
    cross join lateral (
      select x.* from snapshot_artifacts x
      where x.org_id = ${org}::uuid and x.environment_id = chosen.environment_id
        and x.event_number > s.event_count - chosen.all_events and x.event_number <= s.event_count
        and ${ofKinds(filter.kinds)}
      order by x.event_number desc
      limit ${most}::bigint offset greatest(0, ${skipped}::bigint - (chosen.upto - chosen.count))) a
    where chosen.upto > ${skipped}::bigint and chosen.upto - chosen.count < ${skipped}::bigint + ${most}::bigint
    order by a.created_at desc, a.environment_id desc, a.id desc limit ${most}::bigint`;
}
