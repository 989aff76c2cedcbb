import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client, emptyTally } from "../client.ts";
import { fullSpeed, type TestBed, onTestBed, type Plan, restart } from "./test-bed.ts";
import type { Survival } from "./survival.ts";

const day = 24 * 3600 * 1000;

/** The jumps of the clock, in words and in milliseconds. */
const jumps: [string, number][] = [
  ["a hundred years ahead", 100 * 365 * day],
  ["an hour ahead", day / 24],
  ["a day back", -day],
];

/** Counts the builds that are listed in the last hour, and all of them. */
async function listed({ target, server }: TestBed): Promise<{ listed: number; all: number }> {
  const client = new Client({ ...target, url: server.url }, emptyTally());
  const window = `start_ts=${Math.floor(Date.now() / 1000) - 3600}&end_ts=${Math.floor(Date.now() / 1000) + 60}`;
  const countOf = async (query: string): Promise<number> => {
    const { text } = await client.need("GET", `/builds/${target.quietOrg}?per_page=0${query}`);
    return (JSON.parse(text) as { total_count: number }).total_count;
  };
  const found = { listed: await countOf(`&${window}`), all: await countOf("&start_ts=0&end_ts=9999999999") };
  client.close();
  return found;
}

/** Lets the clock of the server's process jump and come back, while pipelines write. */
export function clockJumps(plan: Plan): Promise<Survival> {
  return onTestBed(plan, async (bed) => {
    const file = join(bed.dataDir, "clock-shift");
    const preload = new URL("shifted-clock.mjs", import.meta.url).href;
    const env = { NODE_OPTIONS: `--import ${preload}`, WAYBILL_ATTACK_CLOCK: file };
    await writeFile(file, "0");
    await bed.server.stop();
    await restart(bed, { env });
    const { writer, survival } = bed;
    for (const [what, shift] of jumps) {
      writer.start(fullSpeed);
      await writer.untilMore(20);
      const before = writer.acknowledged;
      await writeFile(file, String(shift));
      await sleep(2000);
      const during = writer.acknowledged - before;
      await writeFile(file, "0");
      await writer.stop();
      survival.readyMs.push(await writer.untilWritten());
      survival.notes.push(`${what}: ${during} writes acknowledged meanwhile`);
      survival.cycles += 1;
    }
    const { listed: now, all } = await listed(bed);
    if (now !== all) survival.broken.push(`${now} of ${all} builds are listed`);
    // Without the shift, as the next start would be.
    await bed.server.stop();
    await restart(bed);
  });
}
