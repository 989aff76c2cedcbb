import type { Executor } from "../../../db/connect.ts";
import { boolean, float, integer, nullable, text, uuid } from "../../../db/row.ts";
import { constant, identifier, moment, query, sql } from "../../../db/sql.ts";
import type { ArchiverState, ConnectionUse, KeyCounts, TableState } from "../../../domain/doctor.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** Lists indexes that PostgreSQL does not use, because making them failed. */
export async function listInvalidIndexes(db: Executor): Promise<string[]> {
  const rows = await db.all(query({ name: text })`
    select c.relname::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where not (i.indisvalid and i.indisready) and c.relnamespace = current_schema()::regnamespace order by 1`);
  return rows.map(({ name }) => name);
}

const tableState = { name: text, bytes: integer, analyzed: boolean, live: integer, dead: integer };

/** Reads how tables stand for the planner and for autovacuum, partitions by themselves. */
export async function listTableStates(db: Executor): Promise<TableState[]> {
  const rows = await db.all(query(tableState)`
    select c.relname::text as name, pg_relation_size(c.oid) as bytes, c.reltuples >= 0 as analyzed,
      pg_stat_get_live_tuples(c.oid) as live, pg_stat_get_dead_tuples(c.oid) as dead
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`);
  return rows.map(({ analyzed, ...table }) => ({ ...table, isAnalyzed: analyzed }));
}

/** Numbers of an organization that are looked at, and organizations of which they are. */
const looked = { numbers: 200, organizations: 1_000 } as const;

const broken = { org: text };

/** Where organizations count something without gaps: its table, its number there, and the latest one at the organization. */
const counted = {
  audit_log: { number: sql`l.seq`, latest: sql`c.audit_seq` },
  builds: { number: sql`l.number`, latest: sql`c.build_number` },
} as const;

/** Lists the organizations that have the most of a table. */
async function listLargest(db: Executor, table: keyof typeof counted): Promise<string[]> {
  const { latest } = counted[table];
  const rows = await db.all(query(`doctor-largest-${table}`, { id: uuid })`
    select c.org_id as id from org_counters c where ${latest} > 0
    order by ${latest} desc limit ${constant(looked.organizations)}`);
  return rows.map(({ id }) => id);
}

/**
 * Lists organizations in which the latest numbers of a table have gaps, or do not end with the counter. Of a log that is divided
 * by months old entries may have been removed.
 */
export async function listGapsAtEnd(db: Executor, table: keyof typeof counted): Promise<string[]> {
  const { number, latest } = counted[table];
  // By a statement before: Citus looks at rows beside others of their organization, but not beside the result of a limit.
  const largest = await listLargest(db, table);
  if (largest.length === 0) return [];
  const rows = await db.all(query(`doctor-gaps-${table}`, broken)`
    select c.org_id::text as org from org_counters c
    cross join lateral (select count(*) as found, min(${number}) as least, max(${number}) as most from ${identifier(table)} l
      where l.org_id = c.org_id and ${number} > ${latest} - ${constant(looked.numbers)}) f
    where c.org_id = any(${largest}::uuid[]) and ${isBroken(table)} order by 1`);
  return rows.map(({ org }) => org);
}

/** Writes whether the numbers `f` do not fit the counter `c`. */
function isBroken(table: keyof typeof counted) {
  const { latest } = counted[table];
  // With a column: Citus hands no rows without on to its workers.
  const isDivided = sql`exists (select 1 from pg_class where oid = ${table}::regclass and relkind = 'p')`;
  return sql`case when ${isDivided} then coalesce(f.most <> ${latest} or f.found <> f.most - f.least + 1, false)
    else f.most is distinct from ${latest} or f.found <> least(${latest}, ${constant(looked.numbers)}) end`;
}

/** Reads how many connections ordinary users may have, and how many there are. */
export function readConnectionUse(db: Executor): Promise<ConnectionUse> {
  return db.one(query({ max: integer, used: integer })`
    select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as max,
      (select sum(numbackends) from pg_stat_database)::bigint as used`);
}

const archiver = { on: boolean, archived: nullable(float), failed: nullable(float) };

/** Reads how the archiving of the write-ahead log goes. */
export async function readArchiverState(db: Executor): Promise<ArchiverState> {
  const { on, archived, failed } = await db.one(query(archiver)`
    select current_setting('archive_mode') <> 'off' as on,
      extract(epoch from last_archived_time)::float8 as archived, extract(epoch from last_failed_time)::float8 as failed
    from pg_stat_archiver`);
  return { isOn: on, lastArchived: archived, lastFailed: failed };
}

const keyCounts = { working: integer, eternal: integer, unused: integer, ending: integer, first: integer };

/** Counts keys that work by what is doubtful about them. @param firstKey how the key of the first start is described. */
export function countDoubtfulKeys(db: Executor, now: Timestamp, firstKey: string): Promise<KeyCounts> {
  return db.one(query("doctor-keys", keyCounts)`
    select count(*) as working, count(*) filter (where expires_at is null) as eternal,
      count(*) filter (where coalesce(last_used_at, created_at) < ${moment(now)} - interval '90 days') as unused,
      count(*) filter (where expires_at < ${moment(now)} + interval '14 days'
        and last_used_at > ${moment(now)} - interval '30 days') as ending,
      count(*) filter (where description = ${firstKey} and created_at < ${moment(now)} - interval '7 days') as first
    from api_keys where revoked_at is null and (expires_at is null or expires_at > ${moment(now)})`);
}
