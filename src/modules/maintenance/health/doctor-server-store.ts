import type { Executor } from "../../../db/connect.ts";
import { boolean, float, integer, text } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";
import type { Durability, IdleSlot, OpenTransaction } from "../../../domain/doctor-upkeep.ts";

/** Reads what PostgreSQL leaves out to be faster: settings, and tables that are not in its log. */
export async function readDurability(db: Executor): Promise<Durability> {
  const off = await db.all(query({ name: text })`
    select name from unnest(array['fsync', 'full_page_writes', 'synchronous_commit']) as name
    where current_setting(name) = 'off' order by name`);
  const unlogged = await db.all(query({ name: text })`
    select relname::text as name from pg_class
    where relkind = 'r' and relpersistence = 'u' and relnamespace = current_schema()::regnamespace order by 1`);
  return { off: off.map(({ name }) => name), unlogged: unlogged.map(({ name }) => name) };
}

/** Reads whether autovacuum is on, and which tables it passes over. */
export async function readAutovacuum(db: Executor): Promise<{ isOn: boolean; excepted: string[] }> {
  const { on } = await db.one(query({ on: boolean })`select current_setting('autovacuum') = 'on' as on`);
  const excepted = await db.all(query({ name: text })`
    select relname::text as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace
      and reloptions && array['autovacuum_enabled=false', 'autovacuum_enabled=off'] order by 1`);
  return { isOn: on, excepted: excepted.map(({ name }) => name) };
}

/** Reads how many transactions ago the oldest rows of the database were written that are not frozen. */
export async function readTransactionAge(db: Executor): Promise<number> {
  const { age } = await db.one(query({ age: integer })`
    select age(datfrozenxid) as age from pg_database where datname = current_database()`);
  return age;
}

/** Says whether the system's rules of sorting are others than those the database was made with. */
export async function hasOtherCollation(db: Executor): Promise<boolean> {
  const { other } = await db.one(query({ other: boolean })`
    select datcollversion is distinct from pg_database_collation_actual_version(oid) as other
    from pg_database where datname = current_database()`);
  return other;
}

/** Lists transactions on the database that have been open for more than ten minutes. */
export async function listOpenTransactions(db: Executor): Promise<OpenTransaction[]> {
  const rows = await db.all(query({ pid: integer, seconds: float, idle: boolean })`
    select pid, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds,
      state like 'idle in transaction%' as idle
    from pg_stat_activity
    where datname = current_database() and xact_start < clock_timestamp() - interval '10 minutes' and state is not null
      and backend_type = 'client backend'
    order by xact_start limit 100`);
  return rows.map(({ idle, ...row }) => ({ ...row, isIdle: idle }));
}

/** Counts transactions on the database that were prepared more than ten minutes ago. */
export async function countForgottenPrepared(db: Executor): Promise<number> {
  const { count } = await db.one(query({ count: integer })`
    select count(*) as count from pg_prepared_xacts
    where database = current_database() and prepared < clock_timestamp() - interval '10 minutes'`);
  return count;
}

/** Lists replication slots that nobody reads, with the bytes of the log that are kept for each. */
export function listIdleSlots(db: Executor): Promise<IdleSlot[]> {
  return db.all(query({ name: text, bytes: integer })`
    select slot_name::text as name, coalesce(case when not pg_is_in_recovery()
      then pg_current_wal_lsn() - restart_lsn end, 0)::bigint as bytes
    from pg_replication_slots where not active order by 2 desc, 1`);
}

/** Reads up to which byte the log is flushed by a primary, or replayed by a standby, and which of the two it is. */
export async function readLogPosition(db: Executor): Promise<{ isStandby: boolean; position: number }> {
  const { standby, position } = await db.one(query({ standby: boolean, position: integer })`
    select pg_is_in_recovery() as standby, (case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
      else pg_current_wal_flush_lsn() end - '0/0'::pg_lsn)::bigint as position`);
  return { isStandby: standby, position };
}

/** Counts links for emergencies that work: made for the public URL in the last ten minutes, and not used. */
export async function countEmergencyLinks(db: Executor, now: number): Promise<number> {
  const { count } = await db.one(query({ count: integer })`
    select count(*) as count from sign_in_links
    where public_url is not null and created_at > to_timestamp(${now - 600}::float8)`);
  return count;
}
