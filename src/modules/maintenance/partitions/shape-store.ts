import type { Executor, Tx } from "../../../db/connect.ts";
import { organizationStatistics } from "../../../db/organization-statistics.ts";
import { constant, identifier, join, raw, sql } from "../../../db/sql.ts";
import {
  addMonths,
  boundOf,
  copyOf,
  defaultPartitionOf,
  formerOf,
  type Month,
  type PartitionedTable,
  partitionKeys,
  partitionOf,
} from "../../../domain/partitions.ts";
import {
  findTableKind,
  type IndexRow,
  listColumns,
  listIndexes,
  listPartitions,
  listReferences,
  listTriggers,
} from "./catalog-store.ts";

const copyTrigger = (table: PartitionedTable): string => `${table}_copy`;

/** Takes settings and guards of the table over: what no `like` does. Only partitions have storage options. */
async function tunePartition(tx: Tx, partition: string, source: string): Promise<void> {
  const { options } = (await findTableKind(tx, source)) ?? { options: [] };
  if (options.length > 0)
    await tx.run(sql`alter table ${identifier(partition)} set (${raw(options.join(", "))})`);
  for (const { name, target } of await listColumns(tx, source))
    if (target !== null)
      await tx.run(
        sql`alter table ${identifier(partition)} alter column ${identifier(name)} set statistics ${constant(target)}`,
      );
  // What guards each row comes from the table; emptying a partition is noticed by nothing but its own.
  for (const { definition } of await listTriggers(tx, source))
    if (/ BEFORE TRUNCATE ON /.test(definition))
      await tx.run(raw(definition.replace(/ ON \S+ FOR /, ` ON "${partition}" FOR `)));
}

/**
 * Adds the partitions of these months to a table, as far as there are none. Each is made by itself and then attached, which
 * stops nobody from writing; the partition of all others is looked through, and is empty.
 * @param parent the table, or the copy that is to take its place.
 * @param source whose settings they get.
 */
export async function addPartitions(
  tx: Tx,
  table: PartitionedTable,
  { parent, source, months }: { parent: string; source: string; months: readonly Month[] },
): Promise<number> {
  const present = new Set(await listPartitions(tx, parent));
  const missing = months.filter((month) => !present.has(partitionOf(table, month)));
  for (const month of missing) {
    const name = identifier(partitionOf(table, month));
    await tx.run(sql`create table ${name} (like ${identifier(parent)} including all excluding indexes)`);
    await tunePartition(tx, partitionOf(table, month), source);
    const [from, to] = [boundOf(table, month), boundOf(table, addMonths(month, 1))];
    await tx.run(sql`alter table ${identifier(parent)} attach partition ${name}
      for values from (${raw(`'${from}'`)}) to (${raw(`'${to}'`)})`);
  }
  if (missing.length > 0) await tx.run(raw(organizationStatistics));
  return missing.length;
}

async function addDefaultPartition(tx: Tx, table: PartitionedTable, parent: string): Promise<void> {
  const name = defaultPartitionOf(table);
  await tx.run(
    sql`create table ${identifier(name)} (like ${identifier(parent)} including all excluding indexes)`,
  );
  await tunePartition(tx, name, table);
  await tx.run(sql`alter table ${identifier(parent)} attach partition ${identifier(name)} default`);
}

/** Writes the statement that makes an index, with the column by which the table is divided where it needs that. */
function withKey({ definition, is_unique, columns }: IndexRow, key: string): string {
  // A unique index has to have the column by which the table is divided.
  if (!is_unique || columns.includes(key)) return definition;
  return definition.replace(/\(([^()]*)\)/, `($1, ${key})`);
}

/** Names the index of a copy. */
function copiedIndex({ name }: IndexRow): string {
  return `${name}_copy`;
}

async function copyIndexes(tx: Tx, table: PartitionedTable, copy: string): Promise<void> {
  const key = partitionKeys[table];
  for (const index of await listIndexes(tx, table)) {
    const name = copiedIndex(index);
    if (index.is_primary) {
      const columns = index.columns.includes(key) ? index.columns : [...index.columns, key];
      await tx.run(sql`alter table ${identifier(copy)} add constraint ${identifier(name)}
        primary key (${join(columns.map((column) => identifier(column)))})`);
      continue;
    }
    const made = withKey(index, key).replace(
      / INDEX \S+ ON (?:ONLY )?\S+ /,
      ` INDEX "${name}" ON "${copy}" `,
    );
    await tx.run(raw(made));
  }
}

/**
 * Makes the table that rows are copied to, empty: with the columns, checks, indexes, references and guards of the table,
 * and partitions for these months. What is done for each row that comes is not done there before the switch.
 */
export async function createCopy(tx: Tx, table: PartitionedTable, months: readonly Month[]): Promise<void> {
  const copy = copyOf(table);
  await tx.run(sql`create table ${identifier(copy)} (like ${identifier(table)} including all excluding indexes)
    partition by range (${identifier(partitionKeys[table])})`);
  await addDefaultPartition(tx, table, copy);
  await addPartitions(tx, table, { parent: copy, source: table, months });
  await copyIndexes(tx, table, copy);
  for (const { name, definition } of await listReferences(tx, table))
    await tx.run(sql`alter table ${identifier(copy)} add constraint ${identifier(name)} ${raw(definition)}`);
}

/** Removes what an attempt at copying left that was given up. Nothing is written there any more. */
export async function dropCopy(tx: Tx, table: PartitionedTable): Promise<void> {
  await tx.run(sql`drop trigger if exists ${identifier(copyTrigger(table))} on ${identifier(table)}`);
  await tx.run(sql`drop table if exists ${identifier(copyOf(table))}`);
}

/** Has whatever is inserted from now on inserted into the copy, too. Waits for those who are writing. */
export async function createCopyTrigger(tx: Tx, table: PartitionedTable): Promise<void> {
  const columns = (await listColumns(tx, table)).map(({ name }) => `"${name}"`).join(", ");
  await tx.run(sql`create trigger ${identifier(copyTrigger(table))} after insert on ${identifier(table)}
    referencing new table as new_rows for each statement
    execute function copy_to_partitions(${raw(`'${copyOf(table)}', '${columns}'`)})`);
}

/** Tells whether the copy still has the columns of the table. */
export async function hasSameColumns(db: Executor, table: PartitionedTable): Promise<boolean> {
  const names = async (name: string): Promise<string> =>
    (await listColumns(db, name)).map((column) => column.name).join();
  return (await names(table)) === (await names(copyOf(table)));
}

/** Has the transaction give up (55P03) when a table is not to be had within two seconds: others wait behind it. */
export async function limitWaiting(tx: Tx): Promise<void> {
  await tx.run(sql`set local lock_timeout = '2s'`);
}

/**
 * Puts the copy in the table's place: names and triggers. Nobody can read or write the table until the transaction ends, so
 * it does nothing else.
 */
export async function switchTables(tx: Tx, table: PartitionedTable): Promise<void> {
  const [copy, former] = [copyOf(table), formerOf(table)];
  await tx.run(sql`lock table ${identifier(table)} in access exclusive mode`);
  await tx.run(sql`drop trigger ${identifier(copyTrigger(table))} on ${identifier(table)}`);
  const triggers = await listTriggers(tx, table);
  const indexes = await listIndexes(tx, table);
  await tx.run(sql`alter table ${identifier(table)} rename to ${identifier(former)}`);
  await tx.run(sql`alter table ${identifier(copy)} rename to ${identifier(table)}`);
  for (const index of indexes) {
    await tx.run(sql`alter index ${identifier(index.name)} rename to ${identifier(`${index.name}_former`)}`);
    await tx.run(sql`alter index ${identifier(copiedIndex(index))} rename to ${identifier(index.name)}`);
  }
  for (const { definition } of triggers) await tx.run(raw(definition));
}

/** Removes the table as it was. */
export async function dropFormer(tx: Tx, table: PartitionedTable): Promise<void> {
  await tx.run(sql`drop table if exists ${identifier(formerOf(table))}`);
}

/** Takes a month's partition away, with all rows in it. */
export async function dropPartition(tx: Tx, table: PartitionedTable, name: string): Promise<void> {
  await tx.run(sql`alter table ${identifier(table)} detach partition ${identifier(name)}`);
  await tx.run(sql`drop table ${identifier(name)}`);
}

/** Gathers what the planner knows of a partitioned table as a whole, which nothing else does. */
export async function analyzeTable(db: Executor, table: PartitionedTable): Promise<void> {
  await db.run(sql`analyze ${identifier(table)}`);
}
