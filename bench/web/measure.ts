import type { BrowserContext, Page } from "playwright-core";

import { below, type Verdict } from "../scenario.ts";
import type { BareSite } from "./bare.ts";
import { bareChanged, barePage, type Sight } from "./sights.ts";
import { type Act, act, go, openPage, run, type Sample } from "./visitor.ts";

/** How often everything is done unmeasured, and then measured. */
const [unmeasured, measured] = [2, 9];

/** Where to measure. */
export interface Site {
  /** Address of the server with the app. */
  url: string;
  /** The browser that is signed in there. */
  context: BrowserContext;
  bare: BareSite;
}

/** One line of the results. Times in milliseconds. */
export interface PageFigure {
  what: string;
  p50: number;
  p95: number;
  /** Of the slowest request, in the median; undefined where nothing was asked. */
  requestMs: number | undefined;
  /** How many requests there were at most. */
  requests: number;
  /** What the page takes that does the same by hand, in the median. */
  bare: number;
}

/** What was measured, and what is judged of it. */
export interface Judged {
  figures: PageFigure[];
  verdicts: Verdict[];
}

/** Gives the value that so large a share of values does not exceed. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Gives the value in the middle. */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Does something several times, the first ones unmeasured. */
async function repeat(work: () => Promise<Sample>): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let time = 0; time < unmeasured + measured; time += 1) samples.push(await work());
  return samples.slice(unmeasured);
}

/** Makes the figure of some samples, and of those of the bare page. */
export function figureOf(
  what: string,
  own: readonly Sample[],
  bare: readonly Sample[],
  value: "ms" | "nextMs" = "ms",
): PageFigure {
  const times = own.map((sample) => sample[value]);
  const slowest = own.flatMap(({ asked }) =>
    asked.length === 0 ? [] : [Math.max(...asked.map(({ ms }) => ms))],
  );
  const figure = {
    what,
    p50: median(times),
    p95: percentile(times, 0.95),
    requestMs: slowest.length === 0 ? undefined : median(slowest),
    requests: Math.max(...own.map(({ asked }) => asked.length)),
    bare: median(bare.map((sample) => sample[value])),
  };
  console.log(`  ${what}: ${figure.p50.toFixed(0)} ms, by hand ${figure.bare.toFixed(0)}`);
  return figure;
}

/** Judges the median of a figure. @param budget milliseconds. */
export function withinBudget({ what, p50 }: PageFigure, budget: number): Verdict {
  return below(`web: ${what}`, p50, budget, " ms");
}

/** Works in a new page, which is closed afterwards. */
async function inPage<T>(
  context: BrowserContext,
  url: string,
  sight: Sight,
  work: (page: Page, opened: Sample) => Promise<T>,
): Promise<T> {
  const { page, sample } = await openPage(context, url, sight);
  try {
    return await work(page, sample);
  } finally {
    await page.close();
  }
}

/** Works in a new page that has come to rest. */
export function atRest<T>(
  context: BrowserContext,
  url: string,
  sight: Sight,
  work: (page: Page) => Promise<T>,
): Promise<T> {
  return inPage(context, url, sight, async (page) => {
    await page.waitForLoadState("networkidle");
    return work(page);
  });
}

const pathsOf = (samples: readonly Sample[]): string[] => [
  ...new Set(samples.at(-1)?.asked.map(({ path }) => path)),
];

/** Opens an address, as from a link in a message: until its sight was drawn. */
export async function measureOpening(
  { url, context, bare }: Site,
  what: string,
  path: string,
  sight: Sight,
): Promise<PageFigure> {
  const open = (address: string, seen: Sight): Promise<Sample[]> =>
    repeat(() => inPage(context, address, seen, async (_page, sample) => sample));
  const own = await open(url + path, sight);
  return figureOf(what, own, await open(await bare.show(pathsOf(own)), barePage));
}

/** A page to begin at. */
export interface Place {
  path: string;
  sight: Sight;
}

/** Measures what follows in the page that is compared with: asking for the same, and writing it into the table. */
async function bareSteps({ context, bare }: Site, paths: string[], isKept: boolean): Promise<Sample[]> {
  const list = JSON.stringify(paths);
  const address = await bare.show(paths);
  return repeat(() =>
    atRest(context, address.replace(/#.*/, ""), barePage, async (page) => {
      if (isKept) await page.evaluate(`keep(${list})`);
      return run(page, `show(${list})`, bareChanged);
    }),
  );
}

/** Goes from a page to an address, in a page that has nothing of it yet: from the change of the address on. */
export async function measureGoing(site: Site, what: string, from: Place, to: Place): Promise<PageFigure> {
  const own = await repeat(() =>
    atRest(site.context, site.url + from.path, from.sight, (page) => go(page, to.path, to.sight)),
  );
  return figureOf(what, own, await bareSteps(site, pathsOf(own), false));
}

/** Does something in a page: from the event on. */
export async function measureAct(
  site: Site,
  what: string,
  from: Place,
  { act: does, sight }: { act: Act; sight: Sight },
): Promise<PageFigure> {
  const own = await repeat(() =>
    atRest(site.context, site.url + from.path, from.sight, (page) => act(page, does, sight)),
  );
  return figureOf(what, own, await bareSteps(site, pathsOf(own), does.prepare !== undefined));
}

/** Does something that asks nothing in a page, and in the one that is compared with. */
export async function measureBoth(
  { url, context, bare }: Site,
  from: Place,
  work: (page: Page, isBare: boolean) => Promise<Sample>,
): Promise<{ own: Sample[]; bare: Sample[] }> {
  const own = await repeat(() => atRest(context, url + from.path, from.sight, (page) => work(page, false)));
  const address = await bare.show([]);
  return {
    own,
    bare: await repeat(() => atRest(context, address, barePage, (page) => work(page, true))),
  };
}
