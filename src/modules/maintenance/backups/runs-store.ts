import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, integer, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { constant, query, type Sql, sql } from "../../../db/sql.ts";
import {
  type BackupRunEnd,
  type BackupRunKind,
  backupRunKinds,
  backupRunStates,
} from "../../../domain/backup-runs.ts";

const run = {
  id: uuid,
  kind: oneOf(backupRunKinds),
  scheduled: boolean,
  state: oneOf(backupRunStates),
  started_at: timestamp,
  ended_at: nullable(timestamp),
  file: nullable(text),
  bytes: nullable(integer),
  rows: nullable(integer),
  evidence_files: nullable(integer),
  problem: nullable(text),
};

/** A backup, restore or drill that was begun. */
export type BackupRunRow = RowOf<typeof run>;

/** Runs that are kept, beside the last successful one of each kind. */
const mostRuns = 1_000;

/** Writes SQL for the number of a run's lock. */
function lockOf(id: Sql): Sql {
  return sql`hashtextextended('waybill backup run ' || ${id}, 0)`;
}

/** Writes whether somebody is at a run. */
const isHeld = sql`exists (
  select from pg_locks l
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = ${lockOf(sql`r.id::text`)})`;

const columns = sql`r.id, r.kind, r.scheduled, case when r.ok then 'succeeded' when not r.ok then 'failed'
  when ${isHeld} then 'running' else 'interrupted' end as state,
  r.started_at, r.ended_at, r.file, r.bytes, r.rows, r.evidence_files, r.problem`;

/** Tells whether runs can be recorded in this database: not in a replica, nor before it has the table. */
export async function canRecord(db: Executor): Promise<boolean> {
  const { can } = await db.one(query({ can: boolean })`
    select to_regclass('backup_runs') is not null and not pg_is_in_recovery() as can`);
  return can;
}

/** Takes the lock that says somebody is at a run, for as long as the connection lasts. */
export async function holdRun(db: Executor, id: string): Promise<void> {
  await db.run(sql`select pg_advisory_lock(${lockOf(sql`${id}::text`)})`);
}

/** Finds a run of a kind that somebody is at. */
export function findRunning(db: Executor, kind: BackupRunKind): Promise<{ id: string } | undefined> {
  return db.first(query({ id: uuid })`
    select r.id from backup_runs r where r.kind = ${kind} and r.ended_at is null and ${isHeld} limit 1`);
}

/** Notes that a run begins, or began some seconds ago. */
export async function insertRun(
  tx: Tx,
  { id, kind, scheduled }: { id: string; kind: BackupRunKind; scheduled: boolean },
  ago = 0,
): Promise<void> {
  await tx.run(sql`
    insert into backup_runs (id, kind, scheduled, started_at)
    values (${id}, ${kind}, ${scheduled}, now() - make_interval(secs => ${ago}))`);
}

/** Notes how a run ended. */
export async function updateRunEnded(tx: Tx, id: string, end: BackupRunEnd): Promise<void> {
  await tx.run(sql`
    update backup_runs set ended_at = greatest(now(), started_at), ok = ${end.ok}, file = ${end.file}, bytes = ${end.bytes},
      rows = ${end.rows}, evidence_files = ${end.evidence_files}, problem = ${end.problem}
    where id = ${id}`);
}

/** Removes runs of long ago. */
export async function deleteOldRuns(tx: Tx): Promise<void> {
  await tx.run(sql`
    delete from backup_runs where id in (select id from backup_runs order by started_at desc offset ${constant(mostRuns)})
      and id not in (select distinct on (kind) id from backup_runs where ok order by kind, started_at desc)`);
}

/** Removes what a backup has of runs that were under way when it was made, its own among them. */
export async function deleteUnendedRuns(db: Executor): Promise<void> {
  await db.run(sql`delete from backup_runs where ended_at is null`);
}

/** Lists runs, the newest first. */
export function listRuns(db: Executor, count: number): Promise<BackupRunRow[]> {
  return db.all(query(run)`
    select ${columns} from backup_runs r order by r.started_at desc, r.id desc limit ${count}`);
}

/** Lists the last successful run of each kind. */
export function listLastSuccesses(db: Executor): Promise<BackupRunRow[]> {
  return db.all(query(run)`
    select distinct on (r.kind) ${columns} from backup_runs r where r.ok order by r.kind, r.started_at desc`);
}

const last = {
  /** When it was complete. */
  ended_at: timestamp,
  /** By the clock of the database, which runs are recorded by. */
  now: timestamp,
};

/** Tells when the last backup was complete; undefined without any. */
export function findLastBackup(db: Executor): Promise<RowOf<typeof last> | undefined> {
  return db.first(query(last)`
    select ended_at, now() as now from backup_runs where kind = 'backup' and ok order by started_at desc limit 1`);
}
