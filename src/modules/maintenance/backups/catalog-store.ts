import type { Executor } from "../../../db/connect.ts";
import { boolean, float, integer, nullable, type RowOf, text, texts } from "../../../db/row.ts";
import { identifier, join, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { copyOf, formerOf, partitionedTables } from "../../../domain/partitions.ts";
import type { BackupTable } from "../../../domain/backup-format.ts";

/** The schemas with tables of ours, and of the queue of background jobs. */
export const schemas = ["public", "graphile_worker"] as const;

/** Tables that say how far the schema is, which the schema itself brings; and copies of tables that are under way. */
const leftOut = [
  "migrations",
  "partition_copies",
  ...partitionedTables.flatMap((table) => [copyOf(table), formerOf(table)]),
];

const table = {
  id: integer,
  schema: text,
  name: text,
  columns: texts,
  partitioned: boolean,
  /** Bytes on the disk, without indexes. */
  size: integer,
};

/** A table whose rows go into backups. */
export type CatalogTable = RowOf<typeof table>;

/** Lists the tables whose rows go into backups, the largest first. Partitions are part of theirs. Computed columns are left out. */
export function listTables(db: Executor): Promise<CatalogTable[]> {
  return db.all(query(table)`
    select c.oid::bigint as id, n.nspname as schema, c.relname as name, array(
      select attname::text from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
    ) as columns, c.relkind = 'p' as partitioned, case c.relkind when 'r' then pg_table_size(c.oid) else (
      select coalesce(sum(pg_table_size(relid)), 0)::bigint from pg_partition_tree(c.oid) where isleaf) end as size
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[]) and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all(${leftOut}::text[])
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by size desc, schema, name`);
}

const sequence = { sequence: text, value: integer, called: boolean };

/** Reads how far the sequences of these schemas are. */
export function listSequences(db: Executor): Promise<RowOf<typeof sequence>[]> {
  return db.all(query(sequence)`
    select schemaname || '.' || sequencename as sequence, coalesce(last_value, start_value) as value,
      last_value is not null as called
    from pg_sequences where schemaname = any(${schemas}::text[]) order by 1`);
}

const migration = { name: text, checksum: text };

/** Lists the migrations that were applied, in their order. */
export function listMigrations(db: Executor): Promise<RowOf<typeof migration>[]> {
  return db.all(query(migration)`select name, checksum from migrations order by name`);
}

const facts = {
  now: float,
  lsn: nullable(text),
  version: integer,
  organizations: integer,
  secret_key_fingerprint: nullable(text),
};

/** What a backup says of the database it was made of. */
export type DatabaseFacts = RowOf<typeof facts>;

/** Reads what a backup says of the database it was made of. */
export function readFacts(db: Executor): Promise<RowOf<typeof facts>> {
  return db.one(query(facts)`
    select extract(epoch from now())::float8 as now,
      case when pg_is_in_recovery() then null else pg_current_wal_lsn()::text end as lsn,
      current_setting('server_version_num')::integer as version,
      (select count(*) from organizations) as organizations,
      (select value from instance_settings where name = 'secret_key_fingerprint') as secret_key_fingerprint`);
}

/** Begins a look at the database as it is at one moment. */
export async function beginLook(db: Executor, tables: readonly CatalogTable[]): Promise<void> {
  await db.run(sql`begin isolation level repeatable read read only`);
  // Before the moment is fixed: nobody changes or replaces a table from here on.
  await db.run(sql`lock table ${join(tables.map((each) => nameOf(each)))} in access share mode`);
}

/** Lets others share a look. @returns what they do that by. */
export async function shareLook(db: Executor): Promise<string> {
  const { id } = await db.one(query({ id: text })`select pg_export_snapshot() as id`);
  return id;
}

/** Looks at the database as somebody else does who has begun to. */
export async function joinSnapshot(db: Executor, id: string): Promise<void> {
  await db.run(sql`begin isolation level repeatable read read only`);
  await db.run(sql`set transaction snapshot ${raw(`'${id.replaceAll("'", "")}'`)}`);
}

/** Ends a look. */
export async function endSnapshot(db: Executor): Promise<void> {
  await db.run(sql`rollback`);
}

/** Writes a table's name with its schema. */
export function nameOf({ schema, name }: Pick<BackupTable, "schema" | "name">): Sql {
  return identifier(schema, name);
}

/** Writes the columns of a table. */
export function columnsOf({ columns }: Pick<BackupTable, "columns">): Sql {
  return join(columns.map((column) => identifier(column)));
}

/** Writes the statement that gives all rows of a table, of its partitions too. */
export function copyOutOf(table: BackupTable): Sql {
  const source = table.partitioned
    ? sql`(select ${columnsOf(table)} from ${nameOf(table)})`
    : sql`${nameOf(table)} (${columnsOf(table)})`;
  return sql`copy ${source} to stdout (format binary)`;
}
