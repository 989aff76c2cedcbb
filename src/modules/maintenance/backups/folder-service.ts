import { buffer } from "node:stream/consumers";

import {
  backupNamePattern,
  chooseOutdated,
  isUnsurelyLast,
  type KeepRule,
  parseBackupName,
} from "../../../domain/backups.ts";
import { DamagedArchive, readTar } from "../../../lib/tar-reader.ts";
import { tarBlock, tarEnd } from "../../../lib/tar.ts";
import {
  type BackupHead,
  type ClearFacts,
  clearFactsOf,
  headPath,
  type ManifestEnd,
  type ManifestLine,
  parseHead,
  parseManifestLine,
  secretKeyPath,
} from "../../../domain/backup-format.ts";
import { type Identities, lookAtSealed, openArchive, sizeOf } from "./encryption-service.ts";
import { type FileOfPlace, type Place, removeAbandonedBackups } from "./place-service.ts";
import { readBackup } from "./read-service.ts";

/** A backup, as far as its beginning and its end tell. */
export interface FoundBackup {
  file: FileOfPlace;
  /** The path, or the URL, of the file. */
  path: string;
  bytes: number;
  head: BackupHead;
  end: ManifestEnd;
  /** Of the installation, where it was put into the backup. */
  secretKey?: string;
}

/** An encrypted backup: what its name tells, and its header. It needs no other. */
export interface EncryptedBackup {
  file: FileOfPlace;
  path: string;
  bytes: number;
  /** Unix seconds. */
  made_at: number;
  /** The beginning of its id. */
  id: string;
  /** What it says of itself; undefined of those of former versions. */
  facts: ClearFacts | undefined;
}

/** What the last line of a manifest fits into, with what follows it. */
const tailBytes = 256 * 1024;

/** Reads the last line of a backup's manifest. */
async function readEnd({ place, name }: FileOfPlace, size: number): Promise<ManifestEnd | undefined> {
  if (size === 0 || size % tarBlock !== 0) return undefined;
  const length = Math.min(size, tailBytes);
  const tail = await place.read(name, size - length, length);
  if (!tail.subarray(-tarEnd.length).equals(tarEnd)) return undefined;
  const text = tail.toString("latin1").replace(/\0+$/, "").trimEnd();
  // The only line of a manifest follows the header of its file.
  const before = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\0"));
  const line = parseManifestLine(text.slice(before + 1));
  return line?.kind === "end" ? line : undefined;
}

/** Reads all of an encrypted backup: its end is known only to whoever has decrypted what is before it. */
async function readEncrypted(
  file: FileOfPlace,
  bytes: number,
  identities: Identities | undefined,
): Promise<FoundBackup> {
  let key: string | undefined;
  const { head, end } = await readBackup(openArchive(file, identities), {
    secretKey: (found) => (key = found),
  });
  const path = file.place.pathOf(file.name);
  return { file, path, bytes, head, end, ...(key !== undefined && { secretKey: key }) };
}

/** What heads fit into, but those of large installations. */
const headBytes = 1024 * 1024;

/** Reads the beginning of a file, and more of it only where that is asked for. */
async function* readBeginning({ place, name }: FileOfPlace, bytes: number): AsyncGenerator<Buffer> {
  const length = Math.min(bytes, headBytes);
  yield await place.read(name, 0, length);
  for (let from = length; from < bytes; from += headBytes)
    yield await place.read(name, from, Math.min(headBytes, bytes - from));
}

/**
 * Reads the beginning and the end of a backup, and nothing between; all of one that is encrypted.
 * @throws DamagedArchive when these are not those of one; AppError invalid without the identity that it takes; what opening it fails with.
 */
export async function lookAtBackup(file: FileOfPlace, identities?: Identities): Promise<FoundBackup> {
  const bytes = await sizeOf(file);
  if ((await lookAtSealed(file, bytes)) !== undefined) return readEncrypted(file, bytes, identities);
  const end = await readEnd(file, bytes);
  const members = end === undefined ? [] : readTar(readBeginning(file, bytes));
  let found: FoundBackup | undefined;
  for await (const member of members) {
    if (found !== undefined) {
      if (member.path === secretKeyPath) found.secretKey = (await buffer(member.content)).toString().trim();
      break;
    }
    const head = member.path === headPath ? parseHead((await buffer(member.content)).toString()) : undefined;
    if (head === undefined || head.id !== end?.id) break;
    found = { file, path: file.place.pathOf(file.name), bytes, head, end };
  }
  if (found !== undefined) return found;
  throw new DamagedArchive("This is no backup of Waybill, or only a part of one");
}

/**
 * Lists the backups of a folder, the oldest first, those that are encrypted, and the names of files that look like backups and are none.
 * Nothing is decrypted.
 */
export async function listBackups(
  place: Place,
): Promise<{ backups: FoundBackup[]; encrypted: EncryptedBackup[]; damaged: string[] }> {
  const backups: FoundBackup[] = [];
  const encrypted: EncryptedBackup[] = [];
  const damaged: string[] = [];
  const { files } = await place.list();
  for (const { name, bytes } of files.filter((each) => backupNamePattern.test(each.name)))
    try {
      const file = { place, name };
      const named = parseBackupName(name);
      const sealed = named === undefined ? undefined : await lookAtSealed(file, bytes);
      if (named !== undefined && sealed !== undefined)
        encrypted.push({ file, path: place.pathOf(name), bytes, ...named, ...sealed });
      else backups.push(await lookAtBackup(file));
    } catch (error) {
      if (!(error instanceof DamagedArchive)) throw error;
      damaged.push(name);
    }
  return { backups, encrypted, damaged };
}

/** Finds which contents the backups of a folder have, and which backup has each: ids by digest. */
export async function findEarlierEvidence(place: Place): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const { backups } = await listBackups(place);
  for (const { file, head } of backups) {
    if (head.evidence === "none") continue;
    const line = async (each: ManifestLine): Promise<void> => {
      if (each.kind === "evidence" && each.in === head.id && each.problem === undefined)
        found.set(each.sha256, head.id);
    };
    // A damaged one is not to be relied on.
    await readBackup(openArchive(file), { line }).catch((error: unknown) => {
      if (!(error instanceof DamagedArchive)) throw error;
      for (const [sha256, id] of found) if (id === head.id) found.delete(sha256);
    });
  }
  return found;
}

/** A backup that a rule would have removed, and why it was kept. */
export interface KeptBackup {
  path: string;
  /** The end of a sentence that begins with its path. */
  reason: string;
}

/** Finds which physical backups are needed by something else than a rule: reasons by id. */
export type NeedOfBackups = (
  backups: readonly FoundBackup[],
  encrypted: readonly EncryptedBackup[],
) => Promise<ReadonlyMap<string, string>>;

function isOfRows({ kind, evidence }: ClearFacts): boolean {
  return kind === "portable" && evidence === "none";
}

const maybeLast =
  "it may have files of evidence, which encrypted backups of former versions do not tell, and of no other it is known";

/**
 * Removes the backups of a place that a rule does not keep, and what interrupted ones left a day ago.
 * @returns the files removed, and those that only others have a need for.
 */
export async function pruneBackups(
  place: Place,
  rule: KeepRule,
  neededBy?: NeedOfBackups,
): Promise<{ removed: string[]; kept: KeptBackup[] }> {
  const { backups, encrypted } = await listBackups(place);
  const readable = backups.map(({ file, path, head, end }) => ({
    id: head.id,
    made_at: head.database_time,
    needs: end.needs,
    rows_only: isOfRows(clearFactsOf(head)),
    file,
    path,
  }));
  // An encrypted one is made without others, and none is made that needs it.
  const sealed = encrypted.map((each) => ({
    ...each,
    needs: [],
    rows_only: each.facts && isOfRows(each.facts),
  }));
  const dated = [...readable, ...sealed];
  const outdated = new Set(chooseOutdated(dated, rule).map(({ id }) => id));
  const needed = outdated.size === 0 ? undefined : await neededBy?.(backups, encrypted);
  const removed: string[] = [];
  const kept: KeptBackup[] = [];
  for (const each of dated.filter(({ id }) => outdated.has(id))) {
    const { id, path, file } = each;
    const reason = needed?.get(id) ?? (isUnsurelyLast(each, dated) ? maybeLast : undefined);
    if (reason !== undefined) kept.push({ path, reason });
    else {
      await place.remove(file.name);
      removed.push(path);
    }
  }
  return { removed: [...removed, ...(await removeAbandonedBackups(place))], kept };
}
