import { setTimeout as sleep } from "node:timers/promises";
import { removeStaleEngines } from "./engine-copy.ts";
import { DataDirectoryInUseError, ManagedPostgresError } from "./errors.ts";
import { claim } from "./ownership.ts";
import type { Ownership } from "./ownership.ts";
import { findPostmaster, readPostmasterFile } from "./postmaster-file.ts";
import { launch, terminate, waitUntilReady } from "./postmaster.ts";
import type { PostmasterRequest } from "./postmaster.ts";
import { socketDirectoryOf } from "./socket.ts";
import { archivesAs, wakeArchiving } from "./wal-archive.ts";

/** A ready postmaster whose data directory we own. */
export interface OwnedPostgres {
  readonly pid: number;
  readonly ownership: Ownership;
  readonly socketDirectory: string;
}

/** How long PostgreSQL may come and go before we give up, in milliseconds. */
const claimLimit = 60_000;

/**
 * Takes over the live postmaster of the cluster, or starts one, and becomes the owner of the data directory.
 * @throws DataDirectoryInUseError when another server owns it, ManagedPostgresError when PostgreSQL does not run.
 */
export async function takeOwnership(request: PostmasterRequest): Promise<OwnedPostgres> {
  const { layout, log, signal } = request;
  const end = Date.now() + claimLimit;
  while (Date.now() < end) {
    signal.throwIfAborted();
    const adopted = await findPostmaster(layout);
    const pid = adopted === undefined ? await launch(request) : adopted.pid;
    const owned = pid === undefined ? undefined : await claimFrom(request, pid);
    if (
      owned !== undefined &&
      adopted !== undefined &&
      !(await archivesAs(owned.ownership.client, request.settings))
    ) {
      log.info({ pid }, "Restarting PostgreSQL, which archives its log elsewhere than it is to");
      await giveUpOwnership(owned, request);
    } else if (owned !== undefined) {
      // A postmaster taken over may still run from an older copy.
      if (adopted === undefined) await removeStaleEngines(layout, request.engine);
      else log.info({ pid }, "Took over the PostgreSQL that is already running");
      await wakeArchiving(owned.ownership.client, request.settings);
      return owned;
    }
    await sleep(20, undefined, { signal });
  }
  throw new ManagedPostgresError(
    `PostgreSQL for the data directory ${layout.dataDir} keeps starting and stopping. ` +
      `See ${layout.logFile}.`,
  );
}

async function claimFrom(request: PostmasterRequest, pid: number): Promise<OwnedPostgres | undefined> {
  if (!(await waitUntilReady(request, pid))) return undefined;
  const told = await readPostmasterFile(request.layout);
  const socketDirectory = told?.socketDirectory ?? socketDirectoryOf(request.layout);
  const ownership = await claim(request.layout, socketDirectory, request.by);
  return ownership === undefined ? undefined : { pid, ownership, socketDirectory };
}

/** Shuts the postmaster down. The lock is held until it is gone, so that no other server takes it over half-way. */
export async function giveUpOwnership(owned: OwnedPostgres, request: PostmasterRequest): Promise<void> {
  await terminate(owned.pid, request.layout, request.log);
  await owned.ownership.client.end().catch(() => {});
}

/**
 * Shuts down a postmaster whose ownership was lost, as while it recovers of itself after a crash, unless another server has taken it over.
 * @throws ManagedPostgresError when it cannot be told whose it is.
 */
export async function endLost({ layout, log, by }: PostmasterRequest): Promise<void> {
  const found = await findPostmaster(layout);
  if (found === undefined) return;
  try {
    // Nobody owns one that does not take connections.
    const ownership = await claim(layout, found.socketDirectory, by);
    await terminate(found.pid, layout, log);
    await ownership?.client.end().catch(() => {});
  } catch (error) {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
  }
}
