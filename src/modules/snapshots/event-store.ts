import { type RawBuilder, sql } from "kysely";

import { instant } from "../../db/columns.ts";
import type { Executor } from "../../db/connect.ts";
import type { AnnotationType } from "../../domain/snapshot/annotate.ts";
import type { NumberRange } from "../../domain/snapshot/intervals.ts";
import type { SnapshotFlow } from "../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** Which events of one environment, by their numbers and more. What is undefined does not matter. */
export interface EventFilter extends NumberRange {
  environment_id: string;
  /** Of artifacts that come from any of these repos. */
  repo_ids?: readonly string[] | undefined;
  kinds?: readonly ("started" | "exited" | "changed")[] | undefined;
  /** Of artifacts that any of these flows knew, or no flow at all. */
  flows?: { ids: readonly string[]; none: boolean } | undefined;
}

/** One change of one artifact. */
export interface EventRow {
  /** Within the environment, from 1: in the order of snapshots, and of artifacts in each. */
  number: number;
  snapshot_index: number;
  reported_at: Timestamp;
  name: string;
  fingerprint: string;
  type: AnnotationType;
  was: number;
  now: number;
  compliant: boolean | null;
  snapshot_compliant: boolean | null;
  flows: SnapshotFlow[];
}

/** The numbers of all events in snapshots. */
export async function findEventRange(
  db: Executor,
  orgId: string,
  environmentId: string,
  { first, last }: NumberRange,
): Promise<NumberRange> {
  const countWith = (index: RawBuilder<unknown>): RawBuilder<unknown> => sql`coalesce((
    select event_count from snapshots
    where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and index = ${index}), 0)`;
  const { rows } = await sql<NumberRange>`/* event-range */
    select ${countWith(sql`${first}::integer - 1`)} + 1 as first, ${countWith(sql`${last}::integer`)} as last`.execute(
    db,
  );
  return rows[0]!;
}

const columns = sql`a.event_number as number, a.first_index as snapshot_index, a.created_at as reported_at, a.name,
  a.fingerprint, a.type, a.was, a.now, a.compliant, s.compliant as snapshot_compliant, a.flows`;

/** The snapshot of an event `a`, looked up by its key whatever the planner expects. */
function snapshotOf(orgId: string, environmentId: string): RawBuilder<unknown> {
  return sql`
    cross join lateral (
      select compliant from snapshots
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and index = a.first_index limit 1) s`;
}

/** Events that one statement lists at most, which tells the planner that it is few whatever the numbers are. */
const largestPage = 100;

/** All events of these numbers, in their order: `largestPage` at most. */
export async function listEvents(
  db: Executor,
  orgId: string,
  environmentId: string,
  { first, last }: NumberRange,
): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`/* events */
    select ${columns}
    from (
      select * from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid
        and event_number between ${first}::bigint and ${last}::bigint
      order by event_number limit ${sql.raw(String(largestPage))}) a
    ${snapshotOf(orgId, environmentId)}
    order by a.event_number`.execute(db);
  return rows;
}

const kindConditions = {
  started: sql`a.type like 'started%'`,
  exited: sql`a.type = 'exited'`,
  changed: sql`not (a.type like 'started%' or a.type = 'exited')`,
};

/** The events as `a`. Without more conditions, or that of repos, all that is asked for is in the index of events. */
function matches(orgId: string, filter: EventFilter): RawBuilder<unknown> {
  const { environment_id, first, last, repo_ids, kinds, flows } = filter;
  const all = [
    sql`a.org_id = ${orgId}::uuid and a.environment_id = ${environment_id}::uuid
      and a.event_number between ${first}::bigint and ${last}::bigint`,
  ];
  if (repo_ids !== undefined) all.push(sql`a.repo_ids && ${repo_ids}::uuid[]`);
  if (kinds !== undefined)
    all.push(
      sql`(${sql.join(
        kinds.map((kind) => kindConditions[kind]),
        sql` or `,
      )})`,
    );
  if (flows !== undefined)
    all.push(sql`case when cardinality(a.provenance) = 0 then ${flows.none}::boolean else exists (
      select from json_array_elements(a.flows) flow where flow ->> 'flow_id' = any(${flows.ids}::text[])) end`);
  return sql.join(all, sql` and `);
}

/** Rows by the numbers that `chosen` selects, in no order: each is looked up by its key, whatever the planner expects. */
function inFull(orgId: string, environmentId: string, chosen: RawBuilder<unknown>): RawBuilder<EventRow> {
  return sql<EventRow>`
    select ${columns}
    from (${chosen}) chosen
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid
        and event_number = chosen.event_number limit 1) a
    ${snapshotOf(orgId, environmentId)}`;
}

/** How many of the events match. */
export async function countMatches(db: Executor, orgId: string, filter: EventFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from snapshot_artifacts a where ${matches(orgId, filter)}`.execute(db);
  return rows[0]!.count;
}

/** A page of the events that match, the latest first unless reversed. */
export async function listMatches(
  db: Executor,
  orgId: string,
  filter: EventFilter,
  page: { reverse: boolean; limit: number; offset: number },
): Promise<EventRow[]> {
  const order = page.reverse ? sql`asc` : sql`desc`;
  const chosen = sql`
    select a.event_number from snapshot_artifacts a where ${matches(orgId, filter)}
    order by a.event_number ${order} limit ${page.limit} offset ${page.offset}`;
  const { rows } = await sql<EventRow>`${inFull(orgId, filter.environment_id, chosen)}
    order by a.event_number ${order}`.execute(db);
  return rows;
}

/** The index of the first snapshot made at a moment or later; undefined when there is none. */
export async function findIndexFrom(
  db: Executor,
  orgId: string,
  environmentId: string,
  from: Timestamp,
): Promise<number | undefined> {
  const { rows } = await sql<{ index: number }>`/* snapshot-from */
    select index from snapshots
    where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and created_at >= ${instant(from)}
    order by created_at, index limit 1`.execute(db);
  return rows[0]?.index;
}
