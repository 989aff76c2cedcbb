import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, open, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = new URL("..", import.meta.url).pathname;

/** Processes that were started and have not ended, so that none outlives the benchmark. */
const running = new Set<ChildProcess>();

/** Finds a port of the loopback interface that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port to listen on");
  return address.port;
}

interface Start {
  args: string[];
  env?: Record<string, string>;
  stdout?: "pipe" | FileHandle;
}

/** Starts another Node, which gets PATH and locale of our environment and nothing else. */
export function startNode({ args, env = {}, stdout = "pipe" }: Start): ChildProcess {
  const { PATH = "", LANG = "C", TMPDIR } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH, LANG, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...env },
    stdio: ["ignore", stdout === "pipe" ? "pipe" : stdout.fd, "inherit", "ipc"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** Asks a process to end, and kills it after 30 seconds. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  await ended;
  clearTimeout(timer);
}

/** Ends everything that was started. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stopProcess));
}

/** A running server, as users run it: its own PostgreSQL, default settings. */
export interface Server {
  url: string;
  dataDir: string;
  pid: number;
  /** From starting the process to the first 200 of /ready, in milliseconds. */
  startMs: number;
  /** Key of the administrator made at the first start. */
  key: string;
  child: ChildProcess;
  /** Resolves when the process has ended, however that came about. */
  ended: Promise<unknown>;
  /** Kills the process (`kill -9`); resolves when it is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Options of a server's start. */
export interface ServerStart {
  env?: Record<string, string>;
  /** The program to run, when it is not the one built in this folder: built elsewhere, or its source. */
  program?: string;
  /** How long to wait until it is ready, in milliseconds. */
  patience?: number;
}

async function becomesReady(url: string, child: ChildProcess, patience: number): Promise<void> {
  const deadline = performance.now() + patience;
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`The server ended with ${child.signalCode ?? `status ${child.exitCode}`}`);
    const response = await fetch(`${url}/ready`).catch(() => undefined);
    if (response?.status === 200) return;
    await sleep(5);
  }
  throw new Error("The server did not become ready");
}

/** Gives the path of a server's log, by its data directory. */
function logOf(dataDir: string): string {
  return join(dataDir, "bench-server.log");
}

/** Starts `waybill serve` on a data directory, without waiting; its log goes to a file there. */
export async function launchServer(
  dataDir: string,
  { env = {}, program = "dist/main.js" }: ServerStart = {},
): Promise<{ child: ChildProcess; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = await open(logOf(dataDir), "a");
  const child = startNode({
    args: [...(program.endsWith(".ts") ? ["--import", "tsx"] : []), program, "serve"],
    env: { PORT: String(port), WAYBILL_DATA_DIR: dataDir, WAYBILL_PUBLIC_URL: url, ...env },
    stdout: log,
  });
  // The child has its own descriptor by now.
  await log.close();
  return { child, url };
}

/** Starts the server on a data directory and waits until it is ready. */
export async function startServer(dataDir: string, start: ServerStart = {}): Promise<Server> {
  const begun = performance.now();
  const { child, url } = await launchServer(dataDir, start);
  const ended = once(child, "exit");
  await becomesReady(url, child, start.patience ?? 120_000);
  const startMs = performance.now() - begun;
  const key = (await readFile(join(dataDir, "initial-admin-key"), "utf8").catch(() => "")).trim();
  return {
    url,
    dataDir,
    pid: child.pid ?? 0,
    startMs,
    key,
    child,
    ended,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    stop: () => stopProcess(child),
  };
}

async function field(file: string, name: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const value = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** Memory in megabytes; undefined where the system does not tell. */
export interface Memory {
  node: number | undefined;
  postgres: number | undefined;
}

/** Reads the id of PostgreSQL's first process from a data directory; undefined when there is none. */
export async function postmasterOf(dataDir: string): Promise<number | undefined> {
  const file = await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8").catch(() => "");
  const postmaster = Number.parseInt(file, 10);
  return Number.isFinite(postmaster) ? postmaster : undefined;
}

/** Lists PostgreSQL's first process and all its children. */
async function postgresPids(dataDir: string): Promise<number[]> {
  const postmaster = await postmasterOf(dataDir);
  if (postmaster === undefined) return [];
  const entries = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(entries.map((pid) => field(`/proc/${pid}/status`, "PPid")));
  return [postmaster, ...entries.map(Number).filter((_pid, index) => parents[index] === postmaster)];
}

/** Ticks per second in which every Linux counts processor time. */
const ticks = 100;

/** Reads the processor time of a process and of its children that have ended: connections come and go. */
async function cpuSecondsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name in parentheses may contain anything; these are the 12th to 15th field after it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  return ((user ?? 0) + (system ?? 0) + (childrenUser ?? 0) + (childrenSystem ?? 0)) / ticks;
}

/** Processor time used so far, in seconds; zero where the system does not tell. */
export interface Cpu {
  node: number;
  postgres: number;
}

/** Reads the processor time of a bare server's process. */
export async function cpuOfNode(pid: number): Promise<Cpu> {
  return { node: await cpuSecondsOf(pid), postgres: 0 };
}

/** Reads the processor time of all processes of the PostgreSQL of a data directory, in seconds. */
export async function cpuOfPostgres(dataDir: string): Promise<number> {
  const pids = await postgresPids(dataDir);
  const seconds = await Promise.all(pids.map(cpuSecondsOf));
  return seconds.reduce((sum, one) => sum + one, 0);
}

/** Reads the processor time of the server's process and of all of PostgreSQL's. */
export async function cpuOfServer(server: Server): Promise<Cpu> {
  return { node: await cpuSecondsOf(server.pid), postgres: await cpuOfPostgres(server.dataDir) };
}

/** Reads the resident memory of the server's process, and the proportional share of all of PostgreSQL's. */
export async function memoryOf(server: Server): Promise<Memory> {
  const rss = await field(`/proc/${server.pid}/status`, "VmRSS");
  const pids = await postgresPids(server.dataDir);
  const shares = await Promise.all(pids.map((pid) => field(`/proc/${pid}/smaps_rollup`, "Pss")));
  const known = shares.filter((share) => share !== undefined);
  return {
    node: rss === undefined ? undefined : rss / 1024,
    postgres: known.length === 0 ? undefined : known.reduce((sum, share) => sum + share, 0) / 1024,
  };
}
