import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../lib/log.ts";
import { database, ensureCluster } from "./cluster.ts";
import type { Engine } from "./engine.ts";
import { prepareEngine } from "./engine-copy.ts";
import { DataDirectoryInUseError, ManagedPostgresError, messageOf } from "./errors.ts";
import { connectionTo } from "./find.ts";
import type { ManagedConnection } from "./find.ts";
import { prepareRecovery, type Recovery, requireFinishedRestore } from "./recovery.ts";
import { prepareWalArchive, type WalArchiveOptions } from "./wal-archive.ts";
import { chooseIdentity, requireReachable } from "./identity.ts";
import { prepareDataDir } from "./layout.ts";
import { holdLibraries } from "./libraries.ts";
import type { Claimant, Ownership } from "./ownership.ts";
import type { PostmasterRequest } from "./postmaster.ts";
import { endLost, giveUpOwnership, takeOwnership } from "./owned-postgres.ts";
import type { OwnedPostgres } from "./owned-postgres.ts";

/** How to run the managed PostgreSQL. */
export interface ManagedPostgresOptions {
  /** Waybill's data directory; created when missing. The database lives in its subdirectory `postgres`. */
  dataDir: string;
  log: Logger;
  /** Who works with it; a server when left out. A server whose PostgreSQL dies waits for a command that was faster to start another. */
  by?: Claimant;
  /** The engine that made the cluster, if it is another than the installed one. It is used as it is. */
  engine?: Engine;
  /** PostgreSQL settings beyond our own; none of them can open the network. */
  settings?: Record<string, string>;
  /** Where PostgreSQL is to archive its write-ahead log; it archives none when left out. */
  walArchive?: WalArchiveOptions | undefined;
  /** How PostgreSQL recovers, at the start that a restore makes: of files that no other start would accept. */
  recovery?: Recovery;
  /** Pauses before the attempts to bring a dead PostgreSQL back, in milliseconds; after the last attempt it is fatal. */
  restartDelays?: readonly number[];
  /** PostgreSQL had ended unexpectedly and runs again: open connections were lost. */
  onRestart?: () => void;
  /** PostgreSQL ended unexpectedly and could not be brought back; the server can do nothing useful any more. */
  onFatal?: (error: Error) => void;
}

/** A running managed PostgreSQL that this process owns. */
export interface ManagedPostgres {
  connection: ManagedConnection;
  /** Shuts PostgreSQL down and waits until it is gone. Close your connections first: open ones are cut. Idempotent. */
  stop(): Promise<void>;
}

const defaultRestartDelays = [0, 250, 1000, 3000, 10_000];

/** A PostgreSQL that has run this long starts with a fresh set of attempts when it dies. */
const healthyAfter = 60_000;

/**
 * Starts Waybill's private PostgreSQL, creating it at the first start, or takes over the one a killed server left
 * running; then keeps it running until `stop`. Returns when the database `waybill` accepts connections.
 * @throws ManagedPostgresError with a message for the operator; DataDirectoryInUseError when another server runs on it.
 */
export async function startManagedPostgres(options: ManagedPostgresOptions): Promise<ManagedPostgres> {
  const stopping = new AbortController();
  const request = await prepare(options, stopping.signal);
  const owned = await takeOwnership(request);
  try {
    await ensureDatabase(owned.ownership);
  } catch (error) {
    await giveUpOwnership(owned, request);
    throw error;
  }
  const keeper = keepRunning(request, owned, options);
  let stopped: Promise<void> | undefined;
  return {
    connection: connectionTo(owned.socketDirectory),
    stop: () => {
      stopping.abort();
      stopped ??= keeper.then(async (last) =>
        last === undefined ? undefined : giveUpOwnership(last, request),
      );
      return stopped;
    },
  };
}

async function prepare(options: ManagedPostgresOptions, signal: AbortSignal): Promise<PostmasterRequest> {
  const { log, settings = {} } = options;
  const identity = await chooseIdentity(options.dataDir);
  const layout = await prepareDataDir(options.dataDir, identity.switched);
  await requireReachable(layout.dataDir, identity);
  const engine = options.engine ?? (await prepareEngine({ layout, identity, log }));
  if (options.recovery === undefined) requireFinishedRestore(layout);
  await ensureCluster({ layout, engine, identity, log, durable: settings["fsync"] !== "off" });
  const held = await holdLibraries(layout, engine);
  const scripted = await (options.recovery === undefined
    ? prepareWalArchive({ layout, identity, log }, options.walArchive)
    : prepareRecovery({ layout, identity }, options.recovery));
  return {
    layout,
    engine,
    identity,
    log,
    by: options.by ?? "server",
    settings: { ...held, ...scripted.settings, ...settings },
    environment: scripted.environment,
    signal,
  };
}

async function ensureDatabase({ client }: Ownership): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [database]);
  if (rowCount === 0) await client.query(`CREATE DATABASE ${database}`);
}

/** Says whether the managed PostgreSQL is being stopped, which may have begun since it was asked last. */
function isStopping({ signal }: PostmasterRequest): boolean {
  return signal.aborted;
}

/** Brings PostgreSQL back whenever it dies. Ends with the last PostgreSQL owned, `undefined` when it was lost for good. */
async function keepRunning(
  request: PostmasterRequest,
  first: OwnedPostgres,
  options: ManagedPostgresOptions,
): Promise<OwnedPostgres | undefined> {
  const aborted = new Promise<void>((done) =>
    request.signal.addEventListener("abort", () => done(), { once: true }),
  );
  const delays = options.restartDelays ?? defaultRestartDelays;
  let owned = first;
  let attempts = 0;
  for (;;) {
    const began = Date.now();
    await Promise.race([owned.ownership.lost, aborted]);
    if (request.signal.aborted) return owned;
    if (Date.now() - began > healthyAfter) attempts = 0;
    request.log.error(
      { pid: owned.pid, log: request.layout.logFile },
      "PostgreSQL ended unexpectedly, restarting it",
    );
    const result = await regain(request, delays, attempts);
    if (result instanceof Error) {
      request.log.fatal({ err: result }, "PostgreSQL cannot be restarted");
      if (!isStopping(request)) options.onFatal?.(result);
      return undefined;
    }
    if (result === undefined) {
      await endLost(request);
      return undefined;
    }
    ({ owned, attempts } = result);
    request.log.warn({ pid: owned.pid, ms: Date.now() - began }, "PostgreSQL runs again");
    options.onRestart?.();
  }
}

interface Regained {
  readonly owned: OwnedPostgres;
  readonly attempts: number;
}

/** How long a server waits before it looks again whether a command has ended, in milliseconds. */
const commandPause = 250;

/** Takes the ownership, after commands that began to work with the data directory while nothing ran on it. @throws what `takeOwnership` does. */
async function takeOwnershipAfterCommands(request: PostmasterRequest): Promise<OwnedPostgres> {
  for (let isTold = false; ; isTold = true)
    try {
      return await takeOwnership(request);
    } catch (error) {
      if (!(error instanceof DataDirectoryInUseError) || !error.byCommand) throw error;
      if (!isTold) request.log.warn(error.message);
      await sleep(commandPause, undefined, { signal: request.signal });
    }
}

/** One attempt after the other; an error when all are used up, `undefined` when asked to stop meanwhile. */
async function regain(
  request: PostmasterRequest,
  delays: readonly number[],
  used: number,
): Promise<Regained | Error | undefined> {
  let last: unknown = new ManagedPostgresError(
    `The PostgreSQL of the data directory ${request.layout.dataDir} died ${used} times in short succession. ` +
      `See ${request.layout.logFile}.`,
  );
  for (let attempt = used; attempt < delays.length; attempt += 1)
    try {
      await sleep(delays[attempt] ?? 0, undefined, { signal: request.signal });
      return { owned: await takeOwnershipAfterCommands(request), attempts: attempt + 1 };
    } catch (error) {
      if (request.signal.aborted) return undefined;
      last = error;
      if (error instanceof DataDirectoryInUseError) break;
      request.log.error({ err: error, attempt: attempt + 1 }, "PostgreSQL did not restart");
    }

  return last instanceof Error ? last : new ManagedPostgresError(messageOf(last));
}
