import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { Command } from "commander";

import { createDeps } from "../app.ts";
import { migrationsFolder, schemaSteps } from "../open-database.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/connect.ts";
import { readMigrations } from "../db/migrate.ts";
import { createEvidenceStore } from "../evidence/create.ts";
import type { EvidenceStore } from "../evidence/store.ts";
import { createLogger } from "../lib/log.ts";
import { DamagedArchive } from "../lib/tar-reader.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { openArchive } from "../modules/maintenance/backups/encryption-service.ts";
import {
  type FoundBackup,
  listBackups,
  lookAtBackup,
} from "../modules/maintenance/backups/folder-service.ts";
import { type Restored, restoreBackup } from "../modules/maintenance/backups/restore-service.ts";
import { requireRoom } from "../modules/maintenance/backups/room-service.ts";
import { recordRun } from "../modules/maintenance/backups/runs-service.ts";
import { type IdentityFlag, identitiesOf, identityOption } from "./backup-encryption.ts";
import { scheduledOption, strictly } from "./backup.ts";
import { readable } from "./backup-files.ts";
import { fileNamed, isPlace, placeNamed, standardPlace } from "./backup-places.ts";
import { type CommandDeps, runActor, withDatabase } from "./command-deps.ts";
import { compareAnswers, type ComparedAnswers } from "./drill-answers.ts";
import { type DrillPlace, openDrillPlace } from "./drill-place.ts";
import { interruption } from "./interruption.ts";
import { print, UsageError, WarningsError } from "./output.ts";
import { openOther } from "./restore-parts.ts";

interface DrillFlags extends IdentityFlag {
  from: string;
  quick?: boolean;
  json?: boolean;
  scheduled?: boolean;
}

/** Finds the backup to restore: a file, or the latest of a folder. */
async function findBackup(flags: DrillFlags): Promise<FoundBackup> {
  const { from } = flags;
  const identities = identitiesOf(flags);
  if (from !== "latest" && !(await isPlace(from))) return lookAtBackup(fileNamed(from), identities);
  const place = from === "latest" ? standardPlace() : placeNamed(from);
  const { backups, encrypted } = await listBackups(place);
  const [latest, sealed] = [backups.at(-1), encrypted.at(-1)];
  if (sealed !== undefined && sealed.made_at > (latest?.head.database_time ?? 0))
    return lookAtBackup(sealed.file, identities);
  if (latest !== undefined) return latest;
  throw new UsageError(`There is no backup in ${place.path}: make one with \`waybill backup\``);
}

/** Rows take so many times their bytes in a database, with indexes and what is written beside them. */
const spread = 3;

/** Bytes that a cluster takes before anything is in it. */
const emptyCluster = 400_000_000;

/** How much room restoring a backup beside takes at most. The rows may be elsewhere, but that is not known. */
async function requireRoomForDrill({ dataDir }: Config, { bytes, end, file }: FoundBackup): Promise<void> {
  const others = end.needs.length === 0 ? [] : (await listBackups(file.place)).backups;
  const needed = others.filter(({ head }) => end.needs.includes(head.id));
  const files = needed.reduce((sum, other) => sum + other.bytes, bytes);
  await requireRoom(dataDir, emptyCluster + end.table_bytes * spread + files);
}

/** Makes what answers are asked of: nothing of it needs the secret key. */
function answering({ config, clock }: CommandDeps, db: Database, evidence: EvidenceStore): Deps {
  const now = clock.now();
  const unsealed = { ...config, secretKey: randomUUID() };
  return {
    ...createDeps(unsealed, db, { log: createLogger("silent"), clock: { now: () => now } }),
    evidence,
  };
}

/** What a drill came to. */
interface Rehearsed extends Restored, ComparedAnswers {}

async function rehearse(
  deps: CommandDeps,
  place: DrillPlace,
  { file, head }: FoundBackup,
  flags: DrillFlags,
): Promise<Rehearsed> {
  const files = { ...deps.config.evidence, dir: join(place.folder, "evidence"), s3: undefined };
  // A backup without files is one of rows that refer to those of the source.
  const evidence = head.evidence === "none" ? deps.evidence : createEvidenceStore(files);
  const restored = await restoreBackup(
    { db: place.db, evidence },
    {
      open: () => openArchive(file, identitiesOf(flags)),
      openOther: (id) => openOther(file.place, id),
      schema: schemaSteps(place.db, await readMigrations(migrationsFolder)),
      replace: false,
      quarantine: true,
      quick: flags.quick === true,
      report: (step) => print.error(`drill: ${step}`),
    },
  );
  print.error("drill: comparing answers");
  const source = answering(deps, deps.db, deps.evidence);
  const copy = answering({ ...deps, clock: source.clock }, place.db, evidence);
  try {
    const answers = await compareAnswers(source, copy);
    if (answers.differences.length > 0) throw new DamagedArchive(answers.differences.join("\n"));
    return { ...restored, ...answers };
  } finally {
    await source.sandbox.close();
    await copy.sandbox.close();
  }
}

function warningsOf({ findings, compared }: Rehearsed): string[] {
  return compared > 0
    ? findings
    : [...findings, "No answers were compared: the backup is of no organization that is here"];
}

/** Restores a backup beside, checks the copy, and removes it, whatever comes of it. */
async function drillWith(deps: CommandDeps, found: FoundBackup, flags: DrillFlags): Promise<Rehearsed> {
  await requireRoomForDrill(deps.config, found);
  const interrupted = interruption("Interrupted: nothing is known of the backup");
  const opening = openDrillPlace(deps.db, deps.config);
  try {
    const work = opening.then((place) => rehearse(deps, place, found, flags));
    return await Promise.race([work, interrupted.promise]);
  } finally {
    const place = await opening.catch(() => undefined);
    await place?.remove();
    interrupted.forget();
  }
}

async function drill(flags: DrillFlags): Promise<void> {
  const found = await findBackup(flags);
  const { path, bytes } = found;
  const scheduled = flags.scheduled === true;
  const actor = runActor("restore drill", scheduled);
  const run = { id: randomUUID(), kind: "restore_drill", scheduled, actor } as const;
  const begun = performance.now();
  const { rehearsed, warnings } = await withDatabase((deps) =>
    recordRun(deps, { ...run, alone: true }, async (note) => {
      note({ file: path, bytes });
      const rehearsed = await drillWith(deps, found, flags);
      const warnings = warningsOf(rehearsed);
      const { rows, evidence_files } = rehearsed.end;
      note({ rows, evidence_files, problem: warnings.length === 0 ? null : warnings.join("\n") });
      return { rehearsed, warnings };
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  const { end, compared } = rehearsed;
  print.line(
    flags.json === true
      ? JSON.stringify({
          file: path,
          id: end.id,
          rows: end.rows,
          evidence_files: end.evidence_files,
          answers: compared,
          warnings,
          seconds,
        })
      : `${path} was restored beside and is right: ${end.rows} rows, ${end.evidence_files} files of evidence, ${compared} answers equal, ${seconds.toFixed(1)} s`,
  );
  if (warnings.length > 0) throw new WarningsError(warnings.join("\n"));
}

/** Builds `waybill restore drill`. */
export function drillCommand(): Command {
  return strictly(new Command("drill"))
    .description("restore a backup beside, check the copy and compare it with what is here, and remove it")
    .option("--from <backup>", "a file, a folder, or latest: the latest of where backups go", "latest")
    .option("--quick", "look at 1,000 files of evidence only")
    .addOption(identityOption())
    .option("--json", "tell what was found as JSON")
    .addOption(scheduledOption())
    .action((flags: DrillFlags) => readable(drill(flags)));
}
