import { type RawBuilder, sql } from "kysely";

import { instant, moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** Notes that the silence since a moment ended, also one that nobody noticed. Idempotent. */
export async function endSilence(
  tx: Tx,
  orgId: string,
  { environment_id, began_at, at }: { environment_id: string; began_at: Timestamp; at: Timestamp },
): Promise<void> {
  await sql`
    with open as (
      update environment_silences set ended_at = ${moment(at)}
      where org_id = ${orgId}::uuid and environment_id = ${environment_id}::uuid and ended_at is null
      returning began_at
    )
    insert into environment_silences (org_id, environment_id, began_at, ended_at)
    select ${orgId}::uuid, ${environment_id}::uuid, ${moment(began_at)}, ${moment(at)}
    where not exists (select from open)
    on conflict do nothing`.execute(tx);
}

/** SQL for the moment from which on the environment of row `e` with its reports `r` is silent; null: never. */
function silentFrom(): RawBuilder<Timestamp | null> {
  return sql<Timestamp | null>`greatest(
      coalesce(e.last_reported_at, case when e.silence_limit is not null then e.created_at end),
      (select w.since from silence_watch w))
    + make_interval(secs => coalesce(e.silence_limit, r.learned_limit))`;
}

/** What is known of an environment's rhythm. */
export interface SilenceRow {
  last_reported_at: Timestamp | null;
  report_gaps: number[];
  silence_limit: number | null;
  learned_limit: number | null;
  silent_from: Timestamp | null;
}

/** The rhythm of an environment. */
export async function getSilence(db: Executor, orgId: string, environmentId: string): Promise<SilenceRow> {
  const { rows } = await sql<SilenceRow>`
    select e.last_reported_at, coalesce(r.report_gaps, '{}') as report_gaps, e.silence_limit, r.learned_limit,
      case when e.type <> 'logical' and not e.archived then ${silentFrom()} end as silent_from
    from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where e.org_id = ${orgId}::uuid and e.id = ${environmentId}::uuid`.execute(db);
  return rows[0]!;
}

/** A time without reports that was too long. */
export interface GapRow {
  began_at: Timestamp;
  noticed_at: Timestamp | null;
  /** Null while it lasts. */
  ended_at: Timestamp | null;
}

/** The times without reports that were too long, newest first. */
export function listGaps(
  db: Executor,
  orgId: string,
  environmentId: string,
  limit: number,
): Promise<GapRow[]> {
  return db
    .selectFrom("environment_silences")
    .select(["began_at", "noticed_at", "ended_at"])
    .where("org_id", "=", orgId)
    .where("environment_id", "=", environmentId)
    .orderBy("began_at", "desc")
    .limit(limit)
    .execute();
}

/** Sets or clears the limit of an environment. @returns whether it was another one. */
export async function updateSilenceLimit(
  tx: Tx,
  orgId: string,
  environmentId: string,
  change: { limit: number | null; at: Timestamp },
): Promise<boolean> {
  const result = await tx
    .updateTable("environments")
    .set({ silence_limit: change.limit, last_modified_at: moment(change.at) })
    .where("org_id", "=", orgId)
    .where("id", "=", environmentId)
    .where("silence_limit", "is distinct from", change.limit)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Notes that the watch looks now. It begins anew when it had looked away for longer than `breakSeconds`. Whoever else
 * looks waits until the transaction ends.
 */
export async function updateWatch(tx: Tx, at: Timestamp, breakSeconds: number): Promise<void> {
  await sql`
    insert into silence_watch as w (looked_at, since) values (${moment(at)}, ${moment(at)})
    on conflict (one) do update set looked_at = greatest(w.looked_at, excluded.looked_at),
      since = case when excluded.looked_at > w.looked_at + make_interval(secs => ${breakSeconds}::float8)
        then excluded.since else w.since end`.execute(tx);
}

/** An environment that was found silent. */
export interface SilentRow {
  org_id: string;
  id: string;
  name: string;
  /** Its latest snapshot; null when there is none. */
  snapshot_count: number | null;
  state: boolean | null;
}

/**
 * Notes the silence of environments that have been silent for too long and of which it was not noted, `limit` at most.
 * Those that are being reported on right now are left out: their rows are locked.
 */
export async function insertSilences(tx: Tx, at: Timestamp, limit: number): Promise<SilentRow[]> {
  const { rows } = await sql<SilentRow>`
    with silent as materialized (
      select e.org_id, e.id, e.name, e.state, r.snapshot_count, coalesce(e.last_reported_at, e.created_at) as began_at
      from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
      where not e.archived and e.type <> 'logical' and ${silentFrom()} < ${instant(at)}
        and not exists (
          select from environment_silences s where s.org_id = e.org_id and s.environment_id = e.id
            and s.began_at = coalesce(e.last_reported_at, e.created_at))
      order by e.org_id, e.id limit ${limit}::bigint for no key update of e skip locked
    ), noted as (
      insert into environment_silences (org_id, environment_id, began_at, noticed_at)
      select org_id, id, began_at, ${moment(at)} from silent on conflict do nothing
      returning org_id, environment_id
    )
    select s.org_id, s.id, s.name, s.snapshot_count, s.state
    from noted join silent s on s.org_id = noted.org_id and s.id = noted.environment_id
    order by s.org_id, s.id`.execute(tx);
  return rows;
}
