import { open, rm } from "node:fs/promises";
import { join } from "node:path";

import { connect, type Database } from "../../../db/connect.ts";
import { type Dedicated, openDedicated } from "../../../db/dedicated.ts";
import {
  finishRestore,
  ManagedPostgresError,
  type Recovery,
  replaceCluster,
  startManagedPostgres,
} from "../../../db/managed/index.ts";
import type { Migration } from "../../../db/migrate.ts";
import { quarantine } from "../../../db/restore-state.ts";
import { type ClusterFacts, isPhysical, type ManifestLine } from "../../../domain/backup-format.ts";
import { invalid } from "../../../domain/errors.ts";
import { followSegments, type Moment, type Reach, segmentOf } from "../../../domain/wal.ts";
import { createEvidenceStore, type EvidenceSettings } from "../../../evidence/create.ts";
import { ContentDamaged, ContentMissing, type EvidenceStore } from "../../../evidence/store.ts";
import { silentLog } from "../../../lib/log.ts";
import { present } from "../../../lib/present.ts";
import { DamagedArchive } from "../../../lib/tar-reader.ts";
import { takeEvidence } from "../../process/evidence/mark-service.ts";
import { listStored } from "../../process/evidence/verify-service.ts";
import { checkDatabase } from "./checks-service.ts";
import type { FoundBackup } from "./folder-service.ts";
import { type ReadBackup, readBackup } from "./read-service.ts";
import {
  fetchEvidence,
  isoOf,
  putEvidence,
  type Restored,
  type RestoreOptions,
  requireKnownSchema,
} from "./restore-service.ts";
import { unpackInto } from "./unpack-service.ts";

/** A file of the log in an archive: as PostgreSQL names it, and when it was put there, in Unix seconds. */
interface ArchivedFile {
  segment: string;
  at: number;
}

/** What there is of a WAL archive to go on from a physical backup with. */
export interface ArchivedWal {
  /** Its path, or its URL. */
  path: string;
  files: readonly ArchivedFile[];
  /** The script that brings a file. */
  script: string;
  /**
   * Brings those files to a folder whose path is returned, where the archive is none that PostgreSQL reads by itself.
   * @param folder one for them, which is removed afterwards.
   */
  fetch(segments: ReadonlySet<string>, folder: string): Promise<string>;
}

export interface PhysicalRestoreOptions extends Pick<
  RestoreOptions,
  "open" | "openOther" | "replace" | "quarantine" | "quick" | "forget" | "report"
> {
  found: FoundBackup;
  dataDir: string;
  /** Where evidence goes. */
  evidence: EvidenceSettings;
  /** What this program knows. */
  migrations: readonly Migration[];
  /** Applies the migrations that the backup has not. */
  finish(db: Database): Promise<unknown>;
  /** What to restore beyond the backup itself, and from where. */
  beyond: { until: Moment | "latest"; wal: ArchivedWal } | undefined;
  /** Where evidence is that is not in the backup; undefined when nowhere. */
  archivedEvidence: Pick<EvidenceStore, "open"> | undefined;
}

/** What a restore of PostgreSQL's files came to. */
export interface PhysicallyRestored extends Restored {
  /** When the last change that was restored was made, as PostgreSQL says it; undefined when there was none after the backup. */
  last_change: string | undefined;
}

/** @throws AppError validation for a moment that the backup and the archive do not have. @returns how far the archive reaches. */
function requireReach(
  { finished_at, timeline, start_lsn, end_lsn }: ClusterFacts,
  { until, wal }: NonNullable<PhysicalRestoreOptions["beyond"]>,
): Reach {
  if (until !== "latest" && until.seconds < finished_at)
    throw invalid(
      `This backup is of ${isoOf(finished_at)}, and cannot be restored to an earlier moment: take one that was finished before ${until.text}`,
    );
  const putAt = new Map(wal.files.map(({ segment, at }) => [segment, at]));
  const archivedAt = (segment: string): number => putAt.get(segment) ?? 0;
  const reach = followSegments([...putAt.keys()], segmentOf(timeline, start_lsn));
  // The log that the backup needs for itself is in it, but an archive that lacks it cannot go on from there.
  if (reach.last === undefined || reach.last < segmentOf(timeline, end_lsn))
    throw invalid(`The WAL archive ${wal.path} has not what came after this backup`);
  if (until === "latest") return reach;
  const end = archivedAt(reach.last);
  if (until.seconds <= end) return reach;
  throw invalid(
    reach.beyond === undefined
      ? `The WAL archive ends at ${isoOf(end)}: nothing later can be restored. --at latest restores all there is`
      : `The WAL archive has a gap from ${isoOf(end)} to ${isoOf(archivedAt(reach.beyond))}: a moment after it needs a physical backup that was made after it, and a moment in it cannot be restored`,
  );
}

/** Explains why PostgreSQL did not come to the moment it was to come to. */
function explainRecovery(error: unknown, until: Moment | "latest"): unknown {
  if (!(error instanceof ManagedPostgresError) || until === "latest") return error;
  if (!error.message.includes("recovery ended before configured recovery target was reached")) return error;
  const last = lastChangeIn(error.message);
  return invalid(
    `The WAL archive has no change after ${until.text}, so that it cannot be told what belongs to that moment${
      last === undefined ? "" : `: its last one is of ${last}`
    }. --at latest restores all there is`,
  );
}

/** Finds when the last change was made that PostgreSQL says it has recovered. */
function lastChangeIn(text: string): string | undefined {
  const last = [...text.matchAll(/last completed transaction was at log time (\S+) ([\d:.]+)\+00/g)].at(-1);
  return last && `${last[1]}T${last[2]}Z`;
}

const tailBytes = 64 * 1024;

/** Reads the end of what PostgreSQL has printed. */
async function readTail(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    await file.read(tail, 0, tail.length, size - tail.length);
    return tail.toString();
  } finally {
    await file.close();
  }
}

/**
 * Unpacks a backup, all of which is compared with what was written before anything of it is used.
 * @param bringLog brings what came after it: what was there before stays until that has come, too.
 */
async function unpack(
  options: PhysicalRestoreOptions,
  evidence: EvidenceStore,
  bringLog: () => Promise<Recovery["log"]>,
): Promise<{ read: ReadBackup; lines: ManifestLine[]; log: Recovery["log"] }> {
  const lines: ManifestLine[] = [];
  let read: ReadBackup | undefined;
  let log: Recovery["log"];
  await replaceCluster(options.dataDir, { replace: options.replace }, async (folder) => {
    const unpacking = unpackInto(folder);
    try {
      read = await readBackup(options.open(), {
        cluster: (bytes, isLast) => unpacking.add(bytes, isLast),
        evidence: (sha256, content) => putEvidence({ evidence }, sha256, content),
        line: async (line) => void lines.push(line),
      });
    } finally {
      unpacking.stop();
    }
    log = await bringLog();
  });
  return { read: present(read, "it was read"), lines, log };
}

/** Takes evidence that is missing from a WAL archive. What is not there either is told by the checks that follow. */
async function takeArchived(
  db: Database,
  evidence: EvidenceStore,
  archived: Pick<EvidenceStore, "open">,
): Promise<void> {
  for await (const { sha256 } of listStored(db)) {
    if (await evidence.has(sha256)) continue;
    try {
      await putEvidence({ evidence }, sha256, await archived.open(sha256));
    } catch (error) {
      if (!(error instanceof ContentMissing || error instanceof ContentDamaged)) throw error;
    }
  }
}

type Ended = Pick<Restored, "findings" | "forgotten" | "evidence_shared">;

async function finish(
  { db, control, evidence }: { db: Database; control: Dedicated; evidence: EvidenceStore },
  options: PhysicalRestoreOptions,
  { read, lines, asOf }: { read: ReadBackup; lines: ManifestLine[]; asOf: string },
): Promise<Ended> {
  options.report("bringing evidence");
  const warnings = await fetchEvidence({ deps: { evidence }, options, lines }, read.head.id);
  const archived = options.archivedEvidence;
  if (archived !== undefined) await takeArchived(db, evidence, archived);
  options.report("applying later migrations");
  await options.finish(db);
  const forgotten = await options.forget?.(db);
  options.report("checking");
  const found = await checkDatabase({ db, evidence }, control, options.quick);
  if (found.failures.length > 0) throw new DamagedArchive(found.failures.join("\n"));
  if (options.quarantine) await quarantine(control, read.head.id);
  const evidence_shared = await takeEvidence({ db, evidence }, { asOf, bringsFiles: true });
  return { findings: [...warnings, ...found.warnings], forgotten, evidence_shared };
}

/** Where files of the log are for PostgreSQL to read them, in a data directory that is being restored. */
const fetchedFolder = "restored-wal";

/** Chooses the files of an archive that a recovery may ask for: of the log those within reach, and all that are none of it. */
function segmentsWithin(
  { files }: ArchivedWal,
  { timeline, start_lsn }: ClusterFacts,
  reach: Reach | undefined,
): Set<string> {
  const [first, last] = [segmentOf(timeline, start_lsn), reach?.last ?? ""];
  const names = files.map(({ segment }) => segment);
  return new Set(names.filter((name) => name.length !== first.length || (name >= first && name <= last)));
}

/**
 * Restores PostgreSQL's files into a data directory, has PostgreSQL recover to the moment that is asked for, and checks what has to hold.
 * Until all of that is done servers refuse the data directory.
 * @throws AppError validation for a moment that cannot be had, or a backup of a newer version; ManagedPostgresError when the data directory
 * is in use or not empty, or PostgreSQL does not recover; DamagedArchive when the backup, or what came of it, is not what was written.
 */
export async function restorePhysicalBackup(options: PhysicalRestoreOptions): Promise<PhysicallyRestored> {
  const { found, beyond, dataDir } = options;
  requireKnownSchema(found.head, options.migrations);
  const facts = found.end.cluster;
  if (!isPhysical(found.head) || facts === undefined) throw invalid("This is no physical backup");
  const warnings: string[] = [];
  let reach: Reach | undefined;
  if (beyond !== undefined) {
    reach = requireReach(facts, beyond);
    if (reach.beyond !== undefined && beyond.until === "latest")
      warnings.push(
        `The WAL archive has a gap after ${reach.last}.gz: what was written later is not restored`,
      );
  }
  const fetched = join(dataDir, fetchedFolder);
  const brought = { isBegun: false };
  const bringLog = async (): Promise<Recovery["log"]> => {
    if (beyond === undefined) return undefined;
    options.report("bringing the WAL");
    brought.isBegun = true;
    const folder = await beyond.wal.fetch(segmentsWithin(beyond.wal, facts, reach), fetched);
    return { script: beyond.wal.script, folder, isOurs: folder === fetched };
  };
  try {
    const restored = await restoreFiles(options, bringLog);
    return { ...restored, warnings: [...warnings, ...restored.warnings] };
  } finally {
    // Whatever comes of it: what was brought may have been encrypted where it comes from.
    if (brought.isBegun) await rm(fetched, { recursive: true, force: true });
  }
}

/** Restores the files and has PostgreSQL recover, and checks what came of it. */
async function restoreFiles(
  options: PhysicalRestoreOptions,
  bringLog: () => Promise<Recovery["log"]>,
): Promise<PhysicallyRestored> {
  const { beyond, dataDir } = options;
  const evidence = createEvidenceStore(options.evidence);
  options.report("unpacking");
  const { log, ...unpacked } = await unpack(options, evidence, bringLog);
  options.report("recovering");
  const recovery: Recovery = {
    log,
    until: beyond === undefined || beyond.until === "latest" ? undefined : beyond.until.text,
  };
  const managed = await startManagedPostgres({ dataDir, log: silentLog, recovery }).catch(
    (error: unknown) => {
      throw beyond === undefined ? error : explainRecovery(error, beyond.until);
    },
  );
  try {
    const last_change = lastChangeIn(await readTail(join(dataDir, "postgres.log")));
    const db = connect({ connection: managed.connection, max: 2 });
    const { finished_at } = present(unpacked.read.end.cluster, "it is a physical backup");
    const asOf = last_change ?? isoOf(finished_at);
    let ended: Ended;
    const control = await openDedicated(db);
    try {
      ended = await finish({ db, control, evidence }, options, { ...unpacked, asOf });
    } finally {
      control.cut();
      await db.close();
    }
    await managed.stop();
    await finishRestore(dataDir);
    return { ...unpacked.read, ...ended, warnings: ended.findings, last_change };
  } finally {
    await managed.stop();
  }
}
