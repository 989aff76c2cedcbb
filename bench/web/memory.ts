import { setTimeout as sleep } from "node:timers/promises";

import type { Page } from "playwright-core";

import { below } from "../scenario.ts";
import { atRest, type Judged, type Site } from "./measure.ts";
import { anotherPage, type Sight } from "./sights.ts";
import { go } from "./visitor.ts";

const visits = 200;
const budgetMegabytes = 80;
/** How long each page is looked at, in milliseconds: what it asks for besides comes, too. */
const lookMs = 100;

/** Reads what a page keeps in its heap, once what nobody refers to is gone, in MB. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  for (let time = 0; time < 3; time += 1) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 2 ** 20;
}

/**
 * Goes to 200 pages, one after the other and no two the same, without loading the app anew: as somebody's tab does that is open
 * for hours. Everything that the app keeps is younger than it keeps things for.
 * @param addresses pages to visit in turn; `#` in them is the number of the turn, from 1.
 */
export async function measureMemory(
  { context, url, bare }: Site,
  first: { path: string; sight: Sight },
  addresses: readonly string[],
): Promise<Judged & { remark: string }> {
  console.log(`  memory after ${visits} pages`);
  const after = await atRest(context, url + first.path, first.sight, async (page) => {
    const before = await heapOf(page);
    for (let visit = 0; visit < visits; visit += 1) {
      const address = addresses[visit % addresses.length] ?? "/";
      const path = address.replace("#", String(Math.floor(visit / addresses.length) + 1));
      await go(page, path, anotherPage);
      await sleep(lookMs);
    }
    return { before, after: await heapOf(page) };
  });
  const empty = await atRest(context, await bare.show([]), { all: ["h1"] }, heapOf);
  return {
    figures: [],
    verdicts: [below(`web: memory after ${visits} pages`, after.after, budgetMegabytes, " MB")],
    remark: `Memory of the web app's heap: ${after.before.toFixed(1)} MB after its first page, ${after.after.toFixed(1)} MB after ${visits}; of a page by hand ${empty.toFixed(1)} MB.`,
  };
}
