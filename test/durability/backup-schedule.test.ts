import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { packageRoot } from "../../src/config.ts";
import { findManagedPostgres } from "../../src/db/managed/index.ts";
import { withExternalDatabase } from "../support/cloned-database.ts";
import { builtProgram } from "../support/program.ts";
import { startS3Server } from "../support/s3-server.ts";
import {
  initialAdminKey,
  type ServerProcess,
  startServer,
  withUsedDataDir,
} from "../support/server-process.ts";
import { uniqueName } from "../support/unique-name.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-schedule-"));
  // PostgreSQL runs as another user when the tests are root's.
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Environment = Record<string, string>;

const credentials = { accessKey: "known", secretKey: "a secret", region: "us-east-1" };

/** Stands before a bucket, and lets no part of an upload through until it is opened. */
async function startGate(endpoint: string) {
  let isOpen = false;
  let held = 0;
  const server = createServer((asked, answer) => {
    if (!isOpen && asked.url?.includes("partNumber=") === true) {
      held += 1;
      return;
    }
    const { method, headers } = asked;
    const passed = request(`${endpoint}${asked.url}`, { method, headers, agent: false }, (got) => {
      answer.writeHead(got.statusCode!, got.headers);
      got.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many parts wait. */
    held: () => held,
    open: () => void (isOpen = true),
    end: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The real command line in a process of its own, which is killed when it says something that fits. */
async function waybill(
  args: string[],
  environment: Environment,
  killAt?: RegExp,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = [builtProgram(), ...args];
  const env = { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), TMPDIR: tmpdir(), ...environment };
  const child = spawn(process.execPath, command, { env, cwd: packageRoot });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => {
    stderr += piece.toString();
    if (killAt?.test(stderr) === true) child.kill("SIGKILL");
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

interface Known {
  runs: { kind: string; state: string; scheduled: boolean; problem: string | null; file: string }[];
}

async function known({ url }: ServerProcess, key: string): Promise<Known> {
  const answer = await fetch(`${url}/api/v2/instance/backups`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return (await answer.json()) as Known;
}

/** Has a job queued as the clock would. */
async function queue(dataDir: string, task: string): Promise<void> {
  const client = new pg.Client(await findManagedPostgres(dataDir));
  await client.connect();
  await client.query("select graphile_worker.add_job($1, max_attempts => 3, job_key => $1)", [task]);
  await client.end();
}

const waiting = { timeout: 90_000, interval: 250 };

// At the same time as drills: some of it is waiting until a server that was killed is missed.
describe.concurrent("a server that makes backups by itself", { timeout: 300_000 }, () => {
  it("makes them, restores them beside, tells of both, and goes on after it was killed", async ({
    expect,
  }) => {
    await withUsedDataDir(async (dataDir) => {
      const to = join(folder, "by-itself");
      const environment = {
        WAYBILL_BACKUP_TO: to,
        WAYBILL_BACKUP_KEEP: "7d",
        WAYBILL_METRICS_TOKEN: "m".repeat(20),
      };
      const server = await startServer(dataDir, environment);
      const key = initialAdminKey(dataDir);
      await queue(dataDir, "backup");
      await expect
        .poll(async () => (await known(server, key)).runs, waiting)
        .toMatchObject([{ kind: "backup", state: "succeeded", scheduled: true }]);
      await queue(dataDir, "restore_drill");
      await expect
        .poll(async () => (await known(server, key)).runs[0], waiting)
        .toMatchObject({ kind: "restore_drill", state: "succeeded", scheduled: true, problem: null });
      expect(existsSync(join(dataDir, "drill"))).toBe(false);
      const figures = await (
        await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${"m".repeat(20)}` } })
      ).text();
      expect(figures).toMatch(/^waybill_backup_last_success_timestamp_seconds \d{10}/m);
      expect(figures).toMatch(/^waybill_restore_drill_last_success_timestamp_seconds \d{10}/m);

      await queue(dataDir, "backup");
      await expect
        .poll(async () => (await known(server, key)).runs[0], { ...waiting, interval: 20 })
        .toMatchObject({ kind: "backup", state: "running" });
      await server.kill();
      const again = await startServer(dataDir, environment);
      await expect
        .poll(async () => (await known(again, key)).runs[0], waiting)
        .toMatchObject({ kind: "backup", state: "succeeded" });
      const { runs } = await known(again, key);
      expect(runs[1]?.state).toMatch(/failed|interrupted|succeeded/);
      await again.stop();
      for (const name of readdirSync(to)) expect(name).toMatch(/\.tar$/);
    });
  });
});

describe.concurrent("a drill", { timeout: 300_000 }, () => {
  it("leaves nothing, nor what an earlier one left that was killed, with a database of its own", async ({
    expect,
  }) => {
    await withUsedDataDir(async (dataDir) => {
      const environment = { WAYBILL_DATA_DIR: dataDir, WAYBILL_BACKUP_TO: join(folder, "own") };
      const server = await startServer(dataDir, environment);
      const none = await waybill(["restore", "drill"], environment);
      expect([none.code, none.stderr]).toEqual([2, `There is no ${join(folder, "own")}\n`]);
      expect((await waybill(["backup"], environment)).code).toBe(0);
      const killed = await waybill(["restore", "drill"], environment, /drill: making indexes/);
      expect(killed.code).toBe(null);
      expect(existsSync(join(dataDir, "drill", "postgres"))).toBe(true);
      const whole = await waybill(["restore", "drill", "--json"], environment);
      expect(whole.code).toBe(0);
      expect(JSON.parse(whole.stdout)).toMatchObject({ warnings: [], evidence_files: 0 });
      expect(existsSync(join(dataDir, "drill"))).toBe(false);
      const states = (await known(server, initialAdminKey(dataDir))).runs.map(({ state }) => state);
      expect(states).toEqual(["succeeded", "interrupted", "succeeded"]);
      await server.stop();
    });
  });

  it("uses a database beside an external one where it may, and a cluster of its own where it may not", async ({
    expect,
  }) => {
    await withExternalDatabase(async (DATABASE_URL, dataDir) => {
      const role = uniqueName("drilled").replaceAll("-", "_");
      const owner = new pg.Client(DATABASE_URL);
      await owner.connect();
      const { rows } = await owner.query<{ name: string }>(
        "select 'waybill_drill_' || oid as name from pg_database where datname = current_database()",
      );
      const beside = async (): Promise<number | null> =>
        (await owner.query("select from pg_database where datname = $1", [rows[0]?.name])).rowCount;
      const environment = {
        DATABASE_URL,
        WAYBILL_DATA_DIR: dataDir,
        WAYBILL_BACKUP_TO: join(folder, "external"),
      };
      try {
        expect((await waybill(["backup"], environment)).code).toBe(0);
        const killed = await waybill(["restore", "drill"], environment, /drill: making indexes/);
        expect([killed.code, await beside()]).toEqual([null, 1]);
        const drilled = await waybill(["restore", "drill"], environment);
        expect([drilled.code, await beside()]).toEqual([3, 0]);
        expect(drilled.stderr).toContain("No answers were compared");
        expect(existsSync(join(dataDir, "drill"))).toBe(false);

        await owner.query(`create role ${role} login`);
        await owner.query(`grant all on schema public, graphile_worker to ${role}`);
        await owner.query(`grant all on all tables in schema public, graphile_worker to ${role}`);
        const url = new URL(environment.DATABASE_URL);
        url.username = role;
        const limited = await waybill(["restore", "drill"], { ...environment, DATABASE_URL: url.href });
        expect([limited.code, limited.stderr.split("\n").at(-2)]).toEqual([
          3,
          "No answers were compared: the backup is of no organization that is here",
        ]);
        expect(existsSync(join(dataDir, "drill"))).toBe(false);
      } finally {
        await owner.query(`drop owned by ${role}`).catch(() => {});
        await owner.query(`drop role if exists ${role}`);
        await owner.end();
      }
    });
  });
});

describe("a server that cannot make them now", { timeout: 300_000 }, () => {
  it("ends within seconds while some are made, which are made up for then", async () => {
    const bucket = await startS3Server(credentials);
    const gate = await startGate(bucket.endpoint);
    try {
      await withUsedDataDir(async (dataDir) => {
        const environment = {
          WAYBILL_BACKUP_TO: `s3://${bucket.bucket}/nightly`,
          WAYBILL_WAL_TO: `s3://${bucket.bucket}/wal`,
          WAYBILL_BACKUP_S3_ENDPOINT: gate.url,
          WAYBILL_BACKUP_S3_ACCESS_KEY: credentials.accessKey,
          WAYBILL_BACKUP_S3_SECRET_KEY: credentials.secretKey,
          WAYBILL_BACKUP_DRILL_AT: "off",
        };
        const server = await startServer(dataDir, environment);
        const key = initialAdminKey(dataDir);
        for (const task of ["backup", "make_physical_backup"]) await queue(dataDir, task);
        // Each waits for the first part of its upload.
        await expect.poll(() => gate.held(), waiting).toBe(2);
        const begun = performance.now();
        expect(await server.stop()).toBe(0);
        expect(performance.now() - begun).toBeLessThan(12_000);
        expect(server.output()).toContain("given up, because the server stops, and queued again");
        expect(server.output()).toContain("A physical backup was given up");
        expect(await bucket.uploads()).toEqual([]);

        gate.open();
        const again = await startServer(dataDir, environment);
        await expect
          .poll(async () => (await known(again, key)).runs[0], waiting)
          .toMatchObject({ kind: "backup", state: "succeeded", scheduled: true });
        const jobs = await waybill(["admin", "jobs", "list"], { WAYBILL_DATA_DIR: dataDir });
        expect(jobs.stdout).not.toContain("backup");
        await queue(dataDir, "make_physical_backup");
        const bases = async (): Promise<string[]> =>
          (await bucket.keys()).filter((name) => /^wal\/.*\/base\/.*\.tar$/.test(name));
        await expect.poll(bases, waiting).toHaveLength(1);
        expect(await again.stop()).toBe(0);
      });
    } finally {
      await gate.end();
      await bucket.stop();
    }
  });

  it("says why it cannot", async () => {
    await withUsedDataDir(async (dataDir) => {
      const to = join(folder, "no-folder");
      await writeFile(to, "a file");
      const server = await startServer(dataDir, { WAYBILL_BACKUP_TO: to });
      await queue(dataDir, "backup");
      await expect.poll(() => server.output(), waiting).toContain("EEXIST");
      await server.stop();
    });
  });
});
