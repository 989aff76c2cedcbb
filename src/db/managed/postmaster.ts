import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { open, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../lib/log.ts";
import { explainSpawnFailure, majorOf } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { explained, ManagedPostgresError } from "./errors.ts";
import { spawnOptions } from "./identity.ts";
import type { Identity } from "./identity.ts";
import type { Layout } from "./layout.ts";
import type { Claimant } from "./ownership.ts";
import { clearStaleLocks, findPostmaster, readPostmasterFile } from "./postmaster-file.ts";
import { isAlive, isPostgresOf, killLeftoverBackends, sendSignal } from "./process-state.ts";
import { postmasterArguments } from "./settings.ts";
import { prepareSocketDirectory } from "./socket.ts";

/** What it takes to run a postmaster. */
export interface PostmasterRequest {
  readonly layout: Layout;
  readonly engine: Engine;
  readonly identity: Identity;
  readonly log: Logger;
  /** On whose behalf. */
  readonly by: Claimant;
  readonly settings: Readonly<Record<string, string>>;
  /** For the scripts that PostgreSQL runs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Aborted when the server wants to stop: waiting then ends with an exception. */
  readonly signal: AbortSignal;
}

const poll = 5;
const logLimit = 10 * 1024 * 1024;
const leftoverPatience = 1000;
const leftoverLimit = 30_000;

/** Tells of long recoveries this often, in milliseconds. */
const progressInterval = 10_000;

/**
 * Starts the postmaster in a process group of its own and waits until it accepts connections, however long recovery takes.
 * @returns its process id, or `undefined` when another server was faster and runs it now.
 * @throws ManagedPostgresError with the end of PostgreSQL's own log when it gives up.
 */
export async function launch(request: PostmasterRequest): Promise<number | undefined> {
  const began = Date.now();
  await clearStaleLocks(request.layout, request.log);
  for (let leftoversTold = false; ;) {
    const outcome = await launchOnce(request);
    if (typeof outcome === "number") return outcome;
    if (/lock file ".*" already exists|lock file ".*" is empty/.test(outcome)) return undefined;
    const waited = Date.now() - began;
    if (!outcome.includes("pre-existing shared memory block") || waited > leftoverLimit)
      throw gaveUp(request, outcome);
    if (!leftoversTold) request.log.warn("Waiting for the backends of a killed PostgreSQL to end");
    leftoversTold = true;
    if (waited > leftoverPatience) await killLeftoverBackends(request.layout.cluster);
    await sleep(100, undefined, { signal: request.signal });
  }
}

function gaveUp(request: PostmasterRequest, output: string): ManagedPostgresError {
  const hint = output.includes("No space left on device") ? "There is no space left on the disk.\n" : "";
  return new ManagedPostgresError(
    `PostgreSQL for the data directory ${request.layout.dataDir} does not start. ${hint}Its last words ` +
      `(more in ${request.layout.logFile}):\n${output}`,
  );
}

async function launchOnce(request: PostmasterRequest): Promise<number | string> {
  const { layout, identity, settings } = request;
  const socketDirectory = await prepareSocketDirectory(layout, identity);
  const output = await openLog(layout);
  try {
    const from = (await output.stat()).size;
    const args = [
      "-D",
      layout.cluster,
      ...postmasterArguments(settings, socketDirectory, Number(majorOf(request.engine))),
    ];
    const child = await spawnPostmaster(request, args, output);
    if (await becomesReady(request, child)) return child.pid ?? Number.NaN;
    return await readFrom(output, from);
  } finally {
    await output.close();
  }
}

async function spawnPostmaster(
  request: PostmasterRequest,
  args: string[],
  output: FileHandle,
): Promise<ChildProcess> {
  const program = join(request.engine.native, "bin", "postgres");
  try {
    const options = spawnOptions(request.identity);
    const child = spawn(program, args, {
      ...options,
      env: { ...options.env, ...request.environment },
      // Not in our group: Ctrl-C must not end PostgreSQL before the server has finished its requests.
      detached: true,
      // Files, not pipes: PostgreSQL outlives a killed server.
      stdio: ["ignore", output.fd, output.fd],
    });
    await once(child, "spawn");
    child.unref();
    return child;
  } catch (error) {
    throw explainSpawnFailure(program, error);
  }
}

async function becomesReady(request: PostmasterRequest, child: ChildProcess): Promise<boolean> {
  const told = progressTeller(request.log);
  while (child.exitCode === null && child.signalCode === null) {
    const seen = await readPostmasterFile(request.layout);
    if (seen?.pid === child.pid && seen?.status === "ready") return true;
    told();
    try {
      await sleep(poll, undefined, { signal: request.signal });
    } catch (error) {
      await terminateChild(child, request.log);
      throw error;
    }
  }
  return false;
}

/**
 * Waits until a postmaster somebody else started accepts connections.
 * @returns false when it has ended instead.
 */
export async function waitUntilReady(request: PostmasterRequest, pid: number): Promise<boolean> {
  const told = progressTeller(request.log);
  for (;;) {
    const seen = await findPostmaster(request.layout);
    if (seen?.pid !== pid) return false;
    if (seen.status === "ready") return true;
    told();
    await sleep(poll, undefined, { signal: request.signal });
  }
}

function progressTeller(log: Logger): () => void {
  const began = Date.now();
  let next = progressInterval;
  return () => {
    const waited = Date.now() - began;
    if (waited < next) return;
    next += progressInterval;
    log.warn(
      { seconds: Math.round(waited / 1000) },
      "Still waiting for PostgreSQL to recover or to shut down",
    );
  };
}

async function openLog(layout: Layout): Promise<FileHandle> {
  return explained(`write ${layout.logFile}`, async () => {
    const size = await stat(layout.logFile).then(
      (entry) => entry.size,
      () => 0,
    );
    const handle = await open(layout.logFile, "a+", 0o600);
    if (size > logLimit) await handle.truncate();
    return handle;
  });
}

/** What was logged since `from`, at most the last 4 KB of it. */
async function readFrom(output: FileHandle, from: number): Promise<string> {
  const { size } = await output.stat();
  const start = Math.max(from, size - 4096);
  const { buffer, bytesRead } = await output.read(
    Buffer.alloc(Math.max(size - start, 0)),
    0,
    size - start,
    start,
  );
  return buffer.toString("utf8", 0, bytesRead).trim();
}

/** How long each signal may take: finish with a checkpoint, then at once (recovery follows), then without asking. */
const escalation: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGINT", 60_000],
  ["SIGQUIT", 5000],
  ["SIGKILL", 5000],
];

/**
 * Ends a postmaster and waits until it is gone.
 * @param layout guards against signalling a process that merely inherited the process id.
 */
export async function terminate(pid: number, layout: Layout, log: Logger): Promise<void> {
  await insist(pid, () => isPostgresOf(pid, layout.cluster), log);
}

/** Ends one that we started, which has perhaps not even entered its directory, by which others are known, yet. */
async function terminateChild(child: ChildProcess, log: Logger): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  await insist(pid, async () => child.exitCode === null && child.signalCode === null, log);
}

async function insist(pid: number, isStillOurs: () => Promise<boolean>, log: Logger): Promise<void> {
  for (const [signal, limit] of escalation) {
    if (!(await isStillOurs())) return;
    if (signal !== "SIGINT") log.warn({ pid, signal }, "PostgreSQL does not stop, insisting");
    sendSignal(pid, signal);
    const end = Date.now() + limit;
    while (Date.now() < end) {
      if (!(await isAlive(pid))) return;
      await sleep(poll);
    }
  }
}
