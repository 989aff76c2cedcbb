import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { packageRoot } from "../../src/config.ts";
import { initialAdminKey, startServer, withDataDir } from "../support/server-process.ts";

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

/** The real command line in a process of its own, which is killed after so many milliseconds if that is said. */
async function waybill(args: string[], dataDir: string, killAfterMs?: number): Promise<Outcome> {
  const command = ["--import", "tsx", join(packageRoot, "src/main.ts"), ...args];
  const env = { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), WAYBILL_DATA_DIR: dataDir };
  const child = spawn(process.execPath, command, { env, cwd: packageRoot });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const ended = once(child, "close");
  if (killAfterMs !== undefined) void delay(killAfterMs).then(() => child.kill("SIGKILL"));
  const [code] = (await ended) as [number | null];
  return { code, stdout, stderr };
}

const kills = Number(process.env["WAYBILL_TEST_BACKUP_KILLS"] ?? 3);

describe("backups of a real server", { timeout: 240_000 }, () => {
  it("are made beside it and without it, survive kills, and are restored elsewhere", async () => {
    await withDataDir(async (dataDir) => {
      const server = await startServer(dataDir);
      const key = initialAdminKey(dataDir);
      const ask = async (base: string, path: string): Promise<unknown> =>
        (await fetch(`${base}/api/v2${path}`, { headers: { authorization: `Bearer ${key}` } })).json();
      const before = await ask(server.url, "/organizations");

      const beside = await waybill(["backup", "--to", `${folder}/`, "--verify", "--json"], dataDir);
      expect([beside.code, beside.stderr]).toEqual([0, ""]);
      const { file } = JSON.parse(beside.stdout) as { file: string };

      for (let count = 0; count < kills; count += 1)
        await waybill(["backup", "--to", `${folder}/`], dataDir, 300 + Math.random() * 1500);
      for (const name of (await readdir(folder)).filter((each) => each.endsWith(".tar"))) {
        const checked = await waybill(["backup", "check", join(folder, name)], dataDir);
        expect([checked.code, checked.stderr]).toEqual([0, ""]);
      }

      const refused = await waybill(["restore", file], dataDir);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/in use|runs on|running/);
      await server.stop();

      const stopped = await waybill(["backup", "--to", join(folder, "stopped.tar")], dataDir);
      expect([stopped.code, stopped.stderr]).toEqual([0, ""]);

      const copy = join(folder, "copy");
      const rehearsed = await waybill(["restore", file, "--dry-run"], copy);
      expect(rehearsed.code).toBe(0);
      expect(existsSync(copy)).toBe(false);
      const restored = await waybill(["restore", file, "--into", copy], dataDir);
      expect(restored.code).toBe(3);
      expect(restored.stderr).toContain("sealed with another key");
      await copyFile(join(dataDir, "secret-key"), join(copy, "secret-key"));
      const second = await startServer(copy);
      const after = await ask(second.url, "/organizations");
      const released = await waybill(["admin", "release-quarantine"], copy);
      await second.stop();
      expect(after).toEqual(before);
      expect(released.stdout).toContain("Released");
    });
  });

  it("say what is wrong, by a status of their own for wrong use", async () => {
    const nowhere = await waybill(["backup", "check", join(folder, "nowhere.tar")], folder);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, `There is no ${join(folder, "nowhere.tar")}\n`]);
    await writeFile(join(folder, "other.tar"), "something else");
    const other = await waybill(["restore", join(folder, "other.tar")], folder);
    expect([other.code, other.stderr]).toEqual([1, "This is no backup of Waybill, or only a part of one\n"]);
  });
});
