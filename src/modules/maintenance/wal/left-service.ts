import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { z } from "zod";

import { spoolsOf, standardKeepSeconds } from "../../../config-wal.ts";
import type { Config } from "../../../config.ts";
import { findWalArchive } from "../../../db/managed/index.ts";
import { lifePattern } from "../../../domain/backup-format.ts";
import { bytesInWords } from "../../../domain/health.ts";
import { isLocationUrl } from "../../../lib/bucket/location.ts";
import type { Deps } from "../../kernel/deps.ts";
import { openPlace } from "../backups/place-service.ts";
import { sendWaiting } from "./forward-service.ts";
import { type Forwarding, listWaiting, readNote, readSent, writeNote } from "./forwarded-service.ts";
import { mostBytes } from "./state-service.ts";

/** Where what is in a folder was to be brought, as far as settings other than credentials tell. */
const Destination = z.object({
  to: z.string(),
  encrypt_to: z.array(z.string()),
  endpoint: z.string().nullable(),
  region: z.string().nullable(),
});
type Destination = z.output<typeof Destination>;

const destinationFile = "destination.json";

type LeftConfig = Pick<Config, "dataDir" | "wal" | "backups">;

type LeftDeps = Pick<Deps, "log"> & { config: LeftConfig };

/** Notes where what PostgreSQL writes is brought, so that it can be told, and done still, when the settings name another archive. */
export async function noteDestination({ config, log }: LeftDeps): Promise<void> {
  const { wal, backups } = config;
  if (wal?.forwardTo === undefined) return;
  const { s3 } = backups;
  const destination: Destination = {
    to: wal.forwardTo,
    encrypt_to: [...wal.encryptTo],
    endpoint: s3?.endpoint ?? null,
    region: s3?.region ?? null,
  };
  await writeNote(wal.folder, destinationFile, destination).catch((err: unknown) =>
    log.warn({ err }, "It cannot be noted where WAL is brought to"),
  );
}

/** What waits for an archive that the settings do not name any more, or is of a life that ended and does not get away. */
interface LeftWal {
  /** Where it waits. */
  folder: string;
  /** Undefined where it is not known. */
  destination: Destination | undefined;
  files: number;
  bytes: number;
  /** When the last of it was written, in Unix seconds; 0 where there are no files. */
  newest: number;
  /** Why it could not be brought; null while nobody tried. */
  problem: string | null;
  /** For the archive that is in use: whoever brings all else goes on trying. */
  isOwn: boolean;
  /** When it is removed, in Unix seconds: no moment of the window is restored with it then. */
  ends_at: number;
}

async function listFolder(folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter(wanted).sort();
}

const isLife = (name: string): boolean => lifePattern.test(name);

/** Looks at what is in a folder of lives, or of some of them. */
async function look(folder: string, lives: readonly string[], keepSeconds: number): Promise<LeftWal> {
  const left = { files: 0, bytes: 0, newest: 0, problem: null as string | null };
  for (const life of lives) {
    for (const { bytes, at } of await listWaiting({ wal: join(folder, life, "wal") })) {
      left.files += 1;
      left.bytes += bytes;
      left.newest = Math.max(left.newest, at);
    }
    left.problem ??= (await readSent(join(folder, life))).problem;
  }
  const destination = await readNote(join(folder, destinationFile), Destination.optional(), undefined);
  return { folder, destination, ...left, isOwn: false, ends_at: left.newest + keepSeconds };
}

/** What is brought at all is brought by then, in seconds. */
const soonBrought = 300;

/** Lists what lives that ended have left of the archive in use, and does not get there. */
async function listStuck({ dataDir, wal }: LeftConfig, keepSeconds: number): Promise<LeftWal[]> {
  if (wal?.forwardTo === undefined) return [];
  const current = (await findWalArchive(dataDir))?.life;
  const stuck: LeftWal[] = [];
  for (const life of await listFolder(wal.folder, (name) => isLife(name) && name !== current)) {
    const left = await look(wal.folder, [life], keepSeconds);
    if (left.files > 0 && left.newest < Date.now() / 1000 - soonBrought)
      stuck.push({ ...left, folder: join(wal.folder, life), isOwn: true });
  }
  return stuck;
}

/** Lists what waits for archives that the settings do not name any more, those first that wait for longest. */
export async function listLeftWal({ dataDir, wal, backups }: LeftConfig): Promise<LeftWal[]> {
  const spools = spoolsOf(dataDir);
  const names = await listFolder(spools, (name) => /^[0-9a-f]{16}$/.test(name));
  const others = names.map((name) => join(spools, name)).filter((folder) => folder !== wal?.folder);
  const keepSeconds = wal?.keepSeconds ?? standardKeepSeconds;
  const left = await listStuck({ dataDir, wal, backups }, keepSeconds);
  for (const folder of others) left.push(await look(folder, await listFolder(folder, isLife), keepSeconds));
  return left.sort((one, other) => one.newest - other.newest);
}

/** Opens where something is to be brought; undefined where the settings do not say any more how that is reached. */
function reach(
  { backups: { s3 } }: LeftConfig,
  destination: Destination | undefined,
): Forwarding | undefined {
  if (destination === undefined) return undefined;
  const { to, encrypt_to, endpoint, region } = destination;
  // A bucket of the same name at another service is another one.
  const isSame = s3 !== undefined && (s3.endpoint ?? null) === endpoint && s3.region === region;
  return isLocationUrl(to) && !isSame ? undefined : { root: openPlace(to, s3), encryptTo: encrypt_to };
}

/** Says what waits for former archives, in a sentence; undefined where nothing does. */
export function sayLeftWal(left: readonly LeftWal[]): string | undefined {
  const parts = left
    .filter(({ files }) => files > 0)
    .map(({ folder, destination, bytes, problem, isOwn, ends_at }) => {
      const why = problem === null ? "" : ` (${problem})`;
      const until = new Date(ends_at * 1000).toISOString().slice(0, 10);
      const whose = isOwn ? "from before a restore" : "which WAYBILL_WAL_TO does not name any more";
      return `${bytesInWords(bytes)} of WAL wait in ${folder} for ${destination?.to ?? "an archive"}, ${whose}${why}, until ${until}`;
    });
  return parts.length === 0 ? undefined : parts.join("; ");
}

/** Removes what is outdated, and the oldest of more than may wait at all: it stays on the disk of the database. */
async function removeOutdated({ config, log }: LeftDeps, left: readonly LeftWal[]): Promise<LeftWal[]> {
  const now = Date.now() / 1000;
  let most = await mostBytes({ config });
  const kept: LeftWal[] = [];
  for (const each of left.toReversed()) {
    const { folder, destination, files, bytes, ends_at } = each;
    most -= bytes;
    if (files > 0 && ends_at > now && most >= 0) {
      kept.unshift(each);
      continue;
    }
    await rm(folder, { recursive: true, force: true });
    if (files > 0)
      log.error(
        { folder, files, bytes, to: destination?.to },
        "Removed WAL that could not be brought to its former archive: the last moments there cannot be restored",
      );
  }
  return kept;
}

/**
 * Brings what waits for former archives there, as far as they can be reached, and removes what is outdated.
 * @returns what is left then.
 */
export async function bringLeftWal(deps: LeftDeps, signal: AbortSignal): Promise<LeftWal[]> {
  const { config, log } = deps;
  for (const { folder, destination, files, bytes, isOwn } of await listLeftWal(config)) {
    const forwarding = isOwn ? undefined : reach(config, destination);
    if (files === 0 || forwarding === undefined || signal.aborted) continue;
    try {
      await sendWaiting(forwarding, folder, signal);
      log.info({ to: destination?.to, files, bytes }, "Brought the WAL that waited to its former archive");
    } catch (err) {
      log.debug({ err, to: destination?.to }, "WAL cannot be brought to its former archive");
    }
  }
  return signal.aborted ? [] : removeOutdated(deps, await listLeftWal(config));
}

const tryAgainMs = 60_000;
/** How long a server that ends waits for what is under way. */
const lastMs = 2_000;

/** Brings what waits for archives that the settings do not name any more, from the start until nothing is left or it is stopped. */
export function carryLeftWal(deps: LeftDeps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    for (let isTold = false; !signal.aborted;) {
      try {
        const left = await bringLeftWal(deps, signal);
        if (left.length === 0 && deps.config.wal?.forwardTo === undefined) return;
        if (!isTold && left.length > 0)
          deps.log.warn({ folders: left.map(({ folder }) => folder) }, sayLeftWal(left));
        isTold = left.length > 0;
      } catch (err) {
        deps.log.warn({ err }, "It cannot be told what waits for former WAL archives");
      }
      await delay(tryAgainMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await Promise.race([running, delay(lastMs, undefined, { ref: false })]);
    },
  };
}
