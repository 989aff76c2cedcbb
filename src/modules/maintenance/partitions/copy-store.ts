import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, float, integer, nullable, type RowOf, text, texts } from "../../../db/row.ts";
import { constant, identifier, join, query, raw, sql } from "../../../db/sql.ts";
import { copyOf, type PartitionedTable, partitionKeys } from "../../../domain/partitions.ts";
import { listColumns, listKeyColumns } from "./catalog-store.ts";

/** Lets the statements of the transaction take as long as they do. */
export async function liftTimeLimit(tx: Tx): Promise<void> {
  await tx.run(sql`set local statement_timeout = 0`);
}

const copy = { last_key: nullable(texts), copied_rows: integer, is_switched: boolean };

/** How far the copy of a table is. */
export type CopyRow = RowOf<typeof copy>;

/** Finds how far the copy of a table is; undefined when none is under way. */
export function findCopy(db: Executor, table: PartitionedTable): Promise<CopyRow | undefined> {
  return db.first(query(copy)`
    select last_key, copied_rows, is_switched from partition_copies where table_name = ${table}`);
}

/** Lists the tables of which copies are under way. */
export async function listCopies(db: Executor): Promise<string[]> {
  const rows = await db.all(
    query({ name: text })`select table_name as name from partition_copies order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** Notes that a copy begins. */
export async function insertCopy(tx: Tx, table: PartitionedTable): Promise<void> {
  await tx.run(sql`insert into partition_copies (table_name) values (${table})`);
}

/** Notes that the copy has taken the table's place. */
export async function updateSwitched(tx: Tx, table: PartitionedTable): Promise<void> {
  await tx.run(sql`update partition_copies set is_switched = true where table_name = ${table}`);
}

/** Notes that nothing of the copy is left to be done. */
export async function deleteCopy(tx: Tx, table: PartitionedTable): Promise<void> {
  await tx.run(sql`delete from partition_copies where table_name = ${table}`);
}

const extremes = { first: nullable(float), last: nullable(float) };

/** Finds when the first and the last row of a table are of, in Unix seconds. Reads all of it. */
export function findExtremes(db: Executor, table: PartitionedTable): Promise<RowOf<typeof extremes>> {
  const key = partitionKeys[table];
  const seconds =
    key === "occurred_at"
      ? raw("extract(epoch from occurred_at)")
      : raw("('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0");
  return db.one(query(extremes)`
    select min(${seconds})::float8 as first, max(${seconds})::float8 as last from ${identifier(table)}`);
}

/**
 * Copies the next rows in the order of the key. A row that somebody inserted meanwhile is there already.
 * @returns how many there were: fewer than `limit` when these were the last ones.
 */
export async function copyNextRows(tx: Tx, table: PartitionedTable, limit: number): Promise<number> {
  // What a crash takes away is copied again: with the rows goes the note of how far it was.
  await tx.run(sql`set local synchronous_commit = off`);
  const columns = join((await listColumns(tx, table)).map(({ name }) => identifier(name)));
  const names = await listKeyColumns(tx, table);
  const key = join(names.map((name) => identifier(name)));
  const asTexts = join(names.map((name) => sql`${identifier(name)}::text`));
  const { last_key } = await tx.one(query({ last_key: nullable(texts) })`
    select last_key from partition_copies where table_name = ${table} for update`);
  const types = await tx.all(query({ name: text, type: text })`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attname = any(${names}::name[])`);
  const typeOf = new Map(types.map(({ name, type }) => [name, type]));
  const after = join(
    names.map((name, place) => sql`${last_key?.[place] ?? null}::text::${raw(typeOf.get(name) ?? "text")}`),
  );
  const condition = last_key === null ? sql`true` : sql`(${key}) > (${after})`;
  const { rows } = await tx.one(query({ rows: integer })`
    with next as materialized (
      select ${columns} from ${identifier(table)} where ${condition} order by ${key} limit ${constant(limit)}
    ), copied as (
      insert into ${identifier(copyOf(table))} (${columns}) select * from next on conflict do nothing
    ), noted as (
      update partition_copies
      set last_key = (select array[${asTexts}] from next order by ${join(names.map((name) => sql`${identifier(name)} desc`))} limit 1),
        copied_rows = copied_rows + (select count(*) from next)
      where table_name = ${table} and exists (select from next)
    )
    select count(*) as rows from next`);
  return rows;
}

const digest = { rows: integer, digest: text };

/** Computes how many rows a table has and what is in them, as a text to compare. Reads all of it. */
function digestOf(tx: Tx, table: string, columns: readonly string[]): Promise<RowOf<typeof digest>> {
  const row = join(columns.map((name) => sql`t.${identifier(name)}::text`));
  return tx.one(query(digest)`
    select count(*) as rows, coalesce(sum(hashtextextended(row(${row})::text, 0)::numeric), 0)::text as digest
    from ${identifier(table)} t`);
}

/** Tells whether the copy has exactly the rows of the table, in one look at both. */
export async function hasSameRows(tx: Tx, table: PartitionedTable): Promise<boolean> {
  await tx.run(sql`set transaction isolation level repeatable read`);
  await liftTimeLimit(tx);
  const columns = (await listColumns(tx, table)).map(({ name }) => name);
  const [own, copied] = [await digestOf(tx, table, columns), await digestOf(tx, copyOf(table), columns)];
  return own.rows === copied.rows && own.digest === copied.digest;
}

/** Counts the rows of a partition that is to be empty, the first thousand of them. */
export async function countStrays(db: Executor, partition: string): Promise<number> {
  const { rows } = await db.one(query({ rows: integer })`
    select count(*) as rows from (select from ${identifier(partition)} limit 1000) strays`);
  return rows;
}
