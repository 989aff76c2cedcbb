import { readFile, rename, link, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../lib/log.ts";
import { codeOf, ManagedPostgresError } from "./errors.ts";
import type { Layout } from "./layout.ts";
import { isPostgresOf, isSignallable } from "./process-state.ts";
import { socketDirectoryOf, socketPath, somebodyListens } from "./socket.ts";

/** What a running postmaster says of itself in postmaster.pid. */
export interface Postmaster {
  readonly pid: number;
  readonly socketDirectory: string;
  /** "starting", "ready", "stopping"; empty while the file is being written. */
  readonly status: string;
}

/** Reads postmaster.pid; `undefined` without the file. A file just being written gives a NaN as process id. */
export async function readPostmasterFile(layout: Layout): Promise<Postmaster | undefined> {
  try {
    const lines = (await readFile(join(layout.cluster, "postmaster.pid"), "utf8")).split("\n");
    // A copied or moved directory still names the socket of the original.
    const told = lines[1] === layout.cluster ? lines[4]?.trim() : undefined;
    return {
      pid: lines[0] === undefined || lines[0] === "" ? Number.NaN : Number(lines[0]),
      socketDirectory: told === undefined || told === "" ? socketDirectoryOf(layout) : told,
      status: lines[7]?.trim() ?? "",
    };
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/**
 * Finds the live postmaster of this cluster, whoever started it; `undefined` if there is none.
 * @throws ManagedPostgresError when one is alive that we cannot see, in another container sharing the data directory.
 */
export async function findPostmaster(layout: Layout): Promise<Postmaster | undefined> {
  const seen = await readPostmasterFile(layout);
  if (seen === undefined) return undefined;
  if (await isPostgresOf(seen.pid, layout.cluster)) return seen;
  if (!(await somebodyListens(seen.socketDirectory))) return undefined;
  // It may have started, or restarted, while we looked.
  const again = await readPostmasterFile(layout);
  if (again !== undefined && (await isPostgresOf(again.pid, layout.cluster))) return again;
  throw new ManagedPostgresError(
    `The data directory ${layout.dataDir} is in use by a PostgreSQL (process ${seen.pid}) that this process cannot see, ` +
      "probably in another container that shares the directory. Stop that one first.",
  );
}

/**
 * Sets aside lock files whose process id now belongs to some other program. PostgreSQL itself copes with dead owners,
 * but would take a recycled process id, common in containers, for a running server.
 */
export async function clearStaleLocks(layout: Layout, log: Logger): Promise<void> {
  const locks = [join(layout.cluster, "postmaster.pid"), `${socketPath(socketDirectoryOf(layout))}.lock`];
  for (const path of locks) {
    const content = await readFile(path, "utf8").catch(() => undefined);
    if (content === undefined || !(await isStale(path, content, layout))) continue;
    log.warn(
      { path, pid: Number.parseInt(content, 10) },
      "Removing the lock file of a PostgreSQL that is gone",
    );
    await setAside(path, content);
  }
}

async function isStale(path: string, content: string, layout: Layout): Promise<boolean> {
  const pid = Number.parseInt(content, 10);
  if (Number.isNaN(pid)) {
    // Being written at this moment, or left empty by a full disk or a power failure.
    const entry = await stat(path).catch(() => undefined);
    return entry !== undefined && Date.now() - entry.mtimeMs > 2000;
  }
  // A postmaster enters its directory before it writes its lock files, so this test does not fail a fresh one.
  return isSignallable(pid) && !(await isPostgresOf(pid, layout.cluster));
}

/** Removes the file only if it still has this content: another server may have replaced it meanwhile. */
async function setAside(path: string, content: string): Promise<void> {
  const aside = `${path}.stale-${process.pid}`;
  try {
    await rename(path, aside);
    if ((await readFile(aside, "utf8")) !== content) await link(aside, path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}
