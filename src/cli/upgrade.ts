import { statfs } from "node:fs/promises";

import { Command } from "commander";

import { daySeconds, megabyte } from "../lib/units.ts";
import { migrationsFolder, programVersion } from "../open-database.ts";
import { type Config, readConfig } from "../config.ts";
import { canMove, compareMajors, findManagedPostgres, ManagedPostgresError } from "../db/managed/index.ts";
import { readMigrations } from "../db/migrate.ts";
import { describeDistance } from "../domain/upgrade-plan.ts";
import {
  checkSchema,
  findLastBackup,
  type LastBackup,
  type SchemaFindings,
} from "../modules/maintenance/upgrades/check-service.ts";
import { strictly } from "./backup.ts";
import { placeNamed } from "./backup-places.ts";
import { withAnyDatabase } from "./command-deps.ts";
import { CliError, print, UsageError, WarningsError } from "./output.ts";

interface UpgradeFlags {
  check?: boolean;
  json?: boolean;
  backups?: string;
}

/** How the program's PostgreSQL and the cluster of the data directory stand to each other. */
interface EngineFindings {
  /** Major version that this program brings; null when none is installed. */
  engine: string | null;
  /** Major version that made the cluster; null without one. */
  cluster: string | null;
}

/** All that is known before an upgrade. Sizes in bytes, times in seconds. */
interface Findings extends Omit<SchemaFindings, "problems"> {
  installed: boolean;
  to: string;
  postgres: EngineFindings | null;
  free_bytes: number | null;
  backup: LastBackup | null;
  /** What keeps the upgrade from succeeding. */
  problems: string[];
  /** What somebody should look at before. */
  warnings: string[];
}

const nothing: SchemaFindings = {
  schema_by: null,
  last_migration: null,
  migrations: [],
  ahead: [],
  seconds: 0,
  needed_bytes: 0,
  problems: [],
};

async function engineFindings(config: Config): Promise<EngineFindings | null> {
  if (config.databaseUrl !== undefined) return null;
  const { cluster = null, engine = null } = await compareMajors(config.dataDir);
  return { cluster, engine };
}

/** Says what a cluster of another major version means for the start. */
async function tellEngine(
  config: Config,
  { cluster, engine }: EngineFindings,
  into: Findings,
): Promise<void> {
  if (cluster === null || cluster === engine) return;
  if (engine === null) {
    into.problems.push("The managed PostgreSQL is not installed for this platform.");
    return;
  }
  const what = `The database was made by PostgreSQL ${cluster}, and this version brings ${engine}`;
  try {
    if (await canMove(config.dataDir, config.upgrade.oldEngine))
      into.warnings.push(
        `${what}: the next start copies it into a new one, which takes a while and as much disk again.`,
      );
    else
      into.problems.push(
        `${what}, which cannot read it: set WAYBILL_OLD_ENGINE to a folder with the programs of PostgreSQL ${cluster}.`,
      );
  } catch (error) {
    if (!(error instanceof ManagedPostgresError)) throw error;
    into.problems.push(error.message);
  }
}

/** Looks at the schema, unless that needs a PostgreSQL that this program cannot start. */
async function schemaFindings(config: Config, postgres: EngineFindings | null): Promise<SchemaFindings> {
  const isForeign = postgres !== null && postgres.cluster !== postgres.engine;
  if (isForeign && (await findManagedPostgres(config.dataDir)) === undefined) return nothing;
  const migrations = await readMigrations(migrationsFolder);
  const question = { migrations, program: programVersion(), backupFirst: config.upgrade.backupFirst };
  return withAnyDatabase(config, (db) => checkSchema(db, question));
}

function judge(into: Findings): void {
  const { migrations, needed_bytes, free_bytes, backup, ahead } = into;
  if (free_bytes !== null && free_bytes < needed_bytes)
    into.problems.push(
      `The migrations need about ${Math.ceil(needed_bytes / megabyte)} MB of disk, and ${Math.floor(free_bytes / megabyte)} MB are free.`,
    );
  const age = backup === null ? Number.POSITIVE_INFINITY : Date.now() / 1000 - backup.made_at;
  if (migrations.length > 0 && age > daySeconds)
    into.warnings.push("There is no backup of the last 24 hours: make one with `waybill backup`.");
  if (ahead.length > 0)
    into.warnings.push(
      `A newer version was here: it has ${ahead.length} migrations that this one does not know.`,
    );
}

async function look(flags: UpgradeFlags): Promise<Findings> {
  const config = readConfig();
  const postgres = await engineFindings(config);
  const isInstalled = postgres === null || postgres.cluster !== null;
  const schema = isInstalled ? await schemaFindings(config, postgres) : nothing;
  const disk = postgres === null ? undefined : await statfs(config.dataDir).catch(() => undefined);
  const place = placeNamed(flags.backups ?? config.upgrade.backupFolder);
  const found: Findings = {
    installed: isInstalled && (schema.last_migration !== null || postgres?.cluster !== postgres?.engine),
    to: programVersion(),
    postgres,
    ...schema,
    free_bytes: disk === undefined ? null : disk.bavail * disk.bsize,
    backup: (await findLastBackup(place)) ?? null,
    problems: [...schema.problems],
    warnings: [],
  };
  if (postgres !== null) await tellEngine(config, postgres, found);
  judge(found);
  return found;
}

function describe({ installed, migrations, seconds, needed_bytes, backup, ...found }: Findings): string {
  if (!installed) return `Nothing is installed yet: the first start of ${found.to} sets it up`;
  const rewriting = migrations.filter(({ rewrites }) => rewrites);
  const lines = [
    `Upgrade ${describeDistance(found.schema_by, found.to)}: ${migrations.length} migrations, ${rewriting.length} of them rewrite tables`,
    ...rewriting.map(
      (each) =>
        `  ${each.name}  about ${each.seconds} s  ${each.tables.map(({ name, rows }) => `${name} (${rows} rows)`).join(", ")}`,
    ),
  ];
  if (migrations.length > 0)
    lines.push(`Takes about ${seconds} s, and ${Math.ceil(needed_bytes / megabyte)} MB of disk`);
  lines.push(
    backup === null
      ? "Last backup: none"
      : `Last backup: ${new Date(backup.made_at * 1000).toISOString()}  ${backup.file}`,
  );
  return lines.join("\n");
}

async function upgrade(flags: UpgradeFlags): Promise<void> {
  if (flags.check !== true)
    throw new UsageError(
      "The server upgrades its data when it starts: `waybill upgrade --check` says what that will take",
    );
  const found = await look(flags);
  print.line(flags.json === true ? JSON.stringify(found) : describe(found));
  if (found.problems.length > 0) throw new CliError([...found.problems, ...found.warnings].join("\n"));
  if (found.warnings.length > 0) throw new WarningsError(found.warnings.join("\n"));
}

/** Builds `waybill upgrade`. */
export function upgradeCommand(): Command {
  return strictly(new Command("upgrade"))
    .description(
      "say what the next start of this version will do to the data, with the server running or not",
    )
    .option(
      "--check",
      "look, and change nothing; 0: nothing is in the way, 1: it would fail, 3: something should be looked at",
    )
    .option(
      "--backups <place>",
      "where backups are; WAYBILL_BACKUP_TO, or the folder backups of the data directory unless given",
    )
    .option("--json", "tell what was found as JSON")
    .action(upgrade);
}
