import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";

import { type Content, ContentTooLarge, type StagedContent } from "./store.ts";

/** Bytes at the beginning of a file that suffice to recognise its kind. */
const headBytes = 512;

/** A received file in the staging folder. */
export interface StagedFile extends Content {
  head: Buffer;
  path: string;
}

async function receive(
  source: Readable,
  file: FileHandle,
  maxBytes: number,
): Promise<Omit<StagedFile, "path">> {
  const hash = createHash("sha256");
  let size = 0;
  let head: Buffer = Buffer.alloc(0);
  // One piece at a time: the sender waits for the disk, and memory holds one piece.
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new ContentTooLarge(maxBytes);
    if (head.length < headBytes) head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)]);
    hash.update(chunk);
    await file.appendFile(chunk);
  }
  return { sha256: hash.digest("hex"), size, head };
}

/** Writes a stream to a new file of `folder`, hashing it on the way. Leaves nothing behind when it fails. */
async function stageFile(folder: string, source: Readable, maxBytes: number): Promise<StagedFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${randomBytes(12).toString("hex")}.part`);
  const file = await open(path, "wx", 0o600);
  try {
    const content = await receive(source, file, maxBytes);
    await file.close();
    return { ...content, path };
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Stages a stream in `folder`, to be kept or forgotten later.
 * @param keep moves the file to where it stays; called once, however often it is asked to be kept.
 */
export async function stageContent(
  folder: string,
  upload: { source: Readable; maxBytes: number },
  keep: (file: StagedFile) => Promise<void>,
): Promise<StagedContent> {
  const file = await stageFile(folder, upload.source, upload.maxBytes);
  let kept: Promise<void> | undefined;
  return {
    sha256: file.sha256,
    size: file.size,
    head: file.head,
    keep: () => (kept ??= keep(file)),
    discard: () => rm(file.path, { force: true }).catch(() => {}),
  };
}

/** Size of the file that is written to try whether there is room. */
const probeBytes = 256 * 1024;

/**
 * Writes a file to the staging folder and removes it, to see whether there is room.
 * @throws what writing fails with.
 */
export async function probeStaging(folder: string): Promise<void> {
  const file = await stageFile(folder, Readable.from([Buffer.alloc(probeBytes)]), probeBytes);
  await rm(file.path, { force: true });
}

/** Removes files that uploads of killed servers left. @returns how many. */
export async function removeStale(folder: string, olderThanSeconds: number): Promise<number> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const before = Date.now() - olderThanSeconds * 1000;
  let removed = 0;
  for (const name of names.filter((name) => name.endsWith(".part"))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || found.mtimeMs > before) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}
