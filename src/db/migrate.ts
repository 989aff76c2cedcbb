import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type pg from "pg";

import { type MigrationMarks, readMarks, withoutMarks } from "../domain/migration-effects.ts";
import { compareReleases, isReadableBy } from "../domain/releases.ts";
import { sha256 } from "../lib/hash.ts";
import { organizationStatistics } from "./organization-statistics.ts";
import { splitStatements } from "./sql-statements.ts";

/** Any number that nobody else locks; every process that migrates takes this one. */
const migrationLock = 4_707_207_701;

/** A step of the schema. */
export interface Migration extends MigrationMarks {
  name: string;
  sql: string;
  /** Of the text without its marks. */
  checksum: string;
}

/** Why a database cannot be brought up to date, in a sentence for who runs the installation. */
export class UpgradeError extends Error {}

/** Reads the migrations of a folder in their order. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(directory, name), "utf8");
      return { name, sql, ...readMarks(sql), checksum: sha256(withoutMarks(sql)).toString("hex") };
    }),
  );
}

/** What is noted with a migration that is applied. */
interface Note {
  program: string | null;
  backup: string | null;
}

async function applyOne(client: pg.PoolClient, migration: Migration, note: Note): Promise<void> {
  await client.query("begin");
  try {
    // On Citus tables that refer to each other are changed on one connection to each node; elsewhere it means nothing.
    await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
    for (const statement of splitStatements(migration.sql)) await client.query(statement);
    await client.query(
      "insert into migrations (name, checksum, program, contracts, backup) values ($1, $2, $3, $4, $5)",
      [migration.name, migration.checksum, note.program, migration.contracts, note.backup],
    );
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

/** How a database is brought up to date. */
export interface MigrateOptions {
  /** Name of the last migration wanted; all when left out. */
  until?: string;
  /** Names of those that are wanted, of which the database has none that is not named; all when left out. */
  only?: readonly string[];
  /** Version of this program, which is noted with what it applies. Without it a schema that is ahead is refused. */
  program?: string;
  /**
   * Called before the first pending migration that rewrites tables of a database with data in it: makes a backup.
   * @returns the file, which is noted for those who have to go back; undefined when none was wanted. What it throws stops all.
   */
  beforeRewriting?(pending: readonly Migration[]): Promise<string | undefined>;
  /** Does what else has to be done before others may go on. */
  afterwards?(client: pg.PoolClient): Promise<void>;
  /** Told of migrations of a later version, which this one can work with. */
  onAhead?(names: readonly string[]): void;
}

/**
 * Brings the database up to date: applies, in order of name and each in its own transaction, the files of `directory`
 * that were not applied yet. Processes that start together wait for each other. Migrations that the database has and we do not are
 * those of a later version: one minor version ahead is worked with unless they contract the schema, anything else is refused. So is a
 * file that was changed after it was applied. Nothing is applied then.
 * @returns the names applied.
 * @throws UpgradeError for a database that this program cannot work with.
 */
export async function migrate(
  pool: pg.Pool,
  directory: string,
  options: MigrateOptions = {},
): Promise<string[]> {
  const { until, only, afterwards } = options;
  const migrations = (await readMigrations(directory)).filter(
    ({ name }) => (until === undefined || name <= until) && (only === undefined || only.includes(name)),
  );
  return withSchema(pool, async (client) => {
    const applied = await applyPending(client, migrations, options);
    if (applied.length > 0) await client.query(organizationStatistics);
    await afterwards?.(client);
    return applied;
  });
}

/** A migration that the database has. */
export interface AppliedMigration {
  name: string;
  checksum: string;
  /** Version of the program that applied it; null before that was noted. */
  program: string | null;
  /** Whether the version before cannot work with the schema it leaves. */
  contracts: boolean;
  /** The backup that was made before it. */
  backup: string | null;
}

type Queryable = Pick<pg.ClientBase, "query">;

/** Lists what was applied to a database, in order of name; nothing for one that has no tables yet. Changes nothing. */
export async function listApplied(client: Queryable): Promise<AppliedMigration[]> {
  const { rows: columns } = await client.query<{ name: string }>(
    "select attname as name from pg_attribute where attrelid = to_regclass('public.migrations') and attnum > 0",
  );
  if (columns.length === 0) return [];
  const notes = columns.some(({ name }) => name === "program")
    ? "program, contracts, backup"
    : "null as program, false as contracts, null as backup";
  const { rows } = await client.query<AppliedMigration>(
    `select name, checksum, ${notes} from public.migrations order by name`,
  );
  return rows;
}

/** Makes room for what is noted. Only where it is missing: a backup that is under way keeps others from changing the table. */
async function prepareNotes(client: pg.PoolClient): Promise<void> {
  await client.query(
    `create table if not exists migrations (
       name text primary key, checksum text not null, applied_at timestamptz not null default now())`,
  );
  const { rowCount } = await client.query(
    "select from pg_attribute where attrelid = 'migrations'::regclass and attname = 'backup'",
  );
  if (rowCount === 0)
    await client.query(
      `alter table migrations add column program text, add column contracts boolean not null default false,
         add column backup text`,
    );
}

function refuse(unknown: readonly AppliedMigration[], program: string | undefined): UpgradeError {
  const newest = unknown
    .map((each) => each.program ?? "")
    .toSorted(compareReleases)
    .at(-1);
  const backup = unknown.find((each) => each.backup !== null)?.backup;
  const back =
    backup === undefined
      ? "restore a backup that was made before the upgrade (`waybill backup list` shows those there are)"
      : `restore the backup that was made before the upgrade: \`waybill restore --force-nonempty ${backup}\``;
  return new UpgradeError(
    `The database was written by a newer version${newest ? ` (${newest})` : ""}: it has migration ${unknown.at(-1)?.name ?? ""}. ` +
      `This one${program === undefined ? "" : ` (${program})`} works with a schema one minor version ahead at most. Start that version again, or ${back}.`,
  );
}

/** What of a folder's migrations a database does not have yet, and what it has beyond them. */
export interface MigrationDistance {
  pending: Migration[];
  ahead: AppliedMigration[];
}

/**
 * Compares what a program knows with what a database has. @param program version of the program, if it may work with a later schema.
 * @throws UpgradeError when they do not go together.
 */
export function compareMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
  program: string | undefined,
): MigrationDistance {
  const checksums = new Map(known.map((migration) => [migration.name, migration.checksum]));
  const ahead = applied.filter(({ name }) => !checksums.has(name));
  const changed = applied.find(
    ({ name, checksum }) => checksums.has(name) && checksums.get(name) !== checksum,
  );
  const done = new Set(applied.map(({ name }) => name));
  const pending = known.filter(({ name }) => !done.has(name));
  const isReadable =
    program !== undefined && pending.length === 0 && ahead.every((each) => isReadableBy(program, each));
  if (ahead.length > 0 && !isReadable) throw refuse(ahead, program);
  if (changed !== undefined)
    throw new UpgradeError(`Migration ${changed.name} was changed after it was applied`);
  return { pending, ahead };
}

/** Tells whether anybody has used the database yet. */
async function hasData(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(
    "select to_regclass('public.organizations') is not null as is_there",
  );
  if (rows[0]?.is_there !== true) return false;
  return (await client.query("select from public.organizations limit 1")).rowCount === 1;
}

async function applyPending(
  client: pg.PoolClient,
  migrations: readonly Migration[],
  { program, beforeRewriting, onAhead }: MigrateOptions,
): Promise<string[]> {
  // Before anything is changed: a database of a later version is left as it is.
  const { pending, ahead } = compareMigrations(migrations, await listApplied(client), program);
  if (ahead.length > 0) onAhead?.(ahead.map(({ name }) => name));
  await prepareNotes(client);
  const note: Note = { program: program ?? null, backup: null };
  let isAsked = false;
  for (const [index, migration] of pending.entries()) {
    if (migration.rewrites && !isAsked && beforeRewriting !== undefined && (await hasData(client))) {
      isAsked = true;
      note.backup = (await beforeRewriting(pending.slice(index))) ?? null;
    }
    await applyOne(client, migration, note);
  }
  return pending.map((migration) => migration.name);
}
