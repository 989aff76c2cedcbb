import { type ClusterFacts, isPhysical, lifePattern } from "../../../domain/backup-format.ts";
import { backupNamePattern } from "../../../domain/backups.ts";
import { chooseOutdatedBases, chooseOutdatedWal, segmentOf } from "../../../domain/wal.ts";
import { eachInParallel } from "../../../lib/parallel.ts";
import type { Identities } from "../backups/encryption-service.ts";
import { type FoundBackup, listBackups, lookAtBackup } from "../backups/folder-service.ts";
import type { Place } from "../backups/place-service.ts";

/** A physical backup in an archive. */
export interface Base extends ClusterFacts {
  found: FoundBackup;
}

/** Gives something else for a place that is not there. */
function whereMissing<T>(otherwise: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return otherwise;
    throw error;
  };
}

/** Lists what is in a place, and nothing where there is none. */
async function listPlace(place: Place, wanted?: (name: string) => boolean): ReturnType<Place["list"]> {
  return place.list(wanted).catch(whereMissing({ files: [], folders: [] }));
}

/** Names the files of a place, and nothing where there is none. */
async function listNames(place: Place, wanted?: (name: string) => boolean): Promise<string[]> {
  return place.names(wanted).catch(whereMissing([]));
}

function basesOf(backups: readonly FoundBackup[]): Base[] {
  return backups
    .flatMap((found) =>
      isPhysical(found.head) && found.end.cluster !== undefined ? [{ ...found.end.cluster, found }] : [],
    )
    .sort((one, other) => one.finished_at - other.finished_at);
}

/** Lists the physical backups of a place that are not encrypted, the oldest first. */
export async function listBases(place: Place): Promise<Base[]> {
  if ((await listPlace(place)).files.length === 0) return [];
  return basesOf((await listBackups(place)).backups);
}

/** Finds the last encrypted backup that was finished by a moment. All of each is read that may be it. */
async function findEncryptedBase(
  encrypted: Awaited<ReturnType<typeof listBackups>>["encrypted"],
  moment: number,
  identities: Identities | undefined,
): Promise<Base | undefined> {
  const begunBefore = encrypted.filter(({ made_at }) => made_at <= moment);
  for (const { file } of begunBefore.toSorted((one, other) => other.made_at - one.made_at)) {
    const [base] = basesOf([await lookAtBackup(file, identities)]);
    if (base !== undefined && base.finished_at <= moment) return base;
  }
  return undefined;
}

/**
 * Finds the last physical backup of an archive, of any life or of the one whose place is given, that was finished by a moment.
 * @param moment Unix seconds; any when left out.
 */
export async function findBase(
  place: Place,
  moment = Infinity,
  identities?: Identities,
): Promise<FoundBackup | undefined> {
  const lives = (await listPlace(place)).folders.filter((name) => lifePattern.test(name));
  const found: Base[] = [];
  for (const each of [place, ...lives.map((life) => place.below(life))].map((one) => one.below("base"))) {
    if ((await listPlace(each)).files.length === 0) continue;
    const { backups, encrypted } = await listBackups(each);
    const sealed = await findEncryptedBase(encrypted, moment, identities);
    found.push(...basesOf(backups), ...(sealed === undefined ? [] : [sealed]));
  }
  return found
    .filter(({ finished_at }) => finished_at <= moment)
    .sort((one, other) => other.finished_at - one.finished_at)[0]?.found;
}

const logFilePattern = /\.gz(?:\.age)?$/;

/** A file of the log in an archive. */
export interface LogFile {
  /** As PostgreSQL names it. */
  segment: string;
  /** As it is named in the archive: compressed, and perhaps encrypted. */
  name: string;
  bytes: number;
  /** When it was put there, in Unix seconds. */
  at: number;
}

const segmentIn = (name: string): string => name.replace(logFilePattern, "");

const isLogFile = (name: string): boolean => /^[0-9A-F]/.test(name) && logFilePattern.test(name);

/** Lists the files of the log in a place. */
export async function listLog(place: Place): Promise<LogFile[]> {
  const { files } = await listPlace(place, isLogFile);
  return files.map(({ name, bytes, modified_at }) => ({
    segment: segmentIn(name),
    name,
    bytes,
    at: modified_at,
  }));
}

/** Lists the files of the log in a place as PostgreSQL names them. */
export async function listSegments(place: Place): Promise<string[]> {
  return (await listNames(place, isLogFile)).map(segmentIn);
}

/** Bytes of the files of a log after one, by name. */
interface MeasuredLog {
  from: string;
  sizes: Map<string, number>;
}

/** What was measured before, by the path of the place: files of a log never change, and there are 1,440 more of them a day. */
const measured = new Map<string, MeasuredLog>();

const measuredAtOnce = 8;

/** Adds up the bytes of the files of the log from one on. Only those are looked at that have come since it was asked before. */
export async function measureSince(wal: Place, { timeline, end_lsn }: ClusterFacts): Promise<number> {
  const from = segmentOf(timeline, end_lsn).slice(8);
  const before = measured.get(wal.path);
  const { sizes } = before?.from === from ? before : { sizes: new Map<string, number>() };
  measured.set(wal.path, { from, sizes });
  const isNew = (name: string): boolean => !sizes.has(name) && segmentIn(name).slice(8, 24) > from;
  const names = await listNames(wal, (name) => isLogFile(name) && isNew(name));
  await eachInParallel(names, measuredAtOnce, async (name) => {
    const file = await wal.find(name);
    if (file !== undefined) sizes.set(name, file.bytes);
  });
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Where an archive of one life is. */
export interface ArchivePlaces {
  wal: Place;
  base: Place;
}

/**
 * Removes physical backups that no moment of the last seconds needs, and what of the log is older than the oldest one that stays.
 * @returns how many files went.
 */
export async function pruneArchive({ wal, base }: ArchivePlaces, since: number): Promise<number> {
  const bases = await listBases(base);
  const outdated = new Set(chooseOutdatedBases(bases, since));
  for (const { found } of outdated) await base.remove(found.file.name);
  const oldest = bases.find((each) => !outdated.has(each));
  return outdated.size + (oldest === undefined ? 0 : await pruneLog(wal, oldest));
}

const removedAtOnce = 8;

/** Removes what of the log is older than the oldest physical backup. @returns how many files went. */
export async function pruneLog(
  wal: Place,
  oldest: Pick<ClusterFacts, "timeline" | "start_lsn">,
): Promise<number> {
  const names = await listNames(wal, isLogFile);
  const gone = new Set(chooseOutdatedWal(names.map(segmentIn), segmentOf(oldest.timeline, oldest.start_lsn)));
  const outdated = names.filter((name) => gone.has(segmentIn(name)));
  await eachInParallel(outdated, removedAtOnce, (name) => wal.remove(name));
  return outdated.length;
}

/** Names the physical backups of a place, whatever they say. */
export async function listBaseNames(place: Place): Promise<string[]> {
  return listNames(place, (name) => backupNamePattern.test(name));
}
