import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";

import { expect, it } from "vitest";

import { artifactBody } from "../support/artifacts.ts";
import { initialAdminKey, spawnWaybill, startServer, withUsedDataDir } from "../support/server-process.ts";
import { uniqueName } from "../support/unique-name.ts";

const century = 100 * 365.25 * 86_400_000;
const preload = join(import.meta.dirname, "..", "..", "attack", "durability", "shifted-clock.mjs");

async function admin(dataDir: string, command: string): Promise<{ status: number | null; said: string }> {
  const child = spawnWaybill(["admin", command], { WAYBILL_DATA_DIR: dataDir });
  const [out, err] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "exit")]);
  return { status: child.exitCode, said: out + err };
}

it("a server whose clock jumps by a century records nothing until it is back, and nothing of the next century", async () => {
  const shift = join(tmpdir(), uniqueName("waybill-clock"));
  writeFileSync(shift, "0");
  await withUsedDataDir(async (dataDir) => {
    const server = await startServer(dataDir, {
      NODE_OPTIONS: `--import ${preload}`,
      WAYBILL_ATTACK_CLOCK: shift,
    });
    const headers = { authorization: `Bearer ${initialAdminKey(dataDir)}` };
    const report = (name: string): Promise<Response> =>
      fetch(`${server.url}/api/v2/artifacts/main/web`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(artifactBody({ trail_name: name })),
      });
    const builds = async (): Promise<number> => {
      const answer = await fetch(`${server.url}/api/v2/builds/main`, { headers });
      return ((await answer.json()) as { total_count: number }).total_count;
    };
    expect((await report("before")).status).toBe(201);
    writeFileSync(shift, String(century));
    await expect.poll(async () => (await report("meanwhile")).status, { timeout: 10_000 }).toBe(503);
    const refused = await report("meanwhile");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "15"]);
    expect((await fetch(`${server.url}/ready`)).status).toBe(503);
    expect(await builds()).toBeGreaterThanOrEqual(1);
    const known = await builds();
    writeFileSync(shift, "0");
    await expect.poll(async () => (await report("after")).status, { timeout: 10_000 }).toBe(201);
    expect(await builds()).toBe(known + 1);
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    expect(await admin(dataDir, "repair-times")).toEqual({
      status: 0,
      said: "No record has a time in the future.\n",
    });
    const accepted = await admin(dataDir, "accept-time");
    expect([accepted.status, accepted.said]).toEqual([0, expect.stringContaining("Servers go by it within")]);
    expect(await server.stop()).toBe(0);
    const errors = server
      .output()
      .split("\n")
      .filter((line) => line.includes("Nothing is recorded until"));
    expect(errors).toHaveLength(1);
  });
  rmSync(shift);
}, 120_000);
