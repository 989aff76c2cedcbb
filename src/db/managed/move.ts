import { chmod, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { rewrittenPerSecond } from "../../domain/upgrade-plan.ts";
import { readDisk } from "../../lib/disk.ts";
import { flush } from "../../lib/flush.ts";
import { folderSize } from "../../lib/folder-size.ts";
import { silentLog } from "../../lib/log.ts";
import type { Logger } from "../../lib/log.ts";
import { megabyte } from "../../lib/units.ts";
import { readVersion } from "./cluster.ts";
import { prepareEngine } from "./engine-copy.ts";
import { locateEngine, majorOf } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { DataDirectoryInUseError, ManagedPostgresError, messageOf } from "./errors.ts";
import type { ManagedConnection } from "./find.ts";
import { chooseIdentity } from "./identity.ts";
import type { Identity } from "./identity.ts";
import { layoutOf } from "./layout.ts";
import type { Layout } from "./layout.ts";
import { startManagedPostgres } from "./manage.ts";
import { findOldEngine } from "./old-engine.ts";
import { findPostmaster } from "./postmaster-file.ts";
import { terminate } from "./postmaster.ts";
import { isAlive } from "./process-state.ts";

/** What it takes to bring a cluster of an earlier major version of PostgreSQL to the present one. */
export interface MoveRequest {
  readonly dataDir: string;
  readonly log: Logger;
  /** Folder with the programs of the earlier version; undefined for the optional package that brings them. */
  readonly oldEngine: string | undefined;
  /** PostgreSQL settings beyond our own, for both. */
  readonly settings?: Record<string, string>;
  /** Copies everything from one to the other and compares it. What it throws leaves the old cluster as it was. */
  copy(from: ManagedConnection, to: ManagedConnection): Promise<void>;
}

/** The data directory of the new cluster while it is filled, within the real one. */
const workFolder = "postgres-move";
/** There once the copy was compared: from then on the old cluster is the one that is set aside. Names who moves it. */
const verified = "verified";
/** In a cluster that was replaced; its time is when. */
const replacedMark = "waybill-replaced";

/** Room that is needed, in parts of what the old cluster takes. */
const roomNeeded = 1.1;

/** How long two renames and the end of PostgreSQL may take before whoever said to be at it is taken for gone. */
const patienceMs = 120_000;

/** Tells how an engine and the cluster of a data directory stand to each other. Starts nothing. */
export async function compareMajors(
  dataDir: string,
): Promise<{ cluster: string | undefined; engine: string | undefined }> {
  const cluster = await readVersion(join(dataDir, "postgres")).catch(() => undefined);
  const engine = await locateEngine().then(majorOf, () => undefined);
  return { cluster, engine };
}

/**
 * Tells whether a cluster of another major version could be moved: whether the engine that made it can be found. Starts nothing.
 * @throws ManagedPostgresError when the one that was named does not fit.
 */
export async function canMove(dataDir: string, oldEngine: string | undefined): Promise<boolean> {
  const layout = await layoutOf(dataDir);
  const major = await readVersion(layout.cluster);
  if (major === undefined) return false;
  const identity = await chooseIdentity(layout.dataDir);
  const request = { layout, identity, log: silentLog, major, folder: oldEngine };
  return (await findOldEngine(request)) !== undefined;
}

/**
 * Brings the cluster of a data directory to the major version of the installed engine, if another one made it and the engine of that one
 * can be found: copies it into a new cluster beside, compares, and lets them change places. The old one stays as `postgres-<major>`.
 * Whatever interrupts it leaves the old cluster as it was, or, once the copy was compared, what the next start finishes.
 * @returns the major version it was brought from; undefined when there was nothing to do, or no engine to do it with.
 * @throws ManagedPostgresError in a sentence, when it failed: the old cluster is as it was.
 */
export async function moveToPresentMajor(request: MoveRequest): Promise<string | undefined> {
  const { dataDir, log } = request;
  const layout = await layoutOf(dataDir).catch(() => undefined);
  if (layout === undefined) return undefined;
  await finishMove(layout, log);
  const { cluster: from, engine: to } = await compareMajors(layout.dataDir);
  if (from === undefined || to === undefined || from === to) return undefined;
  const identity = await chooseIdentity(layout.dataDir);
  const engine = await findOldEngine({ layout, identity, log, major: from, folder: request.oldEngine });
  // What starts the cluster says in a sentence that it cannot.
  if (engine === undefined) return undefined;
  await requireRoom(layout, { from, to }, log);
  try {
    await copyBeside(request, layout, { identity, engine, from });
  } catch (error) {
    if (error instanceof DataDirectoryInUseError) throw error;
    throw new ManagedPostgresError(
      `The database could not be moved from PostgreSQL ${from} to ${to}: ${messageOf(error)} ` +
        `It is as it was: mend that and start again, or start the Waybill version that ran on PostgreSQL ${from}.`,
      { cause: error },
    );
  }
  await finishMove(layout, log);
  return from;
}

async function requireRoom(
  layout: Layout,
  { from, to }: { from: string; to: string },
  log: Logger,
): Promise<void> {
  const bytes = await folderSize(layout.cluster);
  const { free } = await readDisk(layout.dataDir);
  const needed = Math.ceil(bytes * roomNeeded);
  if (free < needed)
    throw new ManagedPostgresError(
      `To move the database from PostgreSQL ${from} to ${to} the disk of ${layout.dataDir} needs ${Math.ceil(needed / megabyte)} MB of room, ` +
        `and has ${Math.floor(free / megabyte)} MB. Nothing was begun.`,
    );
  log.warn(
    {
      from: `PostgreSQL ${from}`,
      to: `PostgreSQL ${to}`,
      megabytes: Math.ceil(bytes / megabyte),
      minutes: Math.ceil(bytes / rewrittenPerSecond / 60),
    },
    "Moving the database to another major version of PostgreSQL; it takes about so many minutes, and can be interrupted",
  );
}

interface Old {
  identity: Identity;
  engine: Engine;
  from: string;
}

async function copyBeside(request: MoveRequest, layout: Layout, old: Old): Promise<void> {
  const { log, settings = {} } = request;
  const target = join(layout.dataDir, workFolder);
  const source = await startManagedPostgres({
    dataDir: layout.dataDir,
    log,
    engine: old.engine,
    restartDelays: [],
    settings: { ...settings, default_transaction_read_only: "on" },
  });
  // From here on nobody else works on the data directory.
  try {
    await discard(target, log);
    const engine = await prepareEngine({ layout, identity: old.identity, log });
    const copy = await startManagedPostgres({ dataDir: target, log, engine, settings, restartDelays: [] });
    try {
      await request.copy(source.connection, copy.connection);
    } finally {
      await copy.stop();
    }
    await writeFile(join(target, verified), `${process.pid} ${old.from}\n`, { mode: 0o600, flush: true });
    await flush(target);
  } catch (error) {
    await discard(target, log);
    throw error;
  } finally {
    await source.stop();
  }
}

/** Removes what an interrupted move left, and ends a PostgreSQL that still runs there. */
async function discard(target: string, log: Logger): Promise<void> {
  const layout = await layoutOf(target).catch(() => undefined);
  if (layout === undefined) return;
  const left = await findPostmaster(layout);
  if (left !== undefined) await terminate(left.pid, layout, log);
  await rm(target, { recursive: true, force: true, maxRetries: 3 });
}

/** Reads who compared a copy and has not put it in its place yet. */
async function readVerified(target: string): Promise<{ pid: number; from: string; age: number } | undefined> {
  const path = join(target, verified);
  const text = await readFile(path, "utf8").catch(() => "");
  const [, pid, from] = /^(\d+) (\d+)\n$/.exec(text) ?? [];
  if (pid === undefined || from === undefined) return undefined;
  return { pid: Number(pid), from, age: Date.now() - (await stat(path)).mtimeMs };
}

/** Lets a compared copy and the old cluster change places. Does nothing without one; goes on where it was interrupted. */
async function finishMove(layout: Layout, log: Logger): Promise<void> {
  const target = join(layout.dataDir, workFolder);
  const found = await readVerified(target);
  if (found === undefined) return;
  const isOthers = found.pid !== process.pid && found.age < patienceMs && (await isAlive(found.pid));
  if (isOthers)
    throw new DataDirectoryInUseError(
      `The database in ${layout.dataDir} is being moved by another Waybill server (process ${found.pid}).`,
    );
  const running = await findPostmaster(layout);
  if (running !== undefined) await terminate(running.pid, layout, log);
  const aside = join(layout.dataDir, `postgres-${found.from}`);
  if ((await readVersion(layout.cluster).catch(() => undefined)) === found.from) {
    // A former one of the same version was replaced by what is here now.
    await rm(aside, { recursive: true, force: true });
    await writeFile(join(layout.cluster, replacedMark), `${new Date().toISOString()}\n`, { mode: 0o600 });
    await rename(layout.cluster, aside);
    await flush(layout.dataDir);
  }
  const copied = join(target, "postgres");
  if ((await readVersion(copied).catch(() => undefined)) !== undefined) await rename(copied, layout.cluster);
  await flush(layout.dataDir);
  await rm(target, { recursive: true, force: true, maxRetries: 3 });
  await chmod(layout.cluster, 0o700);
  log.warn(
    { kept: aside },
    "The database was moved; the old one is kept for 30 days, or until `waybill admin forget-old-cluster`",
  );
}

/** A cluster that was replaced by one of a later major version. */
interface OldCluster {
  path: string;
  /** Unix seconds. */
  replacedAt: number;
}

/** Lists the clusters of a data directory that were replaced. */
async function listOldClusters(dataDir: string): Promise<OldCluster[]> {
  const found: OldCluster[] = [];
  for (const name of await readdir(dataDir).catch(() => [])) {
    if (!/^postgres-\d+$/.test(name)) continue;
    const path = join(dataDir, name);
    const mark = await stat(join(path, replacedMark)).catch(() => undefined);
    if (mark !== undefined) found.push({ path, replacedAt: mark.mtimeMs / 1000 });
  }
  return found;
}

/** Removes clusters that were replaced more than so many seconds ago. @returns their folders. */
export async function forgetOldClusters(dataDir: string, olderThanSeconds: number): Promise<string[]> {
  const before = Date.now() / 1000 - olderThanSeconds;
  const old = (await listOldClusters(dataDir)).filter(({ replacedAt }) => replacedAt <= before);
  for (const { path } of old) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  return old.map(({ path }) => path);
}
