import type { Executor } from "../../../db/connect.ts";
import { boolean, integer, type RowOf, text, uuid } from "../../../db/row.ts";
import { identifier, query, raw, sql } from "../../../db/sql.ts";
import { schemas } from "./catalog-store.ts";
import type { SequenceLine } from "../../../domain/backup-format.ts";

const use = { others: integer, tables: integer };

/** Counts who else of this program is connected to the database, and the tables it has. */
export function readUse(db: Executor): Promise<RowOf<typeof use>> {
  return db.one(query(use)`
    select (
      select count(*) from pg_stat_activity
      where datname = current_database() and application_name = 'waybill' and pid <> pg_backend_pid()
    ) as others, (
      select count(*) from pg_class
      where relnamespace in (select oid from pg_namespace where nspname = any(${schemas}::text[]))
        and relkind in ('r', 'p')
    ) as tables`);
}

/** Notes that a restore begins. The schema is what says so. */
export async function beginRestore(db: Executor): Promise<void> {
  await db.run(sql`create schema if not exists waybill_restore`);
}

/** Removes whatever is in the database of this program, except the note that a restore began. */
export async function clearDatabase(db: Executor): Promise<void> {
  await db.run(sql`drop schema if exists graphile_worker cascade`);
  await db.run(sql`drop schema if exists public cascade`);
  await db.run(sql`create schema public`);
}

/** Notes that the restore is done. */
export async function endRestore(db: Executor): Promise<void> {
  await db.run(sql`drop schema waybill_restore cascade`);
}

const piece = { removal: text, definition: text };

/** What was taken away before rows came, and how it is made again. */
export type Piece = RowOf<typeof piece>;

/** Lists the foreign keys of all tables. */
export function listForeignKeys(db: Executor): Promise<Piece[]> {
  return db.all(query(piece)`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as removal,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as definition
    from pg_constraint
    where contype = 'f' and conparentid = 0 and connamespace::regnamespace::text = any(${schemas}::text[])`);
}

/** Lists the indexes of all tables that are no part of a constraint. */
export function listSecondaryIndexes(db: Executor): Promise<Piece[]> {
  return db.all(query(piece)`
    select format('drop index %s', i.indexrelid::regclass) as removal, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class t on t.oid = i.indrelid
    where t.relnamespace::regnamespace::text = any(${schemas}::text[]) and t.relkind = 'r' and not t.relispartition
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid)
    order by pg_table_size(t.oid) desc`);
}

/** Has this connection run no triggers. @returns false when its role may not ask for that. */
export async function silenceTriggers(db: Executor): Promise<boolean> {
  const { allowed } = await db.one(query({ allowed: boolean })`
    select rolsuper as allowed from pg_roles where rolname = current_user`);
  if (allowed) await db.run(sql`set session_replication_role = replica`);
  return allowed;
}

/** Switches the triggers of a table off or on, for everybody. */
export async function switchTriggers(
  db: Executor,
  [schema, name]: [string, string],
  on: boolean,
): Promise<void> {
  await db.run(sql`alter table ${identifier(schema, name)} ${raw(on ? "enable" : "disable")} trigger user`);
}

/** Runs a statement that the database itself has written. */
export async function runDefinition(db: Executor, definition: string): Promise<void> {
  await db.run(raw(definition));
}

/** Lets indexes be made with more memory than usual. */
export async function allowMemory(db: Executor): Promise<void> {
  await db.run(sql`set maintenance_work_mem = '256MB'`);
}

/** Sets a sequence to where it was. */
export async function setSequence(db: Executor, { sequence, value, called }: SequenceLine): Promise<void> {
  await db.run(sql`
    select setval(to_regclass(${sequence}::text), ${value}::bigint, ${called}::boolean)
    where to_regclass(${sequence}::text) is not null`);
}

const gap = { org_id: uuid, problem: text };

/**
 * Lists organizations whose audit log or builds are not numbered without gaps. Months may have been removed from the beginning:
 * there, what was written at the turn of the month is left out, because numbers are given in the order of commits, which need not be
 * that of moments.
 */
export function listGaps(db: Executor): Promise<RowOf<typeof gap>[]> {
  return db.all(query(gap)`
    with whole as (
      select org_id, count(*) as n, min(seq) as first, max(seq) as last, min(occurred_at) as begun,
        bool_or(resource_type = 'partition') as is_shortened
      from audit_log group by org_id
    ), logs as (
      select w.org_id, w.first, w.last, w.is_shortened, coalesce(settled.n, w.n) as n,
        case when settled.n is null then w.first else settled.first end as dense_from
      from whole w left join lateral (
        select count(*) as n, min(l.seq) as first from audit_log l
        where l.org_id = w.org_id and l.seq >= (
          select seq from audit_log where org_id = w.org_id and occurred_at >= w.begun + interval '1 hour'
          order by occurred_at, seq limit 1)
      ) settled on w.is_shortened and w.first > 1
    ), numbered as (
      select org_id, count(*) as n, max(number) as last from builds group by org_id
    )
    select c.org_id, case
      when coalesce(l.last, 0) <> c.audit_seq then 'the audit log does not end where it should'
      when l.n <> l.last - l.dense_from + 1 then 'entries of the audit log are missing'
      when l.first > 1 and not l.is_shortened then 'the audit log does not begin with its first entry'
      else 'builds are missing' end as problem
    from org_counters c left join logs l using (org_id) left join numbered b using (org_id)
    where coalesce(l.last, 0) <> c.audit_seq or l.n <> l.last - l.dense_from + 1
      or (l.first > 1 and not l.is_shortened)
      or coalesce(b.last, 0) <> c.build_number or coalesce(b.n, 0) <> c.build_number
    order by c.org_id limit 100`);
}

const sampled = { org_id: uuid, trail_id: uuid };

/**
 * Picks trails at random, none of which attestations were removed with their month: the verdict on such a one stays what it was.
 * Whatever is removed was made before all that is left.
 */
export function sampleTrails(db: Executor, count: number): Promise<RowOf<typeof sampled>[]> {
  return db.all(query(sampled)`
    with shortened as materialized (
      select o.org_id, (select id from attestations where org_id = o.org_id order by id limit 1) as first_left
      from (select distinct org_id from audit_log where resource_type = 'partition') o
    )
    select c.org_id, c.trail_id from trail_compliance c left join shortened s on s.org_id = c.org_id
    where s.org_id is null or not exists (
      select from attestation_heads h where h.org_id = c.org_id and h.trail_id = c.trail_id
        and (h.first_id < s.first_left or s.first_left is null))
    order by random() limit ${count}`);
}
