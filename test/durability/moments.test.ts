import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { packageRoot } from "../../src/config.ts";
import {
  findManagedPostgres,
  findWalArchive,
  startManagedPostgres,
  type WalArchive,
} from "../../src/db/managed/index.ts";
import { silentLog } from "../../src/lib/log.ts";
import { query } from "../support/managed-postgres.ts";
import { builtProgram } from "../support/program.ts";
import {
  initialAdminKey,
  postmasterPid,
  type ServerProcess,
  spawnWaybill,
  startServer,
  withUsedDataDir,
} from "../support/server-process.ts";
import { until } from "../support/site.ts";

const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-moments-"));
  // PostgreSQL runs as another user when the tests are root's.
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

/** The real command line in a process of its own. */
async function waybill(args: string[], environment: Record<string, string>): Promise<Outcome> {
  const command = [builtProgram(), ...args];
  const env = { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...environment };
  return run(process.execPath, command, { env, cwd: packageRoot }).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({ ...error, status: error.code }),
  );
}

interface Load {
  /** How many attestations were acknowledged. */
  acknowledged: number;
  /** Has it end, after what is under way. */
  stop(): Promise<void>;
}

/** Reports until told to stop: an environment, and an attestation with a file. */
function load(server: ServerProcess, key: string): Load {
  const stopping = new AbortController();
  const reporting: Load = {
    acknowledged: 0,
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
  const ended = report(server, key, reporting, stopping.signal);
  return reporting;
}

async function report(server: ServerProcess, key: string, into: Load, stop: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (let number = 0; !stop.aborted; number += 1) {
    const name = `e-${number}`;
    await fetch(`${server.url}/api/v2/environments/main`, {
      method: "PUT",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ name, type: "server", description: "" }),
    }).catch(() => {});
    const form = new FormData();
    form.set("data_json", JSON.stringify({ attestation_name: name, is_compliant: true, user_data: {} }));
    form.set("attachment_file", new Blob([`evidence ${number}`]), "evidence.txt");
    const sent = await fetch(`${server.url}/api/v2/attestations/main/web/trail/t/generic`, {
      method: "POST",
      headers,
      body: form,
    }).catch(() => undefined);
    if (sent?.ok === true) into.acknowledged += 1;
    await delay(50);
  }
}

/** Has PostgreSQL archive what it has written so far. */
async function archiveNow(dataDir: string, { wal }: WalArchive): Promise<void> {
  const connection = (await findManagedPostgres(dataDir))!;
  const [row] = await query<{ name: string }>(
    connection,
    "select pg_walfile_name(pg_current_wal_lsn()) as name, pg_create_restore_point('here')",
  );
  await query(connection, "select pg_switch_wal()");
  await expect.poll(() => existsSync(join(wal, `${row!.name}.gz`)), { timeout: 60_000 }).toBe(true);
}

/** Checks that whatever in an archive has the name of a complete file is one. */
async function expectWhole({ wal, base }: WalArchive): Promise<void> {
  for (const name of (await readdir(wal)).filter((each) => /^[0-9A-F]{24}\.gz$/.test(each)))
    expect(gunzipSync(await readFile(join(wal, name))).length, name).toBe(16 * 1024 * 1024);
  for (const name of (await readdir(base)).filter((each) => each.endsWith(".tar")))
    expect(await waybill(["backup", "check", join(base, name)], {})).toMatchObject({ status: 0, stderr: "" });
}

/** The key that a server has made, which whoever restores needs. */
async function secretOf(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, "secret-key"), "utf8")).trim();
}

const moments = Number(process.env["WAYBILL_TEST_MOMENTS"] ?? 1);
const kills = Number(process.env["WAYBILL_TEST_WAL_KILLS"] ?? 1);

describe("a WAL archive", { timeout: 200_000 + moments * 40_000 + kills * 40_000 }, () => {
  it("restores a lost machine to any moment, with its files", async () => {
    const archiveFolder = join(folder, "archive");
    await withUsedDataDir(async (dataDir) => {
      const secret = await secretOf(dataDir);
      const environment = { WAYBILL_WAL_TO: archiveFolder, WAYBILL_SECRET_KEY: secret };
      const server = await startServer(dataDir, environment);
      const archive = (await findWalArchive(dataDir))!;
      const loading = load(server, initialAdminKey(dataDir));
      const to = [
        "backup",
        "--format",
        "physical",
        "--evidence",
        "none",
        "--to",
        `${archive.base}/`,
        "--json",
      ];
      const made = await waybill(to, { ...environment, WAYBILL_DATA_DIR: dataDir });
      // A slow machine is told how far it is.
      expect([made.status, made.status === 0 ? "" : made.stderr]).toEqual([0, ""]);
      const begin = Date.now() / 1000;
      await delay(1_000 + moments * 500);
      await until(() => loading.acknowledged > 10);
      const end = Date.now() / 1000;
      // What was recorded after the last moment says that it is over.
      const before = loading.acknowledged;
      await until(() => loading.acknowledged > before + 1);
      await loading.stop();
      await archiveNow(dataDir, archive);
      await expectWhole(archive);
      // The machine is lost.
      await server.kill();
      process.kill(postmasterPid(dataDir)!, "SIGKILL");
      await delay(500);
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });

      for (let count = 0; count < moments; count += 1) {
        const target = begin + Math.random() * (end - begin);
        const at = new Date(target * 1000).toISOString();
        const copy = join(folder, `copy-${count}`);
        const restored = await waybill(["restore", archiveFolder, "--into", copy, "--at", at, "--json"], {
          WAYBILL_SECRET_KEY: secret,
        });
        expect([restored.status, restored.stdout === "" ? restored.stderr : ""]).toEqual([0, ""]);
        const managed = await startManagedPostgres({ dataDir: copy, log: silentLog });
        const [last] = await query<{ last: number; files: number }>(
          managed.connection,
          "select max(extract(epoch from occurred_at))::float8 as last, (select count(*)::int from evidence) as files from audit_log",
        );
        await managed.stop();
        expect(last!.last).toBeLessThanOrEqual(target);
        expect(last!.last).toBeGreaterThan(target - 60);
        expect(last!.files).toBeGreaterThan(0);
        await rm(copy, { recursive: true, force: true });
      }

      const latest = join(folder, "latest");
      const all = await waybill(["restore", archiveFolder, "--into", latest, "--at", "latest"], environment);
      expect(all.status).toBe(0);
      const again = await startServer(latest, environment);
      // What was restored begins a life of its own, and leaves the one it came from alone.
      expect((await findWalArchive(latest))?.life).not.toBe(archive.life);
      await again.stop();

      const refused = async (at: string): Promise<string> => {
        const { status, stderr } = await waybill(
          ["restore", archiveFolder, "--into", join(folder, "no"), "--at", at],
          { WAYBILL_SECRET_KEY: secret },
        );
        expect(status).not.toBe(0);
        return stderr;
      };
      expect(await refused("2020-01-01T00:00:00Z")).toContain("no physical backup that was finished before");
      expect(await refused(new Date(Date.now() + 3_600_000).toISOString())).toContain(
        "The WAL archive ends at",
      );
      expect(await refused(new Date(begin * 1000).toISOString().slice(0, 19))).toContain("is no moment");
      expect(existsSync(join(folder, "no"))).toBe(false);
    });
  });

  it("has nothing that looks complete and is not, whoever is killed while it is written", async () => {
    await withUsedDataDir(async (dataDir) => {
      const environment = {
        WAYBILL_WAL_TO: join(folder, "killed"),
        WAYBILL_SECRET_KEY: await secretOf(dataDir),
      };
      let archive: WalArchive | undefined;
      for (let count = 0; count < kills; count += 1) {
        const server = await startServer(dataDir, environment);
        archive = (await findWalArchive(dataDir))!;
        const loading = load(server, initialAdminKey(dataDir));
        const to = ["backup", "--format", "physical", "--evidence", "none", "--to", `${archive.base}/`];
        const backup = spawnWaybill(to, { ...environment, WAYBILL_DATA_DIR: dataDir });
        const ended = once(backup, "exit");
        const connection = (await findManagedPostgres(dataDir))!;
        const switching = (async () => {
          for (let number = 0; number < 10; number += 1)
            await query(connection, "select pg_switch_wal() from pg_create_restore_point('here')").catch(
              () => {},
            );
        })();
        await delay(1_000 + Math.random() * 3_000);
        process.kill(postmasterPid(dataDir)!, "SIGKILL");
        backup.kill("SIGKILL");
        await server.kill();
        await Promise.all([ended, loading.stop(), switching]);
        await expectWhole(archive);
      }
      const server = await startServer(dataDir, environment);
      await archiveNow(dataDir, archive!);
      await server.stop();
      await expectWhole(archive!);
      const names = (await readdir(archive!.wal)).filter((each) => /^[0-9A-F]{24}\.gz$/.test(each)).sort();
      const numbers = names.map((name) => Number.parseInt(name.slice(16, 24), 16));
      expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
    });
  });
});
