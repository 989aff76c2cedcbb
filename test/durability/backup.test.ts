import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { packageRoot } from "../../src/config.ts";
import { readBackup } from "../../src/modules/maintenance/backups/read-service.ts";
import { builtProgram } from "../support/program.ts";
import { reportWhile } from "../support/reporters.ts";
import { initialAdminKey, postmasterPid, startServer, withUsedDataDir } from "../support/server-process.ts";

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-backup-"));
  // PostgreSQL runs as another user when the tests are root's.
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Who is killed, and how many milliseconds after a command was begun. */
interface Interruption {
  afterMs: number;
  kill(command: ChildProcess): unknown;
}

/** The real command line in a process of its own, with somebody killed meanwhile if that is said. */
async function waybill(args: string[], dataDir: string, interrupt?: Interruption): Promise<Outcome> {
  const command = [builtProgram(), ...args];
  const env = { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), WAYBILL_DATA_DIR: dataDir };
  const child = spawn(process.execPath, command, { env, cwd: packageRoot });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const ended = once(child, "close");
  const interrupted = interrupt && delay(interrupt.afterMs).then(() => interrupt.kill(child));
  const [code] = (await ended) as [number | null];
  await interrupted;
  return { code, stdout, stderr };
}

const kills = Number(process.env["WAYBILL_TEST_BACKUP_KILLS"] ?? 3);
const written = Number(process.env["WAYBILL_TEST_WRITTEN_BACKUPS"] ?? 1);

/** Enough to keep the server busy, or for something to arrive. */
const reporters = written > 1 ? 64 : 2;

/** How many attestations a backup has. */
async function attestationsIn(file: string): Promise<number> {
  let found = Number.NaN;
  await readBackup(createReadStream(file), {
    line: async (line) => {
      if (line.kind === "table" && line.table === "public.attestations") found = line.rows;
    },
  });
  return found;
}

/** All that a backup that went well says on standard error. */
const advice = "It is not encrypted: `--encrypt-to`, with a recipient of age, has only you read it\n";

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

describe("backups of a real server", { timeout: 240_000 + kills * 10_000 + written * 60_000 }, () => {
  it("are made beside it and without it, survive kills, and are restored elsewhere", async () => {
    await withUsedDataDir(async (dataDir) => {
      let server = await startServer(dataDir);
      const key = initialAdminKey(dataDir);
      const ask = async (base: string, path: string): Promise<unknown> =>
        (await fetch(`${base}/api/v2${path}`, { headers: { authorization: `Bearer ${key}` } })).json();
      const before = await ask(server.url, "/organizations");

      // Each has all that was acknowledged before it was begun.
      const stopping = new AbortController();
      const { counts, reporting } = reportWhile({ url: server.url, key }, reporters, stopping.signal);
      await expect.poll(() => counts.acknowledged, { timeout: 30_000 }).toBeGreaterThan(20);
      const files: string[] = [];
      const begun = performance.now();
      for (let count = 0; count < written; count += 1) {
        const least = counts.acknowledged;
        const beside = await waybill(["backup", "--to", `${folder}/`, "--json"], dataDir);
        expect([beside.code, beside.code === 0 ? "" : beside.stderr]).toEqual([0, ""]);
        const { file } = JSON.parse(beside.stdout) as { file: string };
        files.push(file);
        const rows = await attestationsIn(file);
        expect(rows).toBeGreaterThanOrEqual(least);
        expect(rows).toBeLessThanOrEqual(counts.sent);
      }
      const rate = (counts.acknowledged / (performance.now() - begun)) * 1000;
      if (written > 1) console.log(`${written} backups while ${rate.toFixed(0)} reports/s arrived`);

      const partials = async (): Promise<number> =>
        (await readdir(folder)).filter((each) => each.endsWith(".partial")).length;
      let commandsKilled = 0;
      for (let count = 0; count < kills; count += 1) {
        const victims = [
          async (command: ChildProcess) => {
            commandsKilled += 1;
            command.kill("SIGKILL");
          },
          async () => process.kill(postmasterPid(dataDir)!, "SIGKILL"),
          async () => {
            await server.kill();
            server = await startServer(dataDir, { PORT: new URL(server.url).port });
          },
        ];
        const kill = victims[count % victims.length]!;
        await waybill(["backup", "--to", `${folder}/`], dataDir, {
          afterMs: 300 + Math.random() * 1500,
          kill,
        });
        await expect.poll(() => isReady(server.url), { timeout: 60_000 }).toBe(true);
      }
      stopping.abort();
      await reporting;
      // Whatever looks complete is: this fails for any other.
      for (const name of (await readdir(folder)).filter((each) => each.endsWith(".tar")))
        await readBackup(createReadStream(join(folder, name)));
      // Whoever fails leaves nothing; whoever is killed cannot help it.
      expect(await partials()).toBeLessThanOrEqual(commandsKilled);
      for (const each of written > 1 ? files : []) {
        const drilled = await waybill(["restore", "drill", "--from", each], dataDir);
        expect([drilled.code, drilled.code === 0 ? "" : drilled.stderr]).toEqual([0, ""]);
      }
      const file = files[0]!;
      const checked = await waybill(["backup", "check", file], dataDir);
      expect([checked.code, checked.stderr]).toEqual([0, ""]);

      const refused = await waybill(["restore", file], dataDir);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/in use|runs on|running/);
      await server.stop();

      const stopped = await waybill(["backup", "--to", join(folder, "stopped.tar")], dataDir);
      expect(stopped).toMatchObject({ code: 0, stderr: expect.stringContaining(advice) as string });

      const copy = join(folder, "copy");
      const rehearsed = await waybill(["restore", file, "--dry-run"], copy);
      expect(rehearsed.code).toBe(0);
      expect(existsSync(copy)).toBe(false);
      const keyless = await waybill(["restore", file, "--into", copy], dataDir);
      expect([keyless.code, existsSync(copy)]).toEqual([1, false]);
      expect(keyless.stderr).toContain("--forget-secrets");
      await mkdir(copy);
      await copyFile(join(dataDir, "secret-key"), join(copy, "secret-key"));
      const restored = await waybill(["restore", file, "--into", copy], dataDir);
      expect(restored.code).toBe(0);
      const second = await startServer(copy);
      const after = await ask(second.url, "/organizations");
      const released = await waybill(["admin", "release-quarantine"], copy);
      await second.stop();
      expect(after).toEqual(before);
      expect(released.stdout).toContain("Released");
    });
  });

  it("of PostgreSQL's files need the key, too, or are told to do without", async () => {
    await withUsedDataDir(async (dataDir) => {
      const file = join(folder, "physical.tar");
      const made = await waybill(["backup", "--format", "physical", "--to", file], dataDir);
      expect([made.code, made.code === 0 ? "" : made.stderr]).toEqual([0, ""]);
      const copy = join(folder, "without-key");
      const refused = await waybill(["restore", file, "--into", copy], dataDir);
      expect([refused.code, existsSync(copy)]).toEqual([1, false]);
      expect(refused.stderr).toContain("\n- the addresses of webhooks that actions tell");
      const done = await waybill(["restore", file, "--into", copy, "--forget-secrets"], dataDir);
      expect(done.code).toBe(3);
      expect(done.stderr).toContain("nothing was sealed with the old one");
      // A server would refuse the database otherwise.
      const server = await startServer(copy);
      await server.stop();
      expect(existsSync(join(copy, "secret-key"))).toBe(true);
    });
  });

  it("say what is wrong, by a status of their own for wrong use", async () => {
    const nowhere = await waybill(["backup", "check", join(folder, "nowhere.tar")], folder);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, `There is no ${join(folder, "nowhere.tar")}\n`]);
    await writeFile(join(folder, "other.tar"), "something else");
    const other = await waybill(["restore", join(folder, "other.tar")], folder);
    expect([other.code, other.stderr]).toEqual([1, "This is no backup of Waybill, or only a part of one\n"]);
    const below = await waybill(["backup", "--to", join(folder, "other.tar", "below.tar")], folder);
    expect(below.code).toBe(1);
    expect(below.stderr).toMatch(/^ENOTDIR: not a directory, (?:open|stat) '.*'\n$/);
  });
});
