import { randomUUID } from "node:crypto";
import { appendFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { switchArchivingOff, switchArchivingOn, type WalArchive } from "../../../db/managed/index.ts";
import { backupName, backupNamePattern, encryptedSuffix } from "../../../domain/backups.ts";
import { answerWithin } from "../../../lib/answer-within.ts";
import { readDisk } from "../../../lib/disk.ts";
import { flush } from "../../../lib/flush.ts";
import { present } from "../../../lib/present.ts";
import { daySeconds } from "../../../lib/units.ts";
import { untilAborted } from "../../../lib/until-aborted.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Sink } from "../backups/archive-writer.ts";
import { openEncryptedSink } from "../backups/encryption-service.ts";
import { partialSuffix } from "../backups/file-sink.ts";
import { writePhysicalBackup } from "../backups/physical-service.ts";
import { folderPlace, type Place } from "../backups/place-service.ts";
import type { MadeBackup } from "../backups/write-service.ts";
import { listBases, measureSince, pruneArchive } from "./archive-service.ts";
import { forwardingOf, listWaiting, readSent, readSentBases } from "./forwarded-service.ts";
import { keepSentBase } from "./sent-bases-service.ts";
import { judgeWal, readWalState, type WalState } from "./state-service.ts";

type KeepDeps = Pick<Deps, "config" | "db" | "evidence" | "log">;

const weekSeconds = 7 * daySeconds;
/** Less than that is recovered in no time, however small the backup is. */
const fewBytes = 512 * 1024 * 1024;

/** Where times without an archive are noted, a line of JSON each. */
const gapsFile = "gaps.jsonl";

async function noteGap({ root, off }: WalArchive): Promise<void> {
  const from = (await stat(off)).mtimeMs / 1000;
  const path = join(root, gapsFile);
  await appendFile(path, `${JSON.stringify({ from, until: Date.now() / 1000 })}\n`, { mode: 0o600 });
  await flush(path);
}

/**
 * Reads when the last time without an archive ended, in Unix seconds; 0 when there was none. It is when that was noted, since what a full
 * disk or a crash has left of the last line may say nothing.
 */
async function lastGap({ root }: WalArchive): Promise<number> {
  const notes = await stat(join(root, gapsFile)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return (notes?.mtimeMs ?? 0) / 1000;
}

/** Whether an archive that was away takes files again, with room for a backup. */
async function isBack({ archive, database_bytes }: WalState, isForwarded: boolean): Promise<boolean> {
  // All that was written has been brought to the archive.
  if (isForwarded && (await listWaiting(archive)).length > 0) return false;
  const probe = join(archive.wal, `.probe.${process.pid}${partialSuffix}`);
  try {
    await writeFile(probe, "Can be written to.\n", { mode: 0o600 });
    await flush(probe);
    return isForwarded || (await readDisk(archive.wal)).free > database_bytes;
  } catch {
    return false;
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}

/** The last physical backup, and how much of the log came after it. */
interface LastBase {
  finished_at: number;
  bytes: number;
  bytes_since(): Promise<number>;
}

async function findLastBase(
  { config }: Pick<Deps, "config">,
  archive: WalArchive,
): Promise<LastBase | undefined> {
  if (config.wal?.forwardTo !== undefined) {
    const base = (await readSentBases(archive.root)).at(-1);
    return (
      base && { ...base, bytes_since: async () => (await readSent(archive.root)).bytes - base.sent_bytes }
    );
  }
  const base = (await listBases(folderPlace(archive.base))).at(-1);
  return (
    base && {
      finished_at: base.finished_at,
      bytes: base.found.bytes,
      bytes_since: () => measureSince(folderPlace(archive.wal), base),
    }
  );
}

/** Why the archive needs a new physical backup; undefined while it needs none. */
async function whyDue(
  deps: Pick<Deps, "config">,
  archive: WalArchive,
  now: number,
): Promise<string | undefined> {
  const newest = await findLastBase(deps, archive);
  if (newest === undefined) return "there is none";
  if (newest.finished_at < (await lastGap(archive))) return "the WAL has a gap since the last one";
  if (now - newest.finished_at > weekSeconds) return "the last one is a week old";
  const since = await newest.bytes_since();
  return since > Math.max(fewBytes, newest.bytes / 2) ? "there is much WAL since the last one" : undefined;
}

/**
 * Looks after the archive of the write-ahead log: warns when it is away, has PostgreSQL go on without it before the disk is full, and
 * with it when it is back. To be called every minute.
 * @param queueBase asks for a physical backup, which is not asked for twice.
 */
export async function keepWalArchive(deps: KeepDeps, queueBase: () => Promise<void>): Promise<void> {
  const state = await readWalState(deps);
  if (state === undefined) return;
  const { archive, isOff, waiting_bytes, most_bytes } = state;
  if (isOff) {
    if (!(await isBack(state, deps.config.wal?.forwardTo !== undefined))) return;
    await noteGap(archive);
    await switchArchivingOn(archive);
    deps.log.warn({ folder: archive.wal }, "The WAL is archived again; a physical backup follows");
  } else if (waiting_bytes >= most_bytes) {
    await switchArchivingOff(archive);
    deps.log.error(
      { folder: archive.wal, waiting_bytes, most_bytes },
      "The WAL is not archived any more, because its archive was away for too long: no moment from now on can be restored until it is back",
    );
    return;
  } else if (judgeWal(state).status !== "ok")
    deps.log.warn({ folder: archive.wal, waiting_bytes, most_bytes }, "The WAL waits for its archive");
  const reason = await whyDue(deps, archive, Date.now() / 1000);
  if (reason === undefined) return;
  deps.log.debug({ reason }, "A physical backup is due");
  await queueBase();
}

/** Nobody else writes there for so long without a byte, in seconds. */
const abandonedAfter = 3_600;

/** How long it may take to leave nothing behind, in milliseconds. */
const abandonWithinMs = 3_000;

/** Makes a physical backup, and says what became of it. @throws the reason of the signal. */
async function makeBase(
  deps: KeepDeps,
  { archive, place, program, database_bytes }: BaseToMake,
  signal: AbortSignal,
): Promise<{ name: string; made: MadeBackup }> {
  const id = randomUUID();
  const encryptTo = deps.config.wal?.encryptTo ?? [];
  const plainName = backupName(Date.now() / 1000, id);
  const name = encryptTo.length === 0 ? plainName : plainName + encryptedSuffix;
  const open = (): Promise<Sink> => place.create(name, database_bytes);
  const evidence = "none";
  const encrypted =
    encryptTo.length === 0
      ? undefined
      : await openEncryptedSink(open, encryptTo, { kind: "physical", evidence });
  const sink = encrypted ?? (await open());
  try {
    const made = await untilAborted(signal, async () => {
      const options = { id, program, evidence, life: archive.life, signal } as const;
      const written = await writePhysicalBackup(deps, sink, options);
      await sink.finish();
      return written;
    });
    return { name, made: { ...made, bytes: encrypted?.bytes() ?? made.bytes } };
  } catch (error) {
    // What is left where nobody answers is removed before the next one.
    await answerWithin(abandonWithinMs, sink.abandon(), () => {});
    throw error;
  }
}

interface BaseToMake {
  archive: WalArchive;
  place: Place;
  /** Version of it. */
  program: string;
  database_bytes: number;
}

/**
 * Makes a physical backup in the archive if one is due, and then removes what no moment within reach needs any more.
 * @param program version of it. @param signal has it give up at once, and leave nothing.
 * @throws the reason of the signal; what making it fails with.
 */
export async function makeDueBase(
  deps: KeepDeps,
  program: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const state = await readWalState(deps);
  if (state === undefined || state.isOff) return;
  const { archive, database_bytes } = state;
  const now = Date.now() / 1000;
  if ((await whyDue(deps, archive, now)) === undefined) return;
  const forwarded = forwardingOf(deps.config)?.root.below(archive.life);
  const places = {
    wal: forwarded?.below("wal") ?? folderPlace(archive.wal),
    base: forwarded?.below("base") ?? folderPlace(archive.base),
  };
  await places.base.prepare();
  await places.base.removeAbandoned(backupNamePattern, abandonedAfter);
  const { folder } = places.base;
  const free = folder === undefined ? Infinity : (await readDisk(folder)).free;
  if (free < database_bytes)
    throw new Error(
      `There is no room for a physical backup in ${places.base.path}: ${free} bytes are free, and the database has ${database_bytes}`,
    );
  const sent_bytes = (await readSent(archive.root)).bytes;
  const { name, made } = await makeBase(
    deps,
    { archive, place: places.base, program, database_bytes },
    signal,
  );
  deps.log.info(
    { file: places.base.pathOf(name), bytes: made.bytes, seconds: Date.now() / 1000 - now },
    "Made a physical backup",
  );
  const since = now - (deps.config.wal?.keepSeconds ?? 0);
  const facts = present(made.end.cluster, "it is a physical backup");
  const removed =
    forwarded === undefined
      ? await pruneArchive(places, since)
      : await keepSentBase(deps, archive.root, places, {
          made: { ...facts, name, bytes: made.bytes, sent_bytes },
          since,
        });
  if (removed > 0) deps.log.info({ files: removed }, "Removed what the WAL archive needs no more");
}
