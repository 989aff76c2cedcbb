import type { Executor } from "../../../db/connect.ts";
import { boolean, integer, nullable, type RowOf, text, texts } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";

const column = { name: text, target: nullable(integer) };

/** A column that is stored as it is given, and how much is kept of it for the planner, if not the usual. */
export type ColumnRow = RowOf<typeof column>;

/** Reads a table's columns in their order. */
export function listColumns(db: Executor, table: string): Promise<ColumnRow[]> {
  return db.all(query(column)`
    select attname as name, nullif(attstattarget::integer, -1) as target from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`);
}

/** Reads the columns of a table's key. */
export async function listKeyColumns(db: Executor, table: string): Promise<string[]> {
  const rows = await db.all(query({ name: text })`
    select a.attname as name from pg_index i
    cross join unnest(i.indkey::smallint[]) with ordinality as k (number, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where i.indrelid = ${table}::regclass and i.indisprimary order by k.place`);
  return rows.map(({ name }) => name);
}

const index = { name: text, definition: text, is_primary: boolean, is_unique: boolean, columns: texts };

/** An index, with the statement that makes it. */
export type IndexRow = RowOf<typeof index>;

/** Lists the indexes of a table. */
export function listIndexes(db: Executor, table: string): Promise<IndexRow[]> {
  return db.all(query(index)`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as definition, i.indisprimary as is_primary,
      i.indisunique as is_unique, array(
        select a.attname::text from unnest(i.indkey::smallint[]) with ordinality as k (number, place)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number order by k.place) as columns
    from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = ${table}::regclass order by c.oid`);
}

const definition = { name: text, definition: text };

/** Lists the triggers of a table, with the statements that make them. */
export function listTriggers(db: Executor, table: string): Promise<RowOf<typeof definition>[]> {
  return db.all(query(definition)`
    select tgname as name, pg_get_triggerdef(oid) as definition from pg_trigger
    where tgrelid = ${table}::regclass and not tgisinternal order by tgname`);
}

/** Lists what a table refers to, with how that is declared. */
export function listReferences(db: Executor, table: string): Promise<RowOf<typeof definition>[]> {
  return db.all(query(definition)`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where conrelid = ${table}::regclass and contype = 'f' order by conname`);
}

const tableKind = { is_partitioned: boolean, options: texts };

/** Reads whether a table is partitioned, and its storage options (`fillfactor=70`); those of a partition, if it is. */
export async function findTableKind(
  db: Executor,
  table: string,
): Promise<RowOf<typeof tableKind> | undefined> {
  return db.first(query(tableKind)`
    select c.relkind = 'p' as is_partitioned, coalesce((
      select p.reloptions from pg_inherits i join pg_class p on p.oid = i.inhrelid
      where i.inhparent = c.oid and p.reloptions is not null order by p.relname desc limit 1),
      c.reloptions, '{}') as options
    from pg_class c where c.oid = to_regclass(${table})`);
}

/** Lists the partitions of a table by name. */
export async function listPartitions(db: Executor, table: string): Promise<string[]> {
  const rows = await db.all(query({ name: text })`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = to_regclass(${table}) order by c.relname`);
  return rows.map(({ name }) => name);
}
