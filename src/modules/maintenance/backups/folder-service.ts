import { createReadStream } from "node:fs";
import { open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

import { backupNamePattern, chooseOutdated, type KeepRule } from "../../../domain/backups.ts";
import { DamagedArchive, readTar } from "../../../lib/tar-reader.ts";
import { tarBlock, tarEnd } from "../../../lib/tar.ts";
import { partialSuffix } from "./file-sink.ts";
import {
  type BackupHead,
  headPath,
  type ManifestEnd,
  type ManifestLine,
  parseHead,
  parseManifestLine,
} from "../../../domain/backup-format.ts";
import { readBackup } from "./read-service.ts";

/** A file of a folder of backups, as far as its beginning and its end tell. */
export interface FoundBackup {
  path: string;
  bytes: number;
  head: BackupHead;
  end: ManifestEnd;
}

/** What the last line of a manifest fits into, with what follows it. */
const tailBytes = 256 * 1024;

/** Reads the last line of a backup's manifest. */
async function readEnd(path: string, size: number): Promise<ManifestEnd | undefined> {
  const file = await open(path, "r");
  try {
    const from = Math.max(0, size - tailBytes);
    const tail = Buffer.alloc(size - from);
    await file.read(tail, 0, tail.length, from);
    if (size % tarBlock !== 0 || !tail.subarray(-tarEnd.length).equals(tarEnd)) return undefined;
    const text = tail.toString("latin1").replace(/\0+$/, "").trimEnd();
    const line = parseManifestLine(text.slice(text.lastIndexOf("\n") + 1));
    return line?.kind === "end" ? line : undefined;
  } finally {
    await file.close();
  }
}

/**
 * Reads the beginning and the end of a backup, and nothing between.
 * @throws DamagedArchive when these are not those of one; what opening it fails with.
 */
export async function lookAtBackup(path: string): Promise<FoundBackup> {
  const { size: bytes } = await stat(path);
  const end = await readEnd(path, bytes);
  const members = end === undefined ? [] : readTar(createReadStream(path));
  for await (const member of members) {
    if (member.path !== headPath) break;
    const head = parseHead((await buffer(member.content)).toString());
    if (head !== undefined && head.id === end?.id) return { path, bytes, head, end };
    break;
  }
  throw new DamagedArchive("This is no backup of Waybill, or only a part of one");
}

/** Lists the backups of a folder, the oldest first, and the names of files that look like some and are none. */
export async function listBackups(folder: string): Promise<{ backups: FoundBackup[]; damaged: string[] }> {
  const backups: FoundBackup[] = [];
  const damaged: string[] = [];
  for (const name of (await readdir(folder)).filter((each) => backupNamePattern.test(each)).sort())
    try {
      backups.push(await lookAtBackup(join(folder, name)));
    } catch (error) {
      if (!(error instanceof DamagedArchive)) throw error;
      damaged.push(name);
    }
  return { backups, damaged };
}

/** Finds which contents the backups of a folder have, and which backup has each: ids by digest. */
export async function findEarlierEvidence(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const { backups } = await listBackups(folder);
  for (const { path, head } of backups) {
    if (head.evidence === "none") continue;
    const line = async (each: ManifestLine): Promise<void> => {
      if (each.kind === "evidence" && each.in === head.id && each.problem === undefined)
        found.set(each.sha256, head.id);
    };
    // A damaged one is not to be relied on.
    await readBackup(createReadStream(path), { line }).catch((error: unknown) => {
      if (!(error instanceof DamagedArchive)) throw error;
      for (const [sha256, id] of found) if (id === head.id) found.delete(sha256);
    });
  }
  return found;
}

/** A file that nobody has written to for so long was left by somebody who was interrupted. */
const abandonedAfterMs = 24 * 3_600_000;

/**
 * Removes the backups of a folder that a rule does not keep, and what interrupted ones left a day ago.
 * @returns the files removed.
 */
export async function pruneBackups(folder: string, rule: KeepRule): Promise<string[]> {
  const { backups } = await listBackups(folder);
  const dated = backups.map(({ path, head, end }) => ({
    id: head.id,
    made_at: head.database_time,
    needs: end.needs,
    path,
  }));
  const outdated = new Set(chooseOutdated(dated, rule).map(({ id }) => id));
  const paths = dated.flatMap(({ id, path }) => (outdated.has(id) ? [path] : []));
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(partialSuffix))) {
    const path = join(folder, name);
    const isBackup = backupNamePattern.test(name.replace(/\.\d+\.partial$/, ""));
    if (isBackup && Date.now() - (await stat(path)).mtimeMs > abandonedAfterMs) paths.push(path);
  }
  for (const path of paths) await rm(path, { force: true });
  return paths;
}
