import type { Page } from "playwright-core";
import { setTimeout as sleep } from "node:timers/promises";

import { below } from "../scenario.ts";
import {
  atRest,
  figureOf,
  type Judged,
  measureBoth,
  type Place,
  type Site,
  withinBudget,
} from "./measure.ts";
import { shown } from "./data.ts";
import { bareChanged, barePalette, matrixOf, palette, snapshotFiltered } from "./sights.ts";
import { act, type Act, type Sample } from "./visitor.ts";

/** How long a pointer rests on a link before it is clicked, in milliseconds. */
const hoverMs = 250;

/** Clicks on a link that the pointer was on for a moment, as people do. */
export function clickOn(selector: string): Act {
  return {
    event: "click",
    prepare: async (page) => {
      await page.hover(selector);
      await sleep(hoverMs);
    },
    run: (page) => page.click(selector),
  };
}

/** Opens the search, which was not open before in this page. */
export async function measurePalette(site: Site, from: Place, budget: number): Promise<Judged> {
  const what = "search opened by key";
  const { own, bare } = await measureBoth(site, from, (page, isBare) =>
    act(page, { event: "keydown", run: () => page.keyboard.press("/") }, isBare ? barePalette : palette),
  );
  const figure = figureOf(what, own, bare);
  return { figures: [figure], verdicts: [withinBudget(figure, budget)] };
}

/** Stands in the filter before keys are measured: all rows have it. */
const given = "flow-";
/** The number of a flow: of 800 rows its digits leave some hundred, eleven, one. */
const typed = ["1", "2", "3"];
/** How long after that the page has done what it does about it, in milliseconds. */
const settleMs = 500;
/** Between two keys, in milliseconds: fast typing. */
const betweenKeysMs = 180;

/** Types some digits into the filter, and takes them away again. */
async function typeAndDelete(page: Page, isBare: boolean): Promise<Sample[]> {
  const samples: Sample[] = [];
  await page.focus('input[type="search"]');
  await page.keyboard.insertText(given);
  await sleep(settleMs);
  for (const key of [...typed, ...typed.map(() => "Backspace")]) {
    const press: Act = { event: "keydown", after: "input", run: () => page.keyboard.press(key) };
    samples.push(await act(page, press, isBare ? bareChanged : snapshotFiltered));
    await sleep(betweenKeysMs);
  }
  return samples;
}

/** How often all the digits are typed. */
const rounds = 5;

/** Types into the filter of 800 rows: until the next frame, and until the rows that are left were drawn. */
export async function measureTyping(
  { url, context, bare }: Site,
  from: Place & { answer: string },
  [p50, p95]: readonly [number, number],
): Promise<Judged> {
  const { answer } = from;
  const type = async (address: string, sight: Place["sight"], isBare: boolean): Promise<Sample[]> => {
    const samples: Sample[] = [];
    for (let round = 0; round < rounds; round += 1)
      samples.push(...(await atRest(context, address, sight, (page) => typeAndDelete(page, isBare))));
    return samples;
  };
  const own = await type(url + from.path, from.sight, false);
  const byHand = await type(await bare.show([answer]), { all: ["tr:nth-child(60)"] }, true);
  const key = figureOf("key to the next frame, in the filter of a snapshot of 800", own, byHand, "nextMs");
  const rows = figureOf("key to the rows that are left", own, byHand);
  return {
    figures: [key, rows],
    verdicts: [key, rows].flatMap((figure) => [
      withinBudget(figure, p50),
      below(`web: ${figure.what}, p95`, figure.p95, p95, " ms"),
    ]),
  };
}

/** A frame is late that takes longer, in milliseconds: of 60 a second. */
const frameMs = 1000 / 60;

async function scroll(page: Page): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  await page.evaluate("stopwatch.frames()");
  const gesture = { x: 700, y: 600, speed: 2_000, gestureSourceType: "mouse" } as const;
  for (const distance of [-1_200, 1_200, -1_200, 1_200])
    await session.send("Input.synthesizeScrollGesture", { ...gesture, yDistance: distance });
  for (const distance of [-800, 800])
    await session.send("Input.synthesizeScrollGesture", { ...gesture, xDistance: distance });
  return page.evaluate<number[]>("stopwatch.endOfFrames()");
}

/** Scrolls 50 trails with 30 attestations each: how long each frame takes. */
export async function measureScrolling({ context, url, bare }: Site, path: string): Promise<Judged> {
  const frames = (times: readonly number[]): Sample[] => times.map((ms) => ({ ms, nextMs: ms, asked: [] }));
  const own = frames(await atRest(context, url + path, matrixOf(shown.trails), scroll));
  const address = await bare.show([]);
  const byHand = frames(
    await atRest(context, address, { all: ["h1"] }, async (page) => {
      await page.evaluate("showGrid(50, 30)");
      return scroll(page);
    }),
  );
  const figure = figureOf("a frame, while a matrix of 50 by 30 is scrolled", own, byHand);
  return {
    figures: [figure],
    verdicts: [below(`web: ${figure.what}, p95`, figure.p95, frameMs * 1.5, " ms")],
  };
}
