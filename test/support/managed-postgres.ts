import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "pg";
import { onTestFinished, vi } from "vitest";
import { startManagedPostgres } from "../../src/db/managed/index.ts";
import type {
  ManagedConnection,
  ManagedPostgres,
  ManagedPostgresOptions,
} from "../../src/db/managed/index.ts";
import { isAlive } from "../../src/db/managed/process-state.ts";
import { silentLog } from "../../src/lib/log.ts";
import { bundled, madeOnce } from "./program.ts";

/** True when the tests run as root, where PostgreSQL has to run as somebody else. */
export const isRoot = process.getuid?.() === 0;

/** A directory under the temporary directory that PostgreSQL's user can pass; removed after the test. */
export async function scratchDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "waybill-test-")));
  await chmod(path, 0o711);
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

/** A data directory that does not exist yet. Whatever PostgreSQL still runs in it after the test is killed. */
export async function scratchDataDir(...below: string[]): Promise<string> {
  const dataDir = join(await scratchDirectory(), ...below, "data");
  onTestFinished(async () => {
    const pid = await postmasterPid(dataDir).catch(() => undefined);
    if (pid !== undefined && (await isAlive(pid))) process.kill(pid, "SIGKILL");
  });
  return dataDir;
}

// Creating a database takes a second or two on a busy machine, and some tests do it more than once.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

/** A data directory whose database exists already: a copy, since creating it anew is by far the slowest part. */
export async function usedDataDir(): Promise<string> {
  const [source, dataDir] = [await emptyDatabase(), await scratchDataDir()];
  await promisify(execFile)("cp", ["-a", source, dataDir]);
  return dataDir;
}

/** Finds a data directory with an empty database; made by who asks for it first in a run, and there for all. */
function emptyDatabase(): Promise<string> {
  return madeOnce("empty-database", async (folder) => {
    const managed = await startManagedPostgres({
      dataDir: folder,
      log: silentLog,
      settings: { fsync: "off" },
    });
    await managed.stop();
  });
}

/** Starts without flushing to disk, and stops after the test. */
export async function start(
  dataDir: string,
  options: Partial<ManagedPostgresOptions> = {},
): Promise<ManagedPostgres> {
  const managed = await startManagedPostgres({
    dataDir,
    log: silentLog,
    settings: { fsync: "off" },
    ...options,
  });
  onTestFinished(() => managed.stop());
  return managed;
}

/** Runs one statement on a connection of its own. */
export async function query<Row extends object>(connection: ManagedConnection, text: string): Promise<Row[]> {
  const client = new Client(connection);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A server in a process of its own, and the first line it prints: "ready" or the error. */
export async function startInChild(
  dataDir: string,
): Promise<{ child: ChildProcess; pid: number; said: string }> {
  const program = bundled({ file: "test/support/managed-postgres-child.ts" });
  const child = spawn(process.execPath, [program, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, pid: child.pid ?? Number.NaN, said };
}

/** Kills as kill -9 does and waits for the end. */
export async function killHard(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** The process id in postmaster.pid. */
export async function postmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8"), 10);
}
