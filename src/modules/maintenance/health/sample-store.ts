import type { Executor } from "../../../db/connect.ts";
import { boolean, bytes, float, integer, json, nullable, type RowOf, text, uuid } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";
import type { StatementHistory } from "../../../domain/plans.ts";

const sample = {
  org_id: uuid,
  org_name: text,
  key_hash: nullable(bytes),
  flow_id: nullable(uuid),
  flow_name: nullable(text),
  trail_id: nullable(uuid),
  trail_name: nullable(text),
  fingerprint: nullable(text),
  attestation_name: nullable(text),
  environment_id: nullable(uuid),
  environment_name: nullable(text),
  snapshot_count: nullable(integer),
  event_count: nullable(integer),
  /** Versions that run in the environment. */
  running: json<number[]>(),
};

/** What statements are typically asked for: the latest things of the organization in which most happened. Secret, as data of organizations is. */
export type Sample = RowOf<typeof sample>;

/** Reads it; undefined of a database in which nothing has happened. */
export function findSample(db: Executor): Promise<Sample | undefined> {
  return db.first(query("doctor-sample", sample)`
    select o.id as org_id, o.name as org_name,
      (select k.key_hash from api_keys k where k.revoked_at is null order by k.last_used_at desc nulls last limit 1) as key_hash,
      f.id as flow_id, f.name as flow_name, t.id as trail_id, t.name as trail_name,
      (select a.fingerprint from artifacts a where a.org_id = o.id order by a.id desc limit 1) as fingerprint,
      (select a.name from attestations a where a.org_id = o.id order by a.id desc limit 1) as attestation_name,
      e.id as environment_id, e.name as environment_name, r.snapshot_count::bigint as snapshot_count,
      (select s.event_count::bigint from snapshots s
        where s.org_id = o.id and s.environment_id = e.id and s.index = r.snapshot_count) as event_count,
      (select coalesce(json_agg(v.id), '[]') from (
        select a.id from snapshot_artifacts a
        where a.org_id = o.id and a.environment_id = e.id and a.last_index is null limit 20) v) as running
    from (select org_id, audit_seq from org_counters order by audit_seq desc limit 5) c
    join organizations o on o.id = c.org_id
    left join lateral (select t.* from trails t where t.org_id = o.id order by t.id desc limit 1) t on true
    left join flows f on f.org_id = o.id and f.id = t.flow_id
    left join lateral (
      select r.* from environment_reports r where r.org_id = o.id order by r.snapshot_count desc limit 1) r on true
    left join environments e on e.org_id = o.id and e.id = r.environment_id
    order by c.audit_seq desc limit 1`);
}

/** Lists the rows that the planner takes tables for, those of partitions under their own names. */
export async function listTableRows(db: Executor, tables: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.all(query({ name: text, count: integer })`
    select c.relname::text as name, greatest(c.reltuples, 0)::bigint as count
    from pg_class c left join pg_class root on root.oid = pg_partition_root(c.oid)
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and coalesce(root.relname, c.relname) = any(${tables}::text[])`);
  return new Map(rows.map(({ name, count }) => [name, count]));
}

/**
 * Lists what PostgreSQL has counted of statements of this database, by their identifiers as digits: none where `pg_stat_statements` is not loaded
 * and installed in the database.
 */
export async function listStatementHistories(
  db: Executor,
  ids: readonly string[],
): Promise<Map<string, StatementHistory>> {
  const { counts } = await db.one(query({ counts: boolean })`
    select to_regclass('pg_stat_statements') is not null
      -- Of the library, which is there when that is loaded; what is loaded, not everybody may read.
      and current_setting('pg_stat_statements.max', true) is not null as counts`);
  if (!counts || ids.length === 0) return new Map();
  const rows = await db.all(query({ id: text, calls: integer, mean_ms: float })`
    select s.queryid::text as id, sum(s.calls)::bigint as calls, sum(s.total_exec_time) / greatest(sum(s.calls), 1) as mean_ms
    from pg_stat_statements s
    where s.dbid = (select d.oid from pg_database d where d.datname = current_database()) and s.queryid::text = any(${ids}::text[])
    group by s.queryid`);
  return new Map(rows.map(({ id, calls, mean_ms }) => [id, { calls, mean_ms }]));
}
