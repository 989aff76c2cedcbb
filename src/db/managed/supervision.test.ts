import { rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, test } from "vitest";
import { postmasterPid, query, start, usedDataDir } from "../../../test/support/managed-postgres.ts";
import { silentLog } from "../../lib/log.ts";
import { isAlive, postgresProcessesOf } from "./process-state.ts";

interface Signal {
  readonly happened: Promise<void>;
  readonly tell: () => void;
}

function signal(): Signal {
  let tell: () => void = () => {};
  const happened = new Promise<void>((done) => (tell = done));
  return { happened, tell: () => tell() };
}

test("a killed PostgreSQL is restarted and still owned, each time", async () => {
  const dataDir = await usedDataDir();
  let restarted = signal();
  const managed = await start(dataDir, { onRestart: () => restarted.tell() });
  await query(managed.connection, "CREATE TABLE kept AS SELECT 7 AS answer");
  for (let round = 0; round < 2; round += 1) {
    restarted = signal();
    const before = await postmasterPid(dataDir);
    process.kill(before, "SIGKILL");
    await restarted.happened;
    expect(await postmasterPid(dataDir)).not.toBe(before);
    expect(await query(managed.connection, "SELECT answer FROM kept")).toEqual([{ answer: 7 }]);
  }
  await expect(start(dataDir)).rejects.toThrow(`(process ${process.pid})`);
  const last = await postmasterPid(dataDir);
  await managed.stop();
  expect(await isAlive(last)).toBe(false);
});

test("a busy backend that survives the postmaster does not prevent the restart", async () => {
  const dataDir = await usedDataDir();
  const restarted = signal();
  const managed = await start(dataDir, { onRestart: restarted.tell });
  const busy = new Client(managed.connection);
  busy.on("error", () => {});
  await busy.connect();
  const { rows } = await busy.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const endless = busy.query("DO $$ BEGIN LOOP NULL; END LOOP; END $$").catch(() => "cut");
  process.kill(await postmasterPid(dataDir), "SIGKILL");
  await restarted.happened;
  expect(await endless).toBe("cut");
  expect(await isAlive(rows[0]?.pid ?? 0)).toBe(false);
  expect(await query(managed.connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("losing only the ownership's connection, PostgreSQL goes on and is owned again", async () => {
  const dataDir = await usedDataDir();
  const restarted = signal();
  const managed = await start(dataDir, { onRestart: restarted.tell });
  const pid = await postmasterPid(dataDir);
  await query(
    managed.connection,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'waybill-server%'",
  );
  await restarted.happened;
  expect(await postmasterPid(dataDir)).toBe(pid);
  await expect(start(dataDir)).rejects.toThrow("is in use by another Waybill server");
});

test("a command that was faster to start another PostgreSQL is waited for", async () => {
  const dataDir = await usedDataDir();
  const restarted = signal();
  let fatal: Error | undefined;
  const managed = await start(dataDir, {
    restartDelays: [1000],
    onRestart: restarted.tell,
    onFatal: (error) => (fatal = error),
  });
  process.kill(await postmasterPid(dataDir), "SIGKILL");
  const command = await start(dataDir, { by: "command" });
  await expect(start(dataDir)).rejects.toThrow(`by a Waybill command (process ${process.pid})`);
  // The server asks for it meanwhile, with half a second of patience.
  await sleep(2500);
  await command.stop();
  await restarted.happened;
  expect(fatal).toBeUndefined();
  expect(await query(managed.connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await expect(start(dataDir)).rejects.toThrow(`by another Waybill server (process ${process.pid})`);
});

// PostgreSQL 18 that is told to stop within the milliseconds in which its recovery ends stays as it is: then it takes until it is insisted, a minute.
test("stop ends a PostgreSQL that recovers of itself from a crash", { timeout: 120_000 }, async () => {
  const dataDir = await usedDataDir();
  const lost = signal();
  const log = { ...silentLog, error: () => lost.tell() };
  const managed = await start(dataDir, { log });
  const postmaster = await postmasterPid(dataDir);
  const backend = new Client(managed.connection);
  backend.on("error", () => {});
  await backend.connect();
  const { rows } = await backend.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  // One backend that dies takes all others with it, and the postmaster begins anew.
  process.kill(rows[0]!.pid, "SIGKILL");
  await lost.happened;
  await managed.stop();
  expect(await isAlive(postmaster)).toBe(false);
});

test("a PostgreSQL that cannot come back is reported once, with its last words", async () => {
  const dataDir = await usedDataDir();
  const failed = signal();
  const errors: Error[] = [];
  const managed = await start(dataDir, {
    restartDelays: [0, 50, 100],
    onFatal: (error) => {
      errors.push(error);
      failed.tell();
    },
  });
  const control = join(dataDir, "postgres", "global", "pg_control");
  await rename(control, `${control}.away`);
  process.kill(await postmasterPid(dataDir), "SIGKILL");
  await failed.happened;
  expect(errors).toHaveLength(1);
  expect(errors[0]?.message).toMatch(/does not start[^]*pg_control/);
  await managed.stop();
});

// Milliseconds after the kill: before it is noticed, while the next one comes up, and when it is there.
test.for([0, 5, 10, 15, 20, 30, 40, 60, 100])(
  "stop while PostgreSQL is being restarted ends both, after %i ms",
  async (pause) => {
    const dataDir = await usedDataDir();
    const managed = await start(dataDir);
    const pid = await postmasterPid(dataDir);
    process.kill(pid, "SIGKILL");
    await sleep(pause);
    await managed.stop();
    // The killed one and its backends take a moment to go; a postmaster that nobody stopped would stay.
    const processes = async () => [await isAlive(pid), await postgresProcessesOf(join(dataDir, "postgres"))];
    await expect.poll(processes, { timeout: 5000 }).toEqual([false, []]);
  },
);
