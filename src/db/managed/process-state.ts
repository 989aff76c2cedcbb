import { execFile } from "node:child_process";
import { readFile, readdir, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { codeOf } from "./errors.ts";

const run = promisify(execFile);

/** Says whether a process with this id runs; one that only waits to be reaped does not count. */
export async function isAlive(pid: number): Promise<boolean> {
  if (!isSignallable(pid)) return false;
  if (process.platform !== "linux") return true;
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // "pid (name) state …", and the name may contain anything.
  return status === undefined ? isSignallable(pid) : !/^[ZX]/.test(status.slice(status.lastIndexOf(")") + 2));
}

/** Says whether the process id is taken at all, be it by a zombie or by somebody else's process. */
export function isSignallable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Says whether the process is a PostgreSQL process working on this very cluster, not a recycled process id. */
export async function isPostgresOf(pid: number, cluster: string): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  return process.platform === "linux" ? isPostgresByProc(pid, cluster) : isPostgresByPs(pid, cluster);
}

/**
 * Every PostgreSQL process has the cluster as its working directory. A killed one loses it some moments before it is
 * gone: whoever waits for its end must not take that for another's.
 */
async function isPostgresByProc(pid: number, cluster: string): Promise<boolean> {
  try {
    const [name, cwd, own] = await Promise.all([
      readFile(`/proc/${pid}/comm`, "utf8"),
      stat(`/proc/${pid}/cwd`).catch(lostDirectory),
      stat(cluster),
    ]);
    if (name.trim() !== "postgres") return false;
    return cwd === undefined ? await isAlive(pid) : cwd.ino === own.ino && cwd.dev === own.dev;
  } catch {
    return false;
  }
}

function lostDirectory(error: unknown): undefined {
  if (codeOf(error) !== "ENOENT") throw error;
}

async function isPostgresByPs(pid: number, cluster: string): Promise<boolean> {
  try {
    const { stdout } = await run("ps", ["-ww", "-o", "command=", "-p", String(pid)]);
    return stdout.includes("postgres") && stdout.includes(`-D ${cluster} `);
  } catch {
    return false;
  }
}

/** Lists the process ids of all PostgreSQL processes working on the cluster; none where /proc does not exist. */
export async function postgresProcessesOf(cluster: string): Promise<number[]> {
  const entries = await readdir("/proc").catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const ours = await Promise.all(pids.map((pid) => isPostgresOf(pid, cluster)));
  return pids.filter((_, index) => ours[index]);
}

/**
 * Ends the backends that a killed postmaster left behind: until they are gone no new one can start. They have nothing
 * to lose, since recovery discards their work in any case. Only possible where /proc exists; elsewhere we can but wait.
 */
export async function killLeftoverBackends(cluster: string): Promise<void> {
  for (const pid of await postgresProcessesOf(cluster)) sendSignal(pid, "SIGQUIT");
}

/** Sends a signal; a process that is already gone is fine. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
