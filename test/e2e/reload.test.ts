import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { expect, it } from "vitest";

import { initialAdminKey, startServer, withUsedDataDir } from "../support/server-process.ts";

it("SIGHUP takes up what can be while the server runs, or nothing", { timeout: 90_000 }, async () => {
  await withUsedDataDir(async (dataDir) => {
    const folder = join(dataDir, "..");
    const file = join(folder, "waybill.env");
    const set = (...lines: string[]): void => writeFileSync(file, `${lines.join("\n")}\n`);
    set("WAYBILL_LOG_LEVEL=info");
    const server = await startServer(dataDir, { WAYBILL_SETTINGS_FILE: file });
    const linesWith = (text: string) =>
      server
        .output()
        .split("\n")
        .filter((line) => line.includes(text))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const hangUp = async (text: string): Promise<Record<string, unknown>> => {
      const before = linesWith(text).length;
      process.kill(server.pid, "SIGHUP");
      const deadline = Date.now() + 20_000;
      while (linesWith(text).length === before) {
        if (Date.now() > deadline) throw new Error(`never logged: ${text}`);
        await delay(20);
      }
      return linesWith(text).at(-1)!;
    };
    const headers = { authorization: `Bearer ${initialAdminKey(dataDir)}` };
    const statuses = async (count: number): Promise<number[]> => {
      const all = [];
      for (let index = 0; index < count; index += 1)
        all.push((await fetch(`${server.url}/api/v2/user`, { headers })).status);
      return all;
    };

    set("WAYBILL_LOG_LEVEL=info", "WAYBILL_RATE_LIMIT_PER_KEY=2", "WAYBILL_DATABASE_POOL=20");
    expect(await hangUp("the settings were read again")).toMatchObject({
      changed: ["WAYBILL_RATE_LIMIT_PER_KEY"],
      need_restart: ["WAYBILL_DATABASE_POOL"],
    });
    expect(await statuses(3)).toEqual([200, 200, 429]);

    set("WAYBILL_RATE_LIMIT_PER_KEY=0", "WAYBILL_LOG_LEVEL=loud");
    expect(await hangUp("nothing has changed")).toMatchObject({
      mistakes: [expect.stringMatching(/^WAYBILL_LOG_LEVEL /)],
    });
    expect(await statuses(1)).toEqual([429]);

    set("WAYBILL_LOG_LEVEL=warn");
    process.kill(server.pid, "SIGHUP");
    while ((await statuses(1))[0] !== 200) await delay(50);
    // What was answered before is written by then.
    await delay(300);
    const logged = linesWith('"operation"').length;
    expect(await statuses(3)).toEqual([200, 200, 200]);
    await delay(300);
    expect(linesWith('"operation"')).toHaveLength(logged);
    expect(await server.stop()).toBe(0);
  });
});
