import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { builtProgram, bundled, madeOnce } from "./program.ts";

const root = join(import.meta.dirname, "..", "..");

/** A real server in a process of its own. */
export interface ServerProcess {
  url: string;
  pid: number;
  /** What it printed so far. It writes lines of its log a moment after what they tell of: all of them are there once it has stopped. */
  output(): string;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Asks it to stop and answers its exit status. */
  stop(): Promise<number | null>;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Servers that were started and have not ended, by data directory. */
const running = new Map<string, Set<ChildProcess>>();

/** Ends what a failed test left running. */
async function endAll(dataDir: string): Promise<void> {
  for (const child of running.get(dataDir) ?? []) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  running.delete(dataDir);
  const postgres = postmasterPid(dataDir);
  if (postgres === undefined || !isPostgresOf(dataDir, postgres)) return;
  process.kill(postgres, "SIGQUIT");
  while (isPostgresOf(dataDir, postgres)) await delay(25);
}

/** Whether a process is the PostgreSQL of a data directory: the note of one that was killed stays behind. */
function isPostgresOf(dataDir: string, pid: number): boolean {
  const command = spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  return command.stdout.includes(dataDir);
}

/**
 * A data directory that PostgreSQL's user can reach, for the time of `work`. Servers on it and their PostgreSQL end with
 * it, whether `work` stopped them or failed before.
 */
export async function withDataDir<T>(work: (dataDir: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-server-"));
  chmodSync(folder, 0o755);
  const dataDir = join(folder, "data");
  try {
    return await work(dataDir);
  } finally {
    await endAll(dataDir);
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A data directory as `withDataDir` has it, which a server has started on before: a copy, since a first start, which makes the
 * database, takes longer than all others.
 */
export async function withUsedDataDir<T>(work: (dataDir: string) => Promise<T>): Promise<T> {
  const source = await usedDataDir();
  return withDataDir(async (dataDir) => {
    await promisify(execFile)("cp", ["-a", source, dataDir]);
    return work(dataDir);
  });
}

/** Finds what a server has left that has started and ended; made by who asks for it first in a run, and there for all. */
function usedDataDir(): Promise<string> {
  return madeOnce("data", (own) =>
    withDataDir(async (dataDir) => {
      const server = await startServer(dataDir);
      const status = await server.stop();
      if (status !== 0) throw new Error(server.output());
      renameSync(dataDir, own);
    }),
  );
}

/** How a program is run. */
export interface Run {
  /** What is run instead of `waybill`, relative to the package or absolute: sources, which are put into one file, or a built one, which runs as it is. */
  program?: string;
  /** Files and connections it may have open. */
  openFiles?: number;
}

/** Runs `waybill` with these arguments, as it is shipped; or another program. */
export function spawnWaybill(
  args: string[],
  environment: Record<string, string>,
  { program = builtProgram(), openFiles }: Run = {},
): ChildProcess {
  const file = program.endsWith(".ts") ? bundled({ file: program }, true) : resolve(root, program);
  const command = [process.execPath, file, ...args];
  const limited = openFiles === undefined ? [] : ["sh", "-c", `ulimit -n ${openFiles}; exec "$0" "$@"`];
  const [first, ...rest] = [...limited, ...command];
  return spawn(first!, rest, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function waitUntilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the server ended: ${output()}`);
    const ready = await fetch(`${url}/ready`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    await delay(25);
  }
  throw new Error(`the server was not ready in time: ${output()}`);
}

/** Starts a server, or another program that is one, on a free port unless `PORT` names one, and waits until it is ready. */
export async function startServer(
  dataDir: string,
  environment: Record<string, string> = {},
  run: Run = {},
): Promise<ServerProcess> {
  const port = Number(environment["PORT"] ?? (await freePort()));
  const settings = { PORT: String(port), WAYBILL_DATA_DIR: dataDir, ...environment };
  const child = spawnWaybill(["serve"], settings, run);
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  const output = (): string => chunks.join("");
  const ended = once(child, "exit");
  const closed = once(child, "close");
  const siblings = running.get(dataDir) ?? new Set();
  running.set(dataDir, siblings.add(child));
  child.once("exit", () => siblings.delete(child));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url, child, output);
  return {
    url,
    pid: child.pid!,
    output,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    stop: async () => {
      child.kill("SIGTERM");
      await closed;
      return child.exitCode;
    },
  };
}

/** The process id of the managed PostgreSQL's first process; undefined when none is noted. */
export function postmasterPid(dataDir: string): number | undefined {
  try {
    const [line] = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n", 1);
    return Number(line) || undefined;
  } catch {
    return undefined;
  }
}

/** The key that the first start left in the data directory. */
export function initialAdminKey(dataDir: string): string {
  return readFileSync(join(dataDir, "initial-admin-key"), "utf8").trim();
}
