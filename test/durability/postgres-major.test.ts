import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { migrationsFolder } from "../../src/open-database.ts";
import { connect } from "../../src/db/connect.ts";
import { forgetOldClusters, startManagedPostgres } from "../../src/db/managed/index.ts";
import { migrate } from "../../src/db/migrate.ts";
import { migrateJobs } from "../../src/jobs/runner.ts";
import { silentLog } from "../../src/lib/log.ts";
import { madeOnce } from "../support/program.ts";
import { postmasterPid, spawnWaybill, startServer, withDataDir } from "../support/server-process.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { amount } from "../support/thorough.ts";

/** Where Debian and its kin put the programs of a major version. */
const old = process.env["WAYBILL_TEST_OLD_ENGINE"] ?? "/usr/lib/postgresql/15/bin";
const version = /PostgreSQL\) ((\d+)[\d.]*)/.exec(
  spawnSync(join(old, "postgres"), ["--version"], { encoding: "utf8" }).stdout ?? "",
);
const major = version?.[2] ?? "";
if (version === null)
  console.log(`Not tried: moving from another major version of PostgreSQL, for want of ${old}.`);

const users = 50;

/** Makes a data directory whose cluster an earlier major version made, with some users in it: a copy of what was made once. */
async function makeOldCluster(dataDir: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", await madeOnce("old-cluster", makeFirst), dataDir]);
}

async function makeFirst(dataDir: string): Promise<void> {
  const engine = { native: join(old, ".."), version: version?.[1] ?? "" };
  const managed = await startManagedPostgres({ dataDir, log: silentLog, engine, settings: { fsync: "off" } });
  const db = connect({ connection: managed.connection, max: 2 });
  await migrate(db.direct, migrationsFolder, { program: "0.1.0" });
  await migrateJobs(db.direct, silentLog);
  await db.direct.query(
    "insert into users (id, name, created_at) select gen_random_uuid(), 'user-' || n, now() from generate_series(1, $1::int) n",
    [users],
  );
  await db.close();
  await managed.stop();
}

const majorOf = async (dataDir: string, cluster = "postgres"): Promise<string> =>
  (await readFile(join(dataDir, cluster, "PG_VERSION"), "utf8")).trim();

/** Starts PostgreSQL as a version before would, and counts users. */
async function countUsers(dataDir: string, withOld: boolean): Promise<number> {
  const engine = withOld ? { engine: { native: join(old, ".."), version: version?.[1] ?? "" } } : {};
  const managed = await startManagedPostgres({ dataDir, log: silentLog, ...engine });
  const db = connect({ connection: managed.connection, max: 1 });
  const { rows } = await db.pool.query<{ n: number }>(
    "select count(*)::int as n from users where name like 'user-%'",
  );
  await db.close();
  await managed.stop();
  return rows[0]?.n ?? 0;
}

/** Asks what the next start would do. @returns the exit status. */
async function checkUpgrade(dataDir: string, more: Record<string, string>): Promise<unknown> {
  const child = spawnWaybill(["upgrade", "--check"], { ...more, WAYBILL_DATA_DIR: dataDir });
  return new Promise((done) => child.once("close", done));
}

const environment = { WAYBILL_OLD_ENGINE: old, WAYBILL_LOG_LEVEL: "info" };
const kills = Number(process.env["WAYBILL_TEST_MOVE_KILLS"] ?? amount(2, 4));

describe.skipIf(version === null)(
  "a cluster of an earlier major version of PostgreSQL",
  { timeout: 300_000 },
  () => {
    it("is never tried with another engine, and a sentence says what to do", async () => {
      await withDataDir(async (dataDir) => {
        await makeOldCluster(dataDir);
        const child = spawnWaybill(["serve"], { WAYBILL_DATA_DIR: dataDir, PORT: "0" });
        let said = "";
        child.stderr?.on("data", (piece: Buffer) => (said += piece.toString()));
        const code = await new Promise((done) => child.once("close", done));
        expect(code).toBe(1);
        expect(said).toContain(`was made by PostgreSQL ${major}`);
        expect(said).toContain("WAYBILL_OLD_ENGINE");
        expect(said).not.toContain(" at ");
        expect(await checkUpgrade(dataDir, {})).toBe(1);
        expect(await checkUpgrade(dataDir, environment)).toBe(3);
        expect(await countUsers(dataDir, true)).toBe(users);
      });
    });

    it("is copied to the present one at the start, and kept until it is forgotten", async () => {
      await withDataDir(async (dataDir) => {
        await makeOldCluster(dataDir);
        const server = await startServer(dataDir, environment);
        await server.stop();
        expect(server.output()).toMatch(/"minutes":\d+/);
        expect(server.output()).toContain("copied and compared");
        expect(await majorOf(dataDir)).not.toBe(major);
        expect(await majorOf(dataDir, `postgres-${major}`)).toBe(major);
        expect(existsSync(join(dataDir, "postgres-move"))).toBe(false);
        expect(await countUsers(dataDir, false)).toBe(users);

        const again = await startServer(dataDir, environment);
        await again.stop();
        expect(again.output()).not.toContain("Moving the database");

        const month = 30 * 86_400;
        expect(await forgetOldClusters(dataDir, month)).toEqual([]);
        const before = Date.now() / 1000 - month - 60;
        await utimes(join(dataDir, `postgres-${major}`, "waybill-replaced"), before, before);
        expect(await forgetOldClusters(dataDir, month)).toEqual([join(dataDir, `postgres-${major}`)]);
        expect(existsSync(join(dataDir, `postgres-${major}`))).toBe(false);
      });
    });

    it("is as it was, or wholly moved, whenever the server is killed", async () => {
      await withDataDir(async (dataDir) => {
        await makeOldCluster(dataDir);
        const seen = new Set<string>();
        for (let count = 0; count < kills && !seen.has("moved"); count += 1) {
          const child = spawnWaybill(["serve"], { ...environment, WAYBILL_DATA_DIR: dataDir, PORT: "0" });
          let said = "";
          for (const stream of [child.stdout, child.stderr])
            stream?.on("data", (piece: Buffer) => (said += piece.toString()));
          const ended = new Promise((done) => child.once("close", done));
          // From the moment the work begins, each time later.
          while (!said.includes("Moving the database") && child.exitCode === null) await delay(10);
          await delay((count / kills) * 9000 + Math.random() * 1000);
          child.kill("SIGKILL");
          await ended;
          const moved = (await majorOf(dataDir).catch(() => "between")) !== major;
          seen.add(moved ? "moved" : "not moved");
          // What the version before would find, while it is there.
          if (!moved && postmasterPid(dataDir) === undefined)
            expect(await countUsers(dataDir, true)).toBe(users);
        }
        expect([...seen]).toContain("not moved");
        const server = await startServer(dataDir, environment);
        await server.stop();
        expect(await majorOf(dataDir)).not.toBe(major);
        expect(await countUsers(dataDir, false)).toBe(users);
        expect(existsSync(join(dataDir, "postgres-move"))).toBe(false);
      });
    });

    it("is left alone where there is no room for a copy", async ({ skip }) => {
      const disk = mountSmallDisk(400) ?? skip("file systems cannot be mounted here");
      try {
        const dataDir = join(disk.path, "data");
        await makeOldCluster(dataDir);
        disk.fill(20_000_000);
        const child = spawnWaybill(["serve"], { ...environment, WAYBILL_DATA_DIR: dataDir, PORT: "0" });
        let said = "";
        child.stderr?.on("data", (piece: Buffer) => (said += piece.toString()));
        expect(await new Promise((done) => child.once("close", done))).toBe(1);
        expect(said).toMatch(/needs \d+ MB of room, and has \d+ MB/);
        disk.clear();
        expect(await majorOf(dataDir)).toBe(major);
        expect(await countUsers(dataDir, true)).toBe(users);
      } finally {
        disk.remove();
      }
    });
  },
);
