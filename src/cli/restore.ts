import { randomUUID } from "node:crypto";

import { Command } from "commander";

import { migrationsFolder, schemaSteps } from "../open-database.ts";
import { readConfig, readConfigInto } from "../config.ts";
import type { Database } from "../db/connect.ts";
import { readMigrations } from "../db/migrate.ts";
import { isDatabaseFull } from "../db/sqlstate.ts";
import type { Clock } from "../lib/clock.ts";
import { isDiskFull } from "../lib/shortage.ts";
import { isPhysical } from "../domain/backup-format.ts";
import { openArchive } from "../modules/maintenance/backups/encryption-service.ts";
import type { FoundBackup } from "../modules/maintenance/backups/folder-service.ts";
import {
  requireKnownSchema,
  restoreBackup,
  type Restored,
} from "../modules/maintenance/backups/restore-service.ts";
import { readWithLost } from "../modules/maintenance/backups/sealed-service.ts";
import { recordDone } from "../modules/maintenance/backups/runs-service.ts";
import { identitiesOf, identityOption } from "./backup-encryption.ts";
import { strictly } from "./backup.ts";
import { contentsOf, contentsText, readable } from "./backup-files.ts";
import { fileNamed } from "./backup-places.ts";
import { restoredTime, runActor, withIdleDatabase } from "./command-deps.ts";
import { CliError, print, UsageError } from "./output.ts";
import {
  forgetting,
  hasKey,
  lostWithoutKey,
  openOther,
  restoreKey,
  type RestoreFlags,
  tellRestored,
  withoutKey,
} from "./restore-parts.ts";
import { findBackup, restorePhysical } from "./restore-physical.ts";

/** Reads a backup without restoring it. */
async function rehearse(file: string, flags: RestoreFlags): Promise<void> {
  const { read, lost } = await readWithLost(openArchive(fileNamed(file), identitiesOf(flags)));
  const { head, end } = read;
  const sealed = isPhysical(head) ? undefined : lost;
  const last = requireKnownSchema(head, await readMigrations(migrationsFolder));
  print.line(
    flags.json === true
      ? JSON.stringify({ id: head.id, ...contentsOf(end), last_migration: last, sealed: sealed ?? null })
      : [
          `${file} can be restored: ${contentsText(end)}, as of ${last}`,
          ...(head.secret_key_fingerprint === null
            ? []
            : ["It needs the secret key of its installation.", ...lostWithoutKey(sealed)]),
        ].join("\n"),
  );
}

/** Keeps a record of a restore, in what it made. */
async function noteRestore(
  db: Database,
  { path, bytes }: FoundBackup,
  { end, warnings, forgotten }: Restored,
  { clock, seconds }: { clock: Clock; seconds: number },
): Promise<void> {
  const actor = runActor("restore", false);
  const problems = [
    ...warnings,
    ...(forgotten === undefined ? [] : [`${forgotten.length} secrets were forgotten, for want of their key`]),
  ];
  await recordDone(
    { db, clock },
    { id: randomUUID(), kind: "restore", scheduled: false, actor },
    {
      seconds,
      ok: true,
      file: path,
      bytes,
      rows: end.rows,
      evidence_files: end.evidence_files,
      problem: problems.length === 0 ? null : problems.join("\n"),
    },
  );
}

async function restore(file: string, flags: RestoreFlags): Promise<void> {
  if (flags.dryRun === true) return rehearse(file, flags);
  // Whether it is there, and a backup, is found out before anything is begun.
  const found = await findBackup(file, flags);
  if (isPhysical(found.head)) return restorePhysical(found, flags);
  if (flags.at !== undefined || flags.wal !== undefined)
    throw new UsageError("--at and --wal need a physical backup, and this one is portable");
  const config = flags.into === undefined ? readConfig() : readConfigInto(flags.into);
  const migrations = await readMigrations(migrationsFolder);
  if (!hasKey(config, found) && flags.forgetSecrets !== true) {
    const { lost } = await readWithLost(openArchive(found.file, identitiesOf(flags)));
    throw new CliError(withoutKey(config, found, lost));
  }
  const begun = performance.now();
  const restored = await withIdleDatabase(config, async ({ db, evidence }) => {
    const done = await restoreBackup(
      { db, evidence },
      {
        open: () => openArchive(found.file, identitiesOf(flags)),
        openOther: (id) => openOther(found.file.place, id),
        schema: schemaSteps(db, migrations),
        replace: flags.forceNonempty === true,
        quarantine: flags.quarantine ?? flags.into !== undefined,
        quick: flags.quick === true,
        forget: forgetting(config, found),
        report: (step) => print.error(`restore: ${step}`),
      },
    );
    const { clock, advice } = await restoredTime(db);
    if (advice !== undefined) done.warnings.push(advice);
    await noteRestore(db, found, done, { clock, seconds: (performance.now() - begun) / 1000 });
    return done;
  }).catch((error: unknown) => {
    if (isDiskFull(error) || isDatabaseFull(error))
      throw new CliError("The disk is full: the database is incomplete, and servers refuse it", {
        cause: error,
      });
    throw error;
  });
  restoreKey(config, found);
  const { head, end } = restored;
  tellRestored(restored, {
    text: contentsText(end),
    facts: { id: head.id, ...contentsOf(end) },
    seconds: (performance.now() - begun) / 1000,
    json: flags.json === true,
  });
}

/** Builds `waybill restore`. */
export function restoreCommand(): Command {
  return strictly(new Command("restore"))
    .description("put a backup into an empty database that no server works with, and check all of it")
    .argument(
      "<file>",
      "a file that `waybill backup` has made, also s3://bucket/prefix/file, or the folder or bucket of a WAL archive, of which the fitting one is taken",
    )
    .option(
      "--into <target>",
      "a data directory, or the URL of a database; those of the configuration unless given",
    )
    .option(
      "--at <time>",
      "of a physical backup and what came after it: 2026-11-23T14:05:00+01:00, with the offset from UTC, or latest",
    )
    .option(
      "--wal <folder>",
      "the WAL archive that has what came after it; the one that the backup is in unless given",
    )
    .addOption(identityOption())
    .option("--dry-run", "read the file and compare every byte, and restore nothing")
    .option("--force-nonempty", "remove whatever is in the database first")
    .option(
      "--quarantine",
      "have the copy notify nobody until `waybill admin release-quarantine`; so it is with --into",
    )
    .option("--no-quarantine", "let the copy notify others at once")
    .option(
      "--forget-secrets",
      "go on without the secret key that the backup was made with: remove what it sealed, and list it",
    )
    .option("--quick", "look at 1,000 files of evidence only")
    .option("--json", "tell what was done as JSON")
    .action((file: string, flags: RestoreFlags) => readable(restore(file, flags)));
}
