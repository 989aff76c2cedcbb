import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type pg from "pg";

import { sha256 } from "../lib/hash.ts";

/** Any number that nobody else locks; every process that migrates takes this one. */
const migrationLock = 4_707_207_701;

/** A step of the schema. */
export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** Reads the migrations of a folder in their order. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(directory, name), "utf8");
      return { name, sql, checksum: sha256(sql).toString("hex") };
    }),
  );
}

async function applyOne(client: pg.PoolClient, migration: Migration): Promise<void> {
  await client.query("begin");
  try {
    // On Citus tables that refer to each other are changed on one connection to each node; elsewhere it means nothing.
    await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
    await client.query(migration.sql);
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [
      migration.name,
      migration.checksum,
    ]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw new Error(`Migration ${migration.name} failed`, { cause: error });
  }
}

/** Does work on the schema while nobody else does, with as much time as it takes. */
export async function withSchema<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    // Large tables take their time, and so do others who migrate.
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    return await work(client);
  } finally {
    await client.query("select pg_advisory_unlock_all()").catch(() => {});
    await client.query("reset statement_timeout").catch(() => {});
    client.release();
  }
}

/**
 * Brings the database up to date: applies, in order of name and each in its own transaction, the files of `directory`
 * that were not applied yet. Processes that start together wait for each other. A file that was changed after it was
 * applied, or one the database knows and we do not (a newer version wrote it), is an error: nothing is applied then.
 * @param options `until`: the last one wanted, all of them when left out; `afterwards` does what else has to be done before others may go on.
 * @returns the names applied.
 */
export async function migrate(
  pool: pg.Pool,
  directory: string,
  options: { until?: string; afterwards?: (client: pg.PoolClient) => Promise<void> } = {},
): Promise<string[]> {
  const { until, afterwards } = options;
  const all = await readMigrations(directory);
  const migrations = until === undefined ? all : all.filter(({ name }) => name <= until);
  return withSchema(pool, async (client) => {
    const applied = await applyPending(client, migrations);
    await afterwards?.(client);
    return applied;
  });
}

async function applyPending(client: pg.PoolClient, migrations: readonly Migration[]): Promise<string[]> {
  await client.query(
    `create table if not exists migrations (
       name text primary key, checksum text not null, applied_at timestamptz not null default now())`,
  );
  const applied = await client.query<{ name: string; checksum: string }>(
    "select name, checksum from migrations",
  );
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]));
  for (const row of applied.rows) {
    const checksum = known.get(row.name);
    if (checksum === undefined)
      throw new Error(`The database was written by a newer version: it has migration ${row.name}`);
    if (checksum !== row.checksum) throw new Error(`Migration ${row.name} was changed after it was applied`);
  }
  const done = new Set(applied.rows.map((row) => row.name));
  const pending = migrations.filter((migration) => !done.has(migration.name));
  for (const migration of pending) await applyOne(client, migration);
  return pending.map((migration) => migration.name);
}
