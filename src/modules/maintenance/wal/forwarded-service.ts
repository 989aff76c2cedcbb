import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import type { WalSettings } from "../../../config-wal.ts";
import type { Config } from "../../../config.ts";
import type { WalArchive } from "../../../db/managed/index.ts";
import { flush } from "../../../lib/flush.ts";
import { openPlace, type Place } from "../backups/place-service.ts";

/** What an archive is that the server brings files to. */
export interface Forwarding {
  /** The archive of all lives. */
  root: Place;
  /** None: files are not encrypted. */
  encryptTo: readonly string[];
}

/** Finds where the server brings the files of its archive; undefined where PostgreSQL writes to it by itself. */
export function forwardingOf(config: Pick<Config, "wal" | "backups">): Forwarding | undefined {
  const { forwardTo, encryptTo } = config.wal ?? ({} as Partial<WalSettings>);
  if (forwardTo === undefined) return undefined;
  return { root: openPlace(forwardTo, config.backups.s3), encryptTo: encryptTo ?? [] };
}

const Sent = z.object({
  /** The last files that were sent, or were about to be: who was interrupted knows them again. */
  begun: z.array(z.object({ name: z.string(), sha256: z.string() })),
  /** Of all files that were sent. */
  bytes: z.number(),
  /** Unix seconds. */
  last_success: z.number().nullable(),
  /** Since when nothing can be sent, in Unix seconds, and why; null while that goes well. */
  failing_since: z.number().nullable(),
  problem: z.string().nullable(),
});
/** What was sent of the log of one life. */
export type Sent = z.output<typeof Sent>;

const SentBase = z.object({
  name: z.string(),
  bytes: z.number(),
  timeline: z.number(),
  start_lsn: z.string(),
  end_lsn: z.string(),
  /** Unix seconds. */
  finished_at: z.number(),
  /** How much of the log had been sent before. */
  sent_bytes: z.number(),
});
/** A physical backup that was made in an archive: what encrypted ones do not tell. */
export type SentBase = z.output<typeof SentBase>;

const sentFile = "sent.json";
const basesFile = "bases.json";

const nothingSent: Sent = { begun: [], bytes: 0, last_success: null, failing_since: null, problem: null };

/** Reads a note; what is given for none where it is missing, or cut off. */
export async function readNote<T>(path: string, schema: z.ZodType<T>, otherwise: T): Promise<T> {
  try {
    return schema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    // One that a full disk cut off is no more than none.
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (isMissing || error instanceof SyntaxError || error instanceof z.ZodError) return otherwise;
    throw error;
  }
}

/** Writes a note in place of the one before. */
export async function writeNote(folder: string, name: string, note: unknown): Promise<void> {
  const temporary = join(folder, `${name}.new`);
  await writeFile(temporary, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  await flush(temporary);
  await rename(temporary, join(folder, name));
  await flush(folder);
}

/** Reads what was sent of the life in a folder. */
export const readSent = (folder: string): Promise<Sent> =>
  readNote(join(folder, sentFile), Sent, nothingSent);

/** Notes what was sent of the life in a folder. */
export const writeSent = (folder: string, sent: Sent): Promise<void> => writeNote(folder, sentFile, sent);

/** Reads which physical backups were made of the life in a folder, the oldest first. */
export const readSentBases = (folder: string): Promise<SentBase[]> =>
  readNote(join(folder, basesFile), z.array(SentBase), []);

/** Notes which physical backups are there of the life in a folder. */
export const writeSentBases = (folder: string, bases: readonly SentBase[]): Promise<void> =>
  writeNote(folder, basesFile, bases);

/** A file of the log that waits for being sent; `at` in Unix seconds is when PostgreSQL wrote it. */
export interface WaitingFile {
  name: string;
  bytes: number;
  at: number;
}

/** Lists what waits for being sent, the oldest first. */
export async function listWaiting({ wal }: Pick<WalArchive, "wal">): Promise<WaitingFile[]> {
  const names = await readdir(wal).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files: WaitingFile[] = [];
  for (const name of names.filter((each) => each.endsWith(".gz"))) {
    const found = await stat(join(wal, name)).catch(() => undefined);
    if (found !== undefined) files.push({ name, bytes: found.size, at: found.mtimeMs / 1000 });
  }
  return files.sort((one, other) => one.at - other.at || (one.name < other.name ? -1 : 1));
}
