import type { Browser, BrowserContext, Page } from "playwright-core";

import { openBrowser } from "../../test/support/browser.ts";
import type { Server } from "../processes.ts";
import type { Sight } from "./sights.ts";

const script = new URL("stopwatch.mjs", import.meta.url).pathname;

/** Opens a browser with nothing in its cache; who closes it ends what it was signed in to, too. */
export async function openVisit(): Promise<BrowserContext> {
  const browser: Browser = await openBrowser(true);
  const context = await browser.newContext({
    timezoneId: "UTC",
    locale: "en",
    viewport: { width: 1280, height: 900 },
  });
  await context.addInitScript({ path: script });
  return context;
}

/** Signs a browser in, as the administrator. */
export async function signIn(
  context: BrowserContext,
  { url, key }: Pick<Server, "url" | "key">,
): Promise<void> {
  const answer = await context.request.post(`${url}/api/v2/user/sessions`, {
    data: { api_key: key },
    headers: { "sec-fetch-site": "same-origin" },
  });
  if (answer.status() !== 201)
    throw new Error(`Signing in was answered ${answer.status()}: ${await answer.text()}`);
}

/** A request of the API that a page sent. */
interface Asked {
  /** With query. */
  path: string;
  /** From sending it until all of the answer was there. */
  ms: number;
}

/** One time that something was measured. Times in milliseconds. */
export interface Sample {
  /** Until it was drawn. */
  ms: number;
  /** Until the next frame, whatever it showed. */
  nextMs: number;
  asked: Asked[];
}

/** The question who is there, and of which organizations, which the frame around all pages asks once. */
const ofTheFrame = /\/api\/v2\/(?:user|organizations|changes\/[^/]+)$/;

async function askedSince(page: Page, begun: number): Promise<Asked[]> {
  const asked = await page.evaluate<Asked[]>(`stopwatch.requests(${begun})`);
  return asked.filter(({ path }) => !ofTheFrame.test(path));
}

/** Opens an address in a new page, and waits until its sight was drawn. */
export async function openPage(
  context: BrowserContext,
  url: string,
  sight: Sight,
): Promise<{ page: Page; sample: Sample }> {
  const page = await context.newPage();
  const text = JSON.stringify(sight);
  await page.addInitScript(`globalThis.seen = stopwatch.drawn(${text}); globalThis.seen.catch(() => {});`);
  await page.goto(url, { waitUntil: "commit" });
  const ms = await page.evaluate<number>("seen");
  return { page, sample: { ms, nextMs: ms, asked: await askedSince(page, 0) } };
}

async function resultOf(page: Page, since?: number): Promise<Sample> {
  const result = await page.evaluate<{ begun: number; nextMs: number; thereMs: number }>(
    "stopwatch.result()",
  );
  const asked = await askedSince(page, since ?? result.begun);
  return { ms: result.thereMs, nextMs: result.nextMs, asked };
}

/** Something a visitor does. */
export interface Act {
  /** The event it begins with. */
  event: "keydown" | "click";
  /** The event that the next frame has to be after. */
  after?: "input";
  /** Done before, unmeasured: what it asks counts, because it is asked for the same. */
  prepare?: (page: Page) => Promise<void>;
  run: (page: Page) => Promise<void>;
}

/** Does something in a page, and waits until what follows from it was drawn. */
export async function act(page: Page, { event, after, prepare, run }: Act, sight: Sight): Promise<Sample> {
  const since = await page.evaluate<number>("performance.now()");
  await prepare?.(page);
  const arguments_ = [event, sight, after].map((one) => JSON.stringify(one) ?? "undefined").join(", ");
  await page.evaluate(`stopwatch.arm(${arguments_})`);
  await run(page);
  return resultOf(page, since);
}

/** Runs an expression in a page, and waits until what follows from it was drawn. */
export async function run(page: Page, expression: string, sight: Sight): Promise<Sample> {
  await page.evaluate(`stopwatch.begin(${JSON.stringify(sight)}, () => void ${expression})`);
  return resultOf(page);
}

/** Goes to another address of the app, as a link does. */
export function go(page: Page, path: string, sight: Sight): Promise<Sample> {
  return run(page, `history.pushState({}, "", ${JSON.stringify(path)})`, sight);
}
