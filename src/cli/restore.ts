import { createReadStream, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { Command } from "commander";

import { migrationsFolder, prepareDatabase } from "../app.ts";
import { type Config, readConfig, readConfigInto } from "../config.ts";
import type { Database } from "../db/connect.ts";
import { migrate, readMigrations } from "../db/migrate.ts";
import { migrateJobs } from "../jobs/runner.ts";
import { silentLog } from "../lib/log.ts";
import { isDiskFull } from "../lib/shortage.ts";
import { createSecretBox } from "../lib/secret-box.ts";
import { listBackups, lookAtBackup } from "../modules/maintenance/backups/folder-service.ts";
import type { BackupHead } from "../domain/backup-format.ts";
import { readBackup } from "../modules/maintenance/backups/read-service.ts";
import {
  requireKnownSchema,
  restoreBackup,
  type SchemaSteps,
} from "../modules/maintenance/backups/restore-service.ts";
import { readable, strictly } from "./backup.ts";
import { withIdleDatabase } from "./command-deps.ts";
import { CliError, print, WarningsError } from "./output.ts";

interface RestoreFlags {
  into?: string;
  dryRun?: boolean;
  forceNonempty?: boolean;
  quarantine?: boolean;
  quick?: boolean;
  json?: boolean;
}

function schemaSteps(db: Database, migrations: SchemaSteps["migrations"]): SchemaSteps {
  return {
    migrations,
    makeUntil: async (last) => {
      await migrate(db.direct, migrationsFolder, { until: last });
      await migrateJobs(db.direct, silentLog);
    },
    finish: () => prepareDatabase(db, silentLog),
  };
}

/** Reads the fingerprint of the key that a server of this configuration would have; undefined when it would make one. */
function keyFingerprint({ secretKey, dataDir }: Config): string | undefined {
  const file = join(dataDir, "secret-key");
  const key = secretKey ?? (existsSync(file) ? readFileSync(file, "utf8").trim() : undefined);
  return key === undefined ? undefined : createSecretBox(key).fingerprint;
}

/** Says what is to be done about the key, which no backup has. */
function keyWarnings(config: Config, head: BackupHead): string[] {
  if (head.secret_key_fingerprint === null || head.secret_key_fingerprint === keyFingerprint(config))
    return [];
  return [
    `The secrets in this backup were sealed with another key, which is not in it: before a server starts, set WAYBILL_SECRET_KEY, or the file ${join(config.dataDir, "secret-key")}, to that of the installation that was backed up`,
  ];
}

async function openOther(folder: string, id: string): Promise<AsyncIterable<Buffer> | undefined> {
  const { backups } = await listBackups(folder);
  const found = backups.find(({ head }) => head.id === id);
  return found && createReadStream(found.path);
}

/** Reads a backup without restoring it. */
async function rehearse(file: string, flags: RestoreFlags): Promise<void> {
  const { head, end } = await readBackup(createReadStream(file));
  const last = requireKnownSchema(head, await readMigrations(migrationsFolder));
  print.line(
    flags.json === true
      ? JSON.stringify({
          id: head.id,
          rows: end.rows,
          evidence_files: end.evidence_files,
          last_migration: last,
        })
      : `${file} can be restored: ${end.rows} rows, ${end.evidence_files} files of evidence, as of ${last}`,
  );
}

async function restore(file: string, flags: RestoreFlags): Promise<void> {
  if (flags.dryRun === true) return rehearse(file, flags);
  // Whether it is there, and a backup, is found out before anything is begun.
  await lookAtBackup(file);
  const config = flags.into === undefined ? readConfig() : readConfigInto(flags.into);
  const migrations = await readMigrations(migrationsFolder);
  const begun = performance.now();
  const restored = await withIdleDatabase(config, ({ db, evidence }) =>
    restoreBackup(
      { db, evidence },
      {
        open: () => createReadStream(file),
        openOther: (id) => openOther(dirname(file), id),
        schema: schemaSteps(db, migrations),
        replace: flags.forceNonempty === true,
        quarantine: flags.quarantine ?? flags.into !== undefined,
        quick: flags.quick === true,
        report: (step) => print.error(`restore: ${step}`),
      },
    ),
  ).catch((error: unknown) => {
    if (isDiskFull(error))
      throw new CliError("The disk is full: the database is incomplete, and servers refuse it", {
        cause: error,
      });
    throw error;
  });
  const { head, end } = restored;
  const warnings = [...restored.warnings, ...keyWarnings(config, head)];
  const seconds = (performance.now() - begun) / 1000;
  print.line(
    flags.json === true
      ? JSON.stringify({
          id: head.id,
          rows: end.rows,
          table_bytes: end.table_bytes,
          evidence_files: end.evidence_files,
          warnings,
          seconds,
        })
      : `Restored and checked: ${end.rows} rows, ${end.evidence_files} files of evidence, ${seconds.toFixed(1)} s`,
  );
  if (warnings.length > 0) throw new WarningsError(warnings.join("\n"));
}

/** Builds `waybill restore`. */
export function restoreCommand(): Command {
  return strictly(new Command("restore"))
    .description("put a backup into an empty database that no server works with, and check all of it")
    .argument("<file>", "a file that `waybill backup` has made")
    .option(
      "--into <target>",
      "a data directory, or the URL of a database; those of the configuration unless given",
    )
    .option("--dry-run", "read the file and compare every byte, and restore nothing")
    .option("--force-nonempty", "remove whatever is in the database first")
    .option(
      "--quarantine",
      "have the copy notify nobody until `waybill admin release-quarantine`; so it is with --into",
    )
    .option("--no-quarantine", "let the copy notify others at once")
    .option("--quick", "look at 1,000 files of evidence only")
    .option("--json", "tell what was done as JSON")
    .action((file: string, flags: RestoreFlags) => readable(restore(file, flags)));
}
