import type { Executor, Tx } from "../../../db/connect.ts";
import {
  boolean,
  float,
  floats,
  integer,
  nullable,
  type RowOf,
  text,
  timestamp,
  uuid,
} from "../../../db/row.ts";
import { moment, param, query, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { isSilent, quietSince, silentFrom } from "../environments/silent-sql.ts";

/** Notes that the silence since a moment ended, also one that nobody noticed. Idempotent. */
export async function endSilence(
  tx: Tx,
  orgId: string,
  { environment_id, began_at, at }: { environment_id: string; began_at: Timestamp; at: Timestamp },
): Promise<void> {
  await tx.run(sql`
    with open as (
      update environment_silences set ended_at = ${moment(at)}
      where org_id = ${orgId}::uuid and environment_id = ${environment_id}::uuid and ended_at is null
      returning began_at
    )
    insert into environment_silences (org_id, environment_id, began_at, ended_at)
    select ${orgId}::uuid, ${environment_id}::uuid, ${moment(began_at)}, ${moment(at)}
    where not exists (select from open)
    on conflict do nothing`);
}

/** Ends the silence of an environment that lasts, if one does. Idempotent. */
export async function endOpenSilence(
  tx: Tx,
  orgId: string,
  { environment_id, at }: { environment_id: string; at: Timestamp },
): Promise<void> {
  await tx.run(sql`
    update environment_silences set ended_at = greatest(began_at, ${moment(at)})
    where org_id = ${orgId}::uuid and environment_id = ${environment_id}::uuid and ended_at is null`);
}

/** The rhythm of reports to an environment, and since when it is silent. */
const silence = {
  last_reported_at: nullable(timestamp),
  report_gaps: floats,
  silence_limit: nullable(integer),
  learned_limit: nullable(float),
  silent_from: nullable(timestamp),
};
type SilenceRow = RowOf<typeof silence>;

/** Reads the rhythm of an environment. */
export function getSilence(db: Executor, orgId: string, environmentId: string): Promise<SilenceRow> {
  return db.one(query(silence)`
    select e.last_reported_at, coalesce(r.report_gaps, '{}') as report_gaps, e.silence_limit, e.learned_limit,
      ${silentFrom("e")} as silent_from
    from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where e.org_id = ${orgId}::uuid and e.id = ${environmentId}::uuid`);
}

/** A time without reports that was too long. */
const gap = {
  began_at: timestamp,
  noticed_at: nullable(timestamp),
  /** Null while it lasts. */
  ended_at: nullable(timestamp),
};
export type GapRow = RowOf<typeof gap>;

/** Lists the times without reports that were too long, newest first. */
export function listGaps(
  db: Executor,
  orgId: string,
  environmentId: string,
  limit: number,
): Promise<GapRow[]> {
  return db.all(query(gap)`
    select began_at, noticed_at, ended_at from environment_silences
    where org_id = ${orgId} and environment_id = ${environmentId}
    order by began_at desc limit ${limit}`);
}

/** Sets or clears the limit of an environment. @returns whether it was another one. */
export async function updateSilenceLimit(
  tx: Tx,
  orgId: string,
  environmentId: string,
  { limit, at }: { limit: number | null; at: Timestamp },
): Promise<boolean> {
  const changed = await tx.run(sql`
    update environments set silence_limit = ${limit}, last_modified_at = ${moment(at)}
    where org_id = ${orgId} and id = ${environmentId} and silence_limit is distinct from ${limit}`);
  return changed > 0;
}

/**
 * Notes that the watch looks now. It begins anew when it had looked away for longer than `breakSeconds`. Whoever else
 * looks waits until the transaction ends.
 */
export async function updateWatch(tx: Tx, at: Timestamp, breakSeconds: number): Promise<void> {
  await tx.run(sql`
    insert into silence_watch as w (looked_at, since) values (${moment(at)}, ${moment(at)})
    on conflict (one) do update set looked_at = greatest(w.looked_at, excluded.looked_at),
      since = case when excluded.looked_at - w.looked_at > make_interval(secs => ${breakSeconds}::float8)
        then excluded.since else w.since end`);
}

/** An environment that was found silent. */
const silentEnvironment = {
  id: uuid,
  name: text,
  /** Its latest snapshot; null when there is none. */
  snapshot_count: nullable(integer),
  state: nullable(boolean),
};
export type SilentRow = RowOf<typeof silentEnvironment>;

/** Counts the environments of all organizations whose silence was noted and lasts. */
export async function countOpenSilences(db: Executor): Promise<number> {
  const { silent } = await db.one(query("open-silences", { silent: integer })`
    select count(*) as silent from environment_silences s
    join environments e on e.org_id = s.org_id and e.id = s.environment_id and not e.archived
    where s.ended_at is null`);
  return silent;
}

/** Lists organizations with environments that have been silent for too long and of which it was not noted. */
export async function listSilentOrganizations(db: Executor, at: Timestamp): Promise<string[]> {
  const rows = await db.all(query("silent-organizations", { id: uuid })`
    select distinct e.org_id as id from organizations o
    join environments e on e.org_id = o.id and not e.archived and ${isSilent("e", at)}
    where not exists (
      select from environment_silences s where s.org_id = e.org_id and s.environment_id = e.id
        and s.began_at = ${quietSince("e")})
    order by 1`);
  return rows.map(({ id }) => id);
}

/**
 * Notes the silence of environments of an organization that have been silent for too long and of which it was not noted,
 * `limit` at most. Those that are being reported on right now are left out: their rows are locked.
 */
export function insertSilences(
  tx: Tx,
  orgId: string,
  { at, limit }: { at: Timestamp; limit: number },
): Promise<SilentRow[]> {
  const org = param(orgId);
  return tx.all(query(silentEnvironment)`
    with silent as materialized (
      select e.id, e.name, e.state, r.snapshot_count, ${quietSince("e")} as began_at
      from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
      where e.org_id = ${org}::uuid and not e.archived and ${isSilent("e", at)} and not exists (
          select from environment_silences s where s.org_id = ${org}::uuid and s.environment_id = e.id
            and s.began_at = ${quietSince("e")})
      order by e.id limit ${limit}::bigint for no key update of e skip locked
    ), noted as (
      insert into environment_silences (org_id, environment_id, began_at, noticed_at)
      select ${org}::uuid, id, began_at, ${moment(at)} from silent on conflict do nothing
      returning environment_id
    )
    select s.id, s.name, s.snapshot_count, s.state from noted join silent s on s.id = noted.environment_id
    order by s.id`);
}
