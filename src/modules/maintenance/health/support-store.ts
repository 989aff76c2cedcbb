import type { Executor } from "../../../db/connect.ts";
import { boolean, float, integer, nullable, type RowOf, text } from "../../../db/row.ts";
import { constant, query } from "../../../db/sql.ts";

const sizedTable = {
  name: text,
  partition_of: nullable(text),
  rows: float,
  live: integer,
  dead: integer,
  heap_bytes: integer,
  index_bytes: integer,
  total_bytes: integer,
  sequential_scans: integer,
  sequential_rows: integer,
  index_scans: nullable(integer),
  analyzed_at: nullable(text),
  vacuumed_at: nullable(text),
};

/** Lists tables by size, the largest first, with how autovacuum and scans go about them: at most a thousand. */
export function listSizedTables(db: Executor): Promise<RowOf<typeof sizedTable>[]> {
  return db.all(query(sizedTable)`
    select c.relname::text as name, nullif(pg_partition_root(c.oid), c.oid)::regclass::text as partition_of,
      c.reltuples::float8 as rows, coalesce(s.n_live_tup, 0) as live, coalesce(s.n_dead_tup, 0) as dead,
      pg_relation_size(c.oid) as heap_bytes, pg_indexes_size(c.oid) as index_bytes,
      pg_total_relation_size(c.oid) as total_bytes, coalesce(s.seq_scan, 0) as sequential_scans,
      coalesce(s.seq_tup_read, 0) as sequential_rows, s.idx_scan as index_scans,
      greatest(s.last_analyze, s.last_autoanalyze)::text as analyzed_at,
      greatest(s.last_vacuum, s.last_autovacuum)::text as vacuumed_at
    from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    order by total_bytes desc, name limit 1000`);
}

const session = {
  pid: integer,
  backend: text,
  ours: boolean,
  state: nullable(text),
  waits_for: nullable(text),
  connected_seconds: nullable(float),
  transaction_seconds: nullable(float),
  statement_seconds: nullable(float),
  blocked_by: text,
};

/** Lists connections of the whole PostgreSQL and what they wait for: no texts of statements, no names and no addresses. At most a thousand. */
export function listSessions(db: Executor): Promise<RowOf<typeof session>[]> {
  return db.all(query(session)`
    select pid, coalesce(backend_type, 'hidden') as backend, coalesce(application_name, '') = 'waybill' as ours, state,
      wait_event_type || ': ' || wait_event as waits_for,
      extract(epoch from clock_timestamp() - backend_start)::float8 as connected_seconds,
      extract(epoch from clock_timestamp() - xact_start)::float8 as transaction_seconds,
      extract(epoch from clock_timestamp() - query_start)::float8 as statement_seconds,
      array_to_string(pg_blocking_pids(pid), ', ') as blocked_by
    from pg_stat_activity where pid <> pg_backend_pid() order by transaction_seconds desc nulls last, pid limit 1000`);
}

/** Settings of PostgreSQL whose values are numbers, switches and words of its own. */
const shownSettings = [
  "autovacuum",
  "autovacuum_max_workers",
  "checkpoint_timeout",
  "data_checksums",
  "default_statistics_target",
  "effective_cache_size",
  "fsync",
  "full_page_writes",
  "hot_standby",
  "jit",
  "maintenance_work_mem",
  "max_connections",
  "max_prepared_transactions",
  "max_wal_size",
  "max_worker_processes",
  "plan_cache_mode",
  "random_page_cost",
  "server_version",
  "shared_buffers",
  "synchronous_commit",
  "wal_level",
  "work_mem",
];

/** Lists settings of PostgreSQL that say how it runs. */
export function listDatabaseSettings(db: Executor): Promise<{ name: string; value: string }[]> {
  return db.all(query({ name: text, value: text })`
    select name, setting || coalesce(' ' || unit, '') as value from pg_settings
    where name = any(${shownSettings}::text[]) and vartype in ('bool', 'enum', 'integer', 'real', 'string') order by name`);
}

/** Lists migrations that were applied, with when. */
export function listMigrationTimes(db: Executor): Promise<{ name: string; applied_at: string }[]> {
  return db.all(query({ name: text, applied_at: text })`
    select name, applied_at::text as applied_at from migrations order by name limit ${constant(10_000)}`);
}
