import { join } from "node:path";

import { migrationsFolder, prepareDatabase } from "../open-database.ts";
import { type Config, readConfig, readConfigInto, walScripts } from "../config.ts";
import { readMigrations } from "../db/migrate.ts";
import { isPhysical } from "../domain/backup-format.ts";
import { type Moment, parseMoment } from "../domain/wal.ts";
import type { EvidenceStore } from "../evidence/store.ts";
import { silentLog } from "../lib/log.ts";
import { isDiskFull } from "../lib/shortage.ts";
import { openArchive } from "../modules/maintenance/backups/encryption-service.ts";
import { type FoundBackup, lookAtBackup } from "../modules/maintenance/backups/folder-service.ts";
import {
  type ArchivedWal,
  restorePhysicalBackup,
} from "../modules/maintenance/backups/physical-restore-service.ts";
import { placeAbove } from "../modules/maintenance/backups/place-service.ts";
import { findBase } from "../modules/maintenance/wal/archive-service.ts";
import { readEvidenceArchive } from "../modules/maintenance/wal/evidence-archive.ts";
import { openArchivedWal } from "../modules/maintenance/wal/restore-service.ts";
import { identitiesOf } from "./backup-encryption.ts";
import { contentsOf, contentsText } from "./backup-files.ts";
import { fileNamed, isPlace, placeNamed } from "./backup-places.ts";
import { restoredTime } from "./command-deps.ts";
import { CliError, print, UsageError } from "./output.ts";
import {
  forgetting,
  hasKey,
  openOther,
  restoreKey,
  type RestoreFlags,
  tellRestored,
  withoutKey,
} from "./restore-parts.ts";

function momentOf(at: string): Moment | "latest" {
  const moment = at === "latest" ? at : parseMoment(at);
  if (moment !== undefined) return moment;
  throw new UsageError(
    `'${at}' is no moment: give date, time and offset from UTC, such as 2026-11-23T14:05:00+01:00 or 2026-11-23T13:05:00Z, or latest`,
  );
}

/** Finds the backup that a path, or a URL, names: of a WAL archive the last one before the moment. */
export async function findBackup(path: string, flags: RestoreFlags): Promise<FoundBackup> {
  const { at } = flags;
  const identities = identitiesOf(flags);
  const moment = at === undefined ? "latest" : momentOf(at);
  if (!(await isPlace(path))) return lookAtBackup(fileNamed(path), identities);
  const place = placeNamed(path);
  const found = await findBase(place, moment === "latest" ? undefined : moment.seconds, identities);
  if (found !== undefined) return found;
  throw new UsageError(
    moment === "latest"
      ? `${path} is ${place.folder === undefined ? "a part of a bucket" : "a folder"}, and no WAL archive with a physical backup: name a file`
      : `${path} has no physical backup that was finished before ${moment.text}`,
  );
}

/** What there is beside a backup, and came after it. */
interface Beside {
  wal: ArchivedWal | undefined;
  evidence: Pick<EvidenceStore, "open"> | undefined;
}

/** Finds what came after a backup. */
async function findBeside({ file, head }: FoundBackup, flags: RestoreFlags, config: Config): Promise<Beside> {
  const { s3 } = config.backups;
  const identities = identitiesOf(flags);
  const life = isPhysical(head) ? (head.life ?? "") : "";
  const given = flags.wal === undefined ? undefined : placeNamed(flags.wal);
  const own = file.place.path.endsWith("/base") ? [placeAbove(file.place, s3).below("wal")] : [];
  const named =
    given === undefined
      ? own
      : [...(life === "" ? [] : [given.below(life).below("wal")]), given.below("wal"), given];
  for (const place of named) {
    const wal = await openArchivedWal(place, { script: walScripts.restore, identities });
    if (wal === undefined) continue;
    const root = placeAbove(placeAbove(place, s3), s3);
    const staging = join(config.dataDir, "restored-evidence");
    return { wal, evidence: readEvidenceArchive(root, { s3, staging, identities }) };
  }
  return { wal: undefined, evidence: undefined };
}

function beyondOf(
  until: Moment | "latest" | undefined,
  { wal }: Beside,
  given: string | undefined,
): { until: Moment | "latest"; wal: ArchivedWal } | undefined {
  if (until === undefined) return undefined;
  if (wal !== undefined) return { until, wal };
  throw new UsageError(
    given === undefined
      ? "--at needs the WAL archive that has what came after this backup: name it with --wal"
      : `${given} is no WAL archive with what came after this backup`,
  );
}

/** Restores PostgreSQL's files, and what came after them up to a moment if one is given. */
export async function restorePhysical(found: FoundBackup, flags: RestoreFlags): Promise<void> {
  const config = flags.into === undefined ? readConfig() : readConfigInto(flags.into);
  if (config.databaseUrl !== undefined)
    throw new UsageError(
      "A physical backup is restored into a data directory: name one with --into. Any other database takes a portable backup",
    );
  if (flags.at === undefined && flags.wal !== undefined) throw new UsageError("--wal goes with --at");
  const until = flags.at === undefined ? undefined : momentOf(flags.at);
  const beside = await findBeside(found, flags, config);
  const beyond = beyondOf(until, beside, flags.wal);
  if (!hasKey(config, found) && flags.forgetSecrets !== true)
    throw new CliError(withoutKey(config, found, undefined));
  const begun = performance.now();
  let advice: string | undefined;
  const restored = await restorePhysicalBackup({
    found,
    open: () => openArchive(found.file, identitiesOf(flags)),
    openOther: (id) => openOther(found.file.place, id),
    dataDir: config.dataDir,
    evidence: config.evidence,
    migrations: await readMigrations(migrationsFolder),
    finish: async (db) => {
      await prepareDatabase(db, silentLog);
      ({ advice } = await restoredTime(db));
    },
    beyond,
    archivedEvidence: beside.evidence,
    replace: flags.forceNonempty === true,
    quarantine: flags.quarantine ?? flags.into !== undefined,
    quick: flags.quick === true,
    forget: forgetting(config, found),
    report: (step) => print.error(`restore: ${step}`),
  }).catch((error: unknown) => {
    if (isDiskFull(error))
      throw new CliError("The disk is full: the database is not restored", { cause: error });
    throw error;
  });
  restoreKey(config, found);
  if (advice !== undefined) restored.warnings.push(advice);
  const { head, end, last_change } = restored;
  const changed = last_change === undefined ? "" : `, last change ${last_change}`;
  tellRestored(restored, {
    text: `${found.path}, ${contentsText(end)}${changed}`,
    facts: { id: head.id, file: found.path, ...contentsOf(end), last_change: last_change ?? null },
    seconds: (performance.now() - begun) / 1000,
    json: flags.json === true,
  });
}
