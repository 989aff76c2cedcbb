import type { Database } from "../../../db/connect.ts";
import { compareMigrations, listApplied, type Migration, UpgradeError } from "../../../db/migrate.ts";
import { isUnfinished } from "../../../db/restore-state.ts";
import { compareReleases } from "../../../domain/releases.ts";
import { effectsOf, growingTables } from "../../../domain/migration-effects.ts";
import { estimateMigrations, type MigrationEstimate, roomOf } from "../../../domain/upgrade-plan.ts";
import { listBackups } from "../backups/folder-service.ts";
import type { Place } from "../backups/place-service.ts";
import { readDatabaseSize } from "../backups/room-service.ts";
import { readTableSizes } from "./store.ts";

/** What an upgrade of a database comes to. */
export interface SchemaFindings {
  /** The newest version that applied migrations, as far as it was noted. Versions without migrations leave no trace. */
  schema_by: string | null;
  /** Name of the last migration; null for a database without tables. */
  last_migration: string | null;
  migrations: MigrationEstimate[];
  /** Migrations of a later version. */
  ahead: string[];
  seconds: number;
  /** Room that is needed on the disk of the database, and for a backup before. */
  needed_bytes: number;
  /** Why this program cannot work with the database, in sentences. */
  problems: string[];
}

/** What is asked about a database. */
export interface SchemaQuestion {
  /** All that this program knows. */
  migrations: readonly Migration[];
  /** Version of this program. */
  program: string;
  /** Whether a backup is made before tables are rewritten. */
  backupFirst: boolean;
}

/** Compares a database with what this program would make of it. Changes nothing, and goes with a server that works with it. */
export async function checkSchema(db: Database, question: SchemaQuestion): Promise<SchemaFindings> {
  const applied = await listApplied(db.pool);
  const findings: SchemaFindings = {
    schema_by:
      applied
        .map(({ program }) => program ?? "")
        .toSorted(compareReleases)
        .at(-1) || null,
    last_migration: applied.at(-1)?.name ?? null,
    migrations: [],
    ahead: [],
    seconds: 0,
    needed_bytes: 0,
    problems: [],
  };
  if (await isUnfinished(db))
    findings.problems.push("A restore of this database did not finish: run `waybill restore` again.");
  if (applied.length === 0) return findings;
  try {
    const { pending, ahead } = compareMigrations(question.migrations, applied, question.program);
    const sizes = await readTableSizes(db, growingTables);
    const asked = pending.map(({ name, rewrites, sql }) => ({
      name,
      rewrites,
      tables: effectsOf(sql).map(({ table }) => table),
    }));
    findings.migrations = estimateMigrations(asked, sizes);
    findings.ahead = ahead.map(({ name }) => name);
    findings.seconds = findings.migrations.reduce((sum, { seconds }) => sum + seconds, 0);
    findings.needed_bytes = roomOf(
      findings.migrations,
      question.backupFirst ? await readDatabaseSize(db) : 0,
    );
  } catch (error) {
    if (!(error instanceof UpgradeError)) throw error;
    findings.problems.push(error.message);
  }
  return findings;
}

/** The last backup of a folder. */
export interface LastBackup {
  file: string;
  /** Unix seconds by the clock of the database. */
  made_at: number;
}

/** Finds the last complete backup of a folder, by its beginning and its end; undefined without one, or without the folder. */
export async function findLastBackup(place: Place): Promise<LastBackup | undefined> {
  const { backups, encrypted } = await listBackups(place).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { backups: [], encrypted: [] };
    throw error;
  });
  const readable = backups.map(({ path, head }) => ({ file: path, made_at: head.database_time }));
  const found = [...readable, ...encrypted.map(({ path, made_at }) => ({ file: path, made_at }))];
  return found.toSorted((one, other) => one.made_at - other.made_at).at(-1);
}
