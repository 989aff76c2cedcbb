import type { Executor } from "../../../../db/connect.ts";
import { countRows } from "../../../../db/count-rows.ts";
import { boolean, integer, json, nullable, oneOf, type RowOf, text, timestamp } from "../../../../db/row.ts";
import { constant, join, moment, param, type Parameter, query, type Sql, sql } from "../../../../db/sql.ts";
import { annotationTypes } from "../../../../domain/snapshot/annotate.ts";
import type { NumberRange } from "../../../../domain/snapshot/intervals.ts";
import type { SnapshotFlow } from "../../../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import type { PageSlice } from "../../../../lib/paging.ts";
import { flowIdsOfVersion, flowsOfVersion } from "../document-sql.ts";

/** Conditions on the events of one environment. What is undefined does not matter. */
export interface EventFilter extends NumberRange {
  environment_id: string;
  /** Of artifacts that come from any of these repos. */
  repo_ids?: readonly string[] | undefined;
  kinds?: readonly ("started" | "exited" | "changed")[] | undefined;
  /** Of artifacts that any of these flows knew, or no flow at all. */
  flows?: { ids: readonly string[]; none: boolean } | undefined;
}

/** One change of one artifact. */
export const event = {
  /** Within the environment, from 1: in the order of snapshots, and of artifacts in each. */
  number: integer,
  snapshot_index: integer,
  reported_at: timestamp,
  name: text,
  fingerprint: text,
  type: oneOf(annotationTypes),
  was: integer,
  now: integer,
  compliant: nullable(boolean),
  snapshot_compliant: nullable(boolean),
  flows: json<SnapshotFlow[]>(),
};
export type EventRow = RowOf<typeof event>;

/** Writes SQL for an `EventRow`, of the event `a` and its snapshot `s`. */
export const eventColumns = (
  org: Parameter,
): Sql => sql`a.event_number as number, a.first_index as snapshot_index, a.created_at as reported_at, a.name,
  a.fingerprint, a.type, a.was, a.now, a.compliant, s.compliant as snapshot_compliant,
  ${flowsOfVersion(org)} as flows`;

/** Finds the numbers of all events in snapshots. */
export function findEventRange(
  db: Executor,
  orgId: string,
  environmentId: string,
  { first, last }: NumberRange,
): Promise<NumberRange> {
  const countWith = (index: Sql): Sql => sql`coalesce((
    select event_count from snapshots
    where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and index = ${index}), 0)`;
  return db.one(query("event-range", { first: integer, last: integer })`
    select ${countWith(sql`${first}::integer - 1`)} + 1 as first, ${countWith(sql`${last}::integer`)} as last`);
}

/** Writes SQL for the snapshot of an event `a`, looked up by its key whatever the planner expects. */
function snapshotOf(orgId: string, environmentId: string): Sql {
  return sql`
    cross join lateral (
      select compliant from snapshots
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and index = a.first_index limit 1) s`;
}

/** Events that one statement lists at most, which tells the planner that it is few whatever the numbers are. */
const largestPage = constant(100);

/** Lists all events of these numbers, in their order: `largestPage` at most. */
export function listEvents(
  db: Executor,
  orgId: string,
  environmentId: string,
  { first, last }: NumberRange,
): Promise<EventRow[]> {
  return db.all(query("events", event)`
    select ${eventColumns(param(orgId))}
    from (
      select * from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid
        and event_number between ${first}::bigint and ${last}::bigint
      order by event_number limit ${largestPage}) a
    ${snapshotOf(orgId, environmentId)}
    order by a.event_number`);
}

const kindConditions = {
  started: sql`a.type like 'started%'`,
  exited: sql`a.type = 'exited'`,
  changed: sql`not (a.type like 'started%' or a.type = 'exited')`,
};

/**
 * Writes SQL for whether an event `a` is wanted. Without more conditions, or that of repos, all that is asked for is in the
 * index of events.
 */
function matches(orgId: string, filter: EventFilter): Sql {
  const { environment_id, first, last, repo_ids, kinds, flows } = filter;
  const all = [
    sql`a.org_id = ${orgId}::uuid and a.environment_id = ${environment_id}::uuid
      and a.event_number between ${first}::bigint and ${last}::bigint`,
  ];
  if (repo_ids !== undefined) all.push(sql`a.repo_ids && ${repo_ids}::uuid[]`);
  if (kinds !== undefined) {
    const conditions = kinds.map((kind) => kindConditions[kind]);
    all.push(sql`(${join(conditions, " or ")})`);
  }
  if (flows !== undefined)
    all.push(sql`case when cardinality(a.provenance) = 0 then ${flows.none}::boolean
      else ${flowIdsOfVersion()} && ${flows.ids}::uuid[] end`);
  return join(all, " and ");
}

/** Counts the events that match. */
export function countMatches(db: Executor, orgId: string, filter: EventFilter): Promise<number> {
  return countRows(db, sql`snapshot_artifacts a where ${matches(orgId, filter)}`);
}

/**
 * Lists a page of the events that match, the latest first unless reversed. Their numbers are found first; then each is
 * looked up by its key, whatever the planner expects.
 */
export function listMatches(
  db: Executor,
  orgId: string,
  filter: EventFilter,
  { reverse, limit, offset }: PageSlice & { reverse: boolean },
): Promise<EventRow[]> {
  const { environment_id } = filter;
  const order = reverse ? sql`asc` : sql`desc`;
  return db.all(query(event)`
    select ${eventColumns(param(orgId))}
    from (
      select a.event_number from snapshot_artifacts a where ${matches(orgId, filter)}
      order by a.event_number ${order} limit ${limit} offset ${offset}) chosen
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = ${environment_id}::uuid
        and event_number = chosen.event_number limit 1) a
    ${snapshotOf(orgId, environment_id)}
    order by a.event_number ${order}`);
}

/** Finds the index of the first snapshot made at a moment or later; undefined when there is none. */
export async function findIndexFrom(
  db: Executor,
  orgId: string,
  environmentId: string,
  from: Timestamp,
): Promise<number | undefined> {
  const row = await db.first(query("snapshot-from", { index: integer })`
    select index from snapshots
    where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and created_at >= ${moment(from)}
    order by created_at, index limit 1`);
  return row?.index;
}
