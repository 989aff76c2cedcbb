import { type RawBuilder, sql } from "kysely";

import { instant } from "../../db/columns.ts";
import type { Executor } from "../../db/connect.ts";
import type { AnnotationType } from "../../domain/snapshot/annotate.ts";
import type { SnapshotFlow } from "../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** Which events of one environment. What is undefined does not matter. */
export interface EventFilter {
  environment_id: string;
  /** Snapshots from one number to another, both included. */
  first: number;
  last: number;
  /** Of artifacts that come from any of these repos. */
  repo_ids?: readonly string[] | undefined;
  kinds?: readonly ("started" | "exited" | "changed")[] | undefined;
  /** Of artifacts that any of these flows knew, or no flow at all. */
  flows?: { ids: readonly string[]; none: boolean } | undefined;
}

/** One change of one artifact. */
export interface EventRow {
  /** Within the environment: events of one snapshot are in the order of their ids. */
  id: number;
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

const kindConditions = {
  started: sql`a.type like 'started%'`,
  exited: sql`a.type = 'exited'`,
  changed: sql`not (a.type like 'started%' or a.type = 'exited')`,
};

/** The events as `a`. Without more conditions all that is asked for is in the index of events. */
function matches(orgId: string, filter: EventFilter): RawBuilder<unknown> {
  const { environment_id, first, last, repo_ids, kinds, flows } = filter;
  const all = [
    sql`a.org_id = ${orgId}::uuid and a.environment_id = ${environment_id}::uuid and a.type <> 'unchanged'
      and a.first_index between ${first}::integer and ${last}::integer`,
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

/** Rows by the ids that `chosen` selects, in no order: each is looked up by its key, whatever the planner expects. */
function inFull(orgId: string, environmentId: string, chosen: RawBuilder<unknown>): RawBuilder<EventRow> {
  return sql<EventRow>`
    select a.id, a.first_index as snapshot_index, a.created_at as reported_at, a.name, a.fingerprint, a.type, a.was,
      a.now, a.compliant, s.compliant as snapshot_compliant, a.flows
    from (${chosen}) chosen
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and id = chosen.id limit 1) a
    cross join lateral (
      select compliant from snapshots
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and index = a.first_index limit 1) s`;
}

/** How many events there are. */
export async function countEvents(db: Executor, orgId: string, filter: EventFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from snapshot_artifacts a where ${matches(orgId, filter)}`.execute(db);
  return rows[0]!.count;
}

/** A page of events, those of the latest snapshots first unless reversed. */
export async function listEvents(
  db: Executor,
  orgId: string,
  filter: EventFilter,
  page: { reverse: boolean; limit: number; offset: number },
): Promise<EventRow[]> {
  const order = page.reverse ? sql`asc` : sql`desc`;
  const chosen = sql`
    select a.id from snapshot_artifacts a where ${matches(orgId, filter)}
    order by a.first_index ${order}, a.id ${order} limit ${page.limit} offset ${page.offset}`;
  const { rows } = await sql<EventRow>`${inFull(orgId, filter.environment_id, chosen)}
    order by a.first_index ${order}, a.id ${order}`.execute(db);
  return rows;
}

/** The first events behind one, those of the earliest snapshots first. */
export async function listEventsAfter(
  db: Executor,
  orgId: string,
  filter: EventFilter,
  { after, limit }: { after: { snapshot_index: number; id: number } | undefined; limit: number },
): Promise<EventRow[]> {
  const { snapshot_index, id } = after ?? { snapshot_index: 0, id: 0 };
  const chosen = sql`
    select a.id from snapshot_artifacts a
    where ${matches(orgId, filter)} and (a.first_index, a.id) > (${snapshot_index}::integer, ${id}::bigint)
    order by a.first_index, a.id limit ${limit}`;
  const { rows } = await sql<EventRow>`${inFull(orgId, filter.environment_id, chosen)}
    order by a.first_index, a.id`.execute(db);
  return rows;
}

/** The index of the first snapshot made at a moment or later; undefined when there is none. */
export async function findIndexFrom(
  db: Executor,
  orgId: string,
  environmentId: string,
  from: Timestamp,
): Promise<number | undefined> {
  const row = await db
    .selectFrom("snapshots")
    .select("index")
    .where("org_id", "=", orgId)
    .where("environment_id", "=", environmentId)
    .where("created_at", ">=", instant(from))
    .orderBy("created_at")
    .orderBy("index")
    .limit(1)
    .executeTakeFirst();
  return row?.index;
}
