import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setImmediate as giveWay, setTimeout as delay } from "node:timers/promises";

import { lifePattern } from "../../../domain/backup-format.ts";
import { encryptedSuffix } from "../../../domain/backups.ts";
import { ageEncryption } from "../../../lib/age.ts";
import { sha256InTurns } from "../../../lib/hash-in-turns.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Place } from "../backups/place-service.ts";
import {
  type Forwarding,
  forwardingOf,
  listWaiting,
  readSent,
  type Sent,
  type WaitingFile,
  writeSent,
} from "./forwarded-service.ts";

const lookAgainMs = 1_000;
const tryAgainMs = 10_000;
/** How long a server that ends takes for what is left. */
const lastMs = 5_000;
/** More files are never under way between PostgreSQL and the archive. */
const mostRemembered = 64;

const pieceBytes = 64 * 1024;

/** Gives bytes piece by piece, with a turn for everybody else between two. */
async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    yield bytes.subarray(from, from + pieceBytes);
    await giveWay();
  }
}

/** Encrypts a file in memory: those of the log have 16 MB at most. */
async function encrypted(bytes: Buffer, recipients: readonly string[]): Promise<Buffer> {
  const encrypt = await ageEncryption(recipients);
  return buffer(await encrypt(ReadableStream.from(inPieces(bytes))));
}

async function holds(place: Place, name: string, bytes: Buffer): Promise<boolean> {
  const found = await place.find(name);
  return found?.bytes === bytes.length && (await place.read(name, 0, bytes.length)).equals(bytes);
}

/**
 * Brings a file to the archive, and notes that before and after. Nothing that is there is replaced.
 * @throws Error when there is another file of its name.
 */
async function sendFile(
  folder: string,
  { place, encryptTo }: { place: Place; encryptTo: readonly string[] },
  { name, at }: WaitingFile,
): Promise<void> {
  const path = join(folder, "wal", name);
  const bytes = await readFile(path);
  const sha256 = (await sha256InTurns([bytes])).toString("hex");
  const before = await readSent(folder);
  const isKnown = before.begun.some((each) => each.name === name && each.sha256 === sha256);
  const others = before.begun.filter((each) => each.name !== name);
  const begun = [...others, { name, sha256 }].slice(-mostRemembered);
  await writeSent(folder, { ...before, begun });
  const isPlain = encryptTo.length === 0;
  const target = isPlain ? name : name + encryptedSuffix;
  const content = isPlain ? bytes : await encrypted(bytes, encryptTo);
  // No two encryptions are the same: of one that came from an earlier attempt it is known only that it was begun here. What is there may
  // also be this one, whose answer was lost.
  const isThere =
    (await place.putNew(target, content)) || (!isPlain && isKnown) || (await holds(place, target, content));
  if (!isThere) {
    await writeSent(folder, before);
    throw new Error(`${place.pathOf(target)} is there already, and is another file`);
  }
  const sent: Sent = {
    begun,
    bytes: before.bytes + bytes.length,
    last_success: Math.max(at, before.last_success ?? 0),
    failing_since: null,
    problem: null,
  };
  await writeSent(folder, sent);
  await rm(path, { force: true });
}

/** Brings what waits of one life to its archive. @throws what bringing the first one fails with that cannot be brought. */
async function sendLife(
  { root, encryptTo }: Forwarding,
  { spool, life, signal }: { spool: string; life: string; signal: AbortSignal },
): Promise<void> {
  const folder = join(spool, life);
  const waiting = await listWaiting({ wal: join(folder, "wal") });
  if (waiting.length === 0) return;
  const place = root.below(life).below("wal");
  try {
    await place.prepare();
    for (const file of waiting) {
      if (signal.aborted) return;
      await sendFile(folder, { place, encryptTo }, file);
    }
  } catch (error) {
    const sent = await readSent(folder);
    const problem = error instanceof Error ? error.message : String(error);
    await writeSent(folder, { ...sent, failing_since: sent.failing_since ?? Date.now() / 1000, problem });
    throw error;
  }
}

/**
 * Brings what waits to the archive, also of lives that ended. One that cannot be brought keeps no other waiting.
 * @param spool the folder that PostgreSQL writes to. @throws what bringing the first one fails with that cannot be brought.
 */
export async function sendWaiting(
  forwarding: Forwarding,
  spool: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  if (!existsSync(spool)) return;
  const lives = (await readdir(spool)).filter((name) => lifePattern.test(name)).sort();
  const failures: unknown[] = [];
  for (const life of lives)
    if (!signal.aborted)
      await sendLife(forwarding, { spool, life, signal }).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/**
 * Brings what PostgreSQL writes to the archive as soon as it is there, until it is stopped: to a bucket, or encrypted. What is left then, as
 * the archive does not answer, is brought after the next start.
 */
export function forwardWal(deps: Pick<Deps, "config" | "log">): { stop(): Promise<void> } {
  const { config, log } = deps;
  const { wal } = config;
  const forwarding = forwardingOf(config);
  if (wal === undefined || forwarding === undefined) return { stop: async () => {} };
  const stopping = new AbortController();
  const { signal } = stopping;
  const rest = (ms: number): Promise<unknown> =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const run = async (): Promise<void> => {
    for (let failing = false; !signal.aborted;)
      try {
        await sendWaiting(forwarding, wal.folder, signal);
        failing = false;
        await rest(lookAgainMs);
      } catch (err) {
        if (!failing)
          log.error({ err }, "WAL cannot be brought to its archive; it waits in the data directory");
        failing = true;
        await rest(tryAgainMs);
      }
  };
  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      const rest = running.then(() =>
        sendWaiting(forwarding, wal.folder, AbortSignal.timeout(lastMs)).catch(() => {}),
      );
      await Promise.race([rest, delay(lastMs, undefined, { ref: false })]);
    },
  };
}
