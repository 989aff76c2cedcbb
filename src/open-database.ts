import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, packageRoot, walScripts } from "./config.ts";
import { connect, type ConnectOptions, type Database } from "./db/connect.ts";
import {
  type Claimant,
  type ManagedConnection,
  moveToPresentMajor,
  startManagedPostgres,
} from "./db/managed/index.ts";
import { distributeNew } from "./db/citus/distribute.ts";
import { listApplied, migrate, type MigrateOptions, readMigrations } from "./db/migrate.ts";
import { checkPooler } from "./db/pooler.ts";
import { createReplica, type Replica } from "./db/replica.ts";
import { requireRestored } from "./db/restore-state.ts";
import { createEvidenceStore } from "./evidence/create.ts";
import { migrateJobs } from "./jobs/runner.ts";
import { type Logger as ProgramLog, silentLog } from "./lib/log.ts";
import { backUpBeforeMigrating } from "./modules/maintenance/backups/before-migrating-service.ts";
import { copyDatabase } from "./modules/maintenance/backups/copy-service.ts";
import { openPlace } from "./modules/maintenance/backups/place-service.ts";
import type { SchemaSteps } from "./modules/maintenance/backups/restore-service.ts";

/** How the program is told what happens to its database. */
export interface OpenOptions {
  log: ProgramLog;
  /** Who works with the managed PostgreSQL; a server when left out. */
  by?: Claimant;
  /** Called when the managed PostgreSQL is lost for good. */
  onFatal?: (error: Error) => void;
}

function installedVersion(): string {
  const text = readFileSync(join(packageRoot, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Read at the start: later there may be another one. */
const ownVersion = installedVersion();

/** Reads the version of the program that runs, from its package. */
export function programVersion(): string {
  return ownVersion;
}

/** Where the schema's migrations are. */
export const migrationsFolder = join(packageRoot, "migrations");

/** Lists the names of the migrations of the package, in their order. */
export function migrationNames(): string[] {
  return readdirSync(migrationsFolder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
}

/** A database that can be used, and what ends that. */
export interface OpenDatabase {
  db: Database;
  close(): Promise<void>;
}

/** So many keep two processors busy; the other connections are left to what takes longer. */
const pipelinedConnections = 2;

/** Copies the database of one managed cluster into another that is empty. */
async function copyCluster(
  config: Config,
  log: ProgramLog,
  connections: { from: ManagedConnection; to: ManagedConnection },
): Promise<void> {
  const from = connect({ connection: connections.from, max: 2 });
  const to = connect({ connection: connections.to, max: 3 });
  try {
    // A cluster that nobody has set up yet has nothing to copy.
    if ((await listApplied(from.pool)).length === 0) return;
    await requireRestored(from);
    const { end, warnings } = await copyDatabase({
      from,
      to,
      evidence: createEvidenceStore(config.evidence),
      schema: schemaSteps(to, await readMigrations(migrationsFolder)),
      program: programVersion(),
      report: (step) => log.info({ step }, "moving the database"),
    });
    log.info({ rows: end.rows, warnings }, "the database was copied and compared");
  } finally {
    await from.close();
    await to.close();
  }
}

/** Opens the database that the configuration names, or starts the managed one. @throws UpgradeError for a cluster that cannot be moved to this engine. */
export async function openDatabase(config: Config, options: OpenOptions): Promise<OpenDatabase> {
  const onConnectionError = (err: Error): void => options.log.warn({ err }, "database connection lost");
  const onVaryingStatement = (name: string): void =>
    options.log.warn({ statement: name }, "statement varies under its name and is not prepared");
  const pool = { max: config.databasePoolSize, pipelinedConnections, onConnectionError, onVaryingStatement };
  if (config.databaseUrl !== undefined) {
    const { databaseUrl, databasePooler: pooler, databaseDirectUrl: direct } = config;
    const db = connect({ connection: databaseUrl, pooler, direct, ...pool });
    await checkPooler(db, pooler).catch(async (error: unknown) => {
      await db.close();
      throw error;
    });
    return { db, close: () => db.close() };
  }
  await moveToPresentMajor({
    dataDir: config.dataDir,
    log: options.log,
    oldEngine: config.upgrade.oldEngine,
    copy: (from, to) => copyCluster(config, options.log, { from, to }),
  });
  return openManaged(config, options, pool);
}

/** Starts the PostgreSQL of the data directory, which is made when there is none, and connects to it. Closing it stops it. */
export async function openManaged(
  config: Config,
  options: OpenOptions,
  pool: Omit<ConnectOptions, "connection">,
): Promise<OpenDatabase> {
  const managed = await startManagedPostgres({
    dataDir: config.dataDir,
    log: options.log,
    ...(options.by === undefined ? {} : { by: options.by }),
    walArchive: config.wal && { folder: config.wal.folder, script: walScripts.archive },
    ...(options.onFatal === undefined ? {} : { onFatal: options.onFatal }),
  });
  const db = connect({ connection: managed.connection, ...pool });
  return {
    db,
    close: async () => {
      await db.close();
      await managed.stop();
    },
  };
}

/**
 * Brings an empty or older database up to date. @param beforeRewriting makes a backup before the first migration that rewrites tables, and
 * gives its name.
 * @returns whether it is distributed over several nodes, which no server changes.
 * @throws UpgradeError for a database that this program cannot work with.
 */
export async function prepareDatabase(
  db: Database,
  log: ProgramLog,
  beforeRewriting?: MigrateOptions["beforeRewriting"],
): Promise<{ distributed: boolean }> {
  let distributed = false;
  const applied = await migrate(db.direct, migrationsFolder, {
    program: programVersion(),
    ...(beforeRewriting && { beforeRewriting }),
    onAhead: (migrations) =>
      log.warn({ migrations }, "a newer version has been here; its schema is worked with as it is"),
    afterwards: async (client) => {
      const news = await distributeNew(client);
      distributed = news !== undefined;
      if (news !== undefined && news.tables.length > 0)
        log.info({ tables: news.tables }, "tables distributed");
    },
  });
  if (applied.length > 0) log.info({ migrations: applied }, "database migrated");
  await migrateJobs(db.direct, log);
  return { distributed };
}

/** Makes a schema in a database that a backup is restored into. @param migrations all that this program knows. */
export function schemaSteps(db: Database, migrations: SchemaSteps["migrations"]): SchemaSteps {
  return {
    migrations,
    makeUntil: async (_last, only) => {
      await migrate(db.direct, migrationsFolder, { only });
      await migrateJobs(db.direct, silentLog);
    },
    finish: () => prepareDatabase(db, silentLog),
  };
}

/** Makes what copies the database into a file before its tables are rewritten; undefined when that is not wanted. */
export function backupBeforeRewriting(
  { upgrade: { backupFirst, backupFolder: folder }, evidence, backups }: Config,
  db: Database,
  log: ProgramLog,
): MigrateOptions["beforeRewriting"] {
  if (!backupFirst) return undefined;
  return async (pending) => {
    log.info({ folder, next: pending[0]?.name }, "making a backup before tables are rewritten");
    const deps = { db, evidence: createEvidenceStore(evidence) };
    const place = {
      place: openPlace(folder, backups.s3),
      program: programVersion(),
      encryptTo: backups.encryptTo,
    };
    const file = await backUpBeforeMigrating(deps, place, pending);
    log.info({ file }, "backup made");
    return file;
  };
}

/** Opens the replica that the configuration names, if any. It may be away. */
export function openReplica(config: Config, db: Database, { log }: OpenOptions): Replica | undefined {
  const { databaseReadUrl: connection, databasePoolSize: max } = config;
  if (connection === undefined) return undefined;
  const onConnectionError = (err: Error): void => log.warn({ err }, "connection to the replica lost");
  return createReplica({
    primary: db,
    replica: connect({ connection, max, pipelinedConnections, onConnectionError }),
    onAway: (err) => log.warn({ err }, "the replica is away, all reads go to the primary"),
  });
}
