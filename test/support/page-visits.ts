import type { BrowserContext, Page, Request, Route } from "playwright-core";

import { inaccessible } from "./axe.ts";
import { amount } from "./thorough.ts";
import { untilNothingToDo, type WebSite } from "./web.ts";

/** How pages are looked at: two themes, wide and narrow. */
export const looks = [
  { words: "light 1280", colorScheme: "light", width: 1280 },
  { words: "dark 360", colorScheme: "dark", width: 360 },
  { words: "dark 1280", colorScheme: "dark", width: 1280 },
  { words: "light 360", colorScheme: "light", width: 360 },
] as const;

/** What else people set up for themselves: more contrast, colours of their own, and pages twice as large. */
export const aids = [
  { words: "more contrast, light", colorScheme: "light", width: 1280, contrast: "more" },
  { words: "more contrast, dark", colorScheme: "dark", width: 1280, contrast: "more" },
  { words: "own colours", colorScheme: "dark", width: 1280, forcedColors: "active" },
  { words: "zoom 200 %", colorScheme: "light", width: 640, deviceScaleFactor: 2 },
] as const;

/** How a page is looked at. */
interface View {
  words: string;
  colorScheme: "light" | "dark";
  width: number;
  contrast?: "more";
  forcedColors?: "active";
  deviceScaleFactor?: number;
}

/** How long a page may take, on a machine that does much else, in milliseconds. */
export const patience = 30_000;

/** Says whether a request asks for what the page shows: not who asks, nor whether something changes. */
function isOwn(url: URL): boolean {
  return /\/api\/v2\/(?!user$|organizations$|changes\/)/.test(url.pathname);
}

/** A tab in one of the looks, which goes from page to page. */
export interface Visitor {
  view: View;
  page: Page;
  context: BrowserContext;
  /** Requests of the API that the page has sent, each once, as method and path with query. */
  requests: string[];
  /** Whether it is looked for what keeps people from using the page, too: what most of the time of a short visit is for. */
  looksClosely: boolean;
  /** Waits until the page has asked for nothing for a moment, and everything that it asked for is there. */
  settle(): Promise<void>;
  /** Does not wait for a request any more. */
  forget(request: Request): void;
}

/** After so long a request counts as given up, in milliseconds. */
const givenUpMs = 10_000;

function watchRequests(page: Page): { isQuiet: () => boolean; forget: (request: Request) => void } {
  const open = new Map<Request, number>();
  let changedAt = Date.now();
  const note = (change: () => void) => (): void => {
    change();
    changedAt = Date.now();
  };
  page.on("request", (request) => {
    if (!request.url().includes("/changes/")) note(() => open.set(request, Date.now()))();
  });
  page.on("requestfinished", (request) => note(() => open.delete(request))());
  page.on("requestfailed", (request) => note(() => open.delete(request))());
  return {
    // What a page has given up while it was held back may end without a word.
    isQuiet: () =>
      Date.now() - changedAt >= 60 && [...open.values()].every((since) => Date.now() - since > givenUpMs),
    forget: (request) => void open.delete(request),
  };
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + patience;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** One thing to look at. */
export interface Visit {
  /** The pattern of the page, of `pagePaths`. */
  pattern: string;
  address: string;
  /** What it has to say, each a text of the page's own part. */
  says?: readonly (string | RegExp)[];
}

/** What is done with a page that was opened, and looked for beside what is looked for always. @returns what is wrong. */
type Look = (visitor: Visitor, visit: Visit) => Promise<string[]>;

interface VisitOptions {
  key?: string | null;
  /** Decides which page is seen in which look. */
  turn: number;
  /** What may stand on the console: a browser says of every refused request that it was refused. */
  mayComplain?: RegExp;
  look: Look;
  /** In which of these ways, in turns. */
  views?: readonly View[];
  /** Of so many pages one is looked at closely. */
  closeStep?: number;
}

/** Runs in the page. */
export const scrollsSideways = "document.documentElement.scrollWidth > innerWidth";

/** Lists what is wrong with how a page looks now, whatever it shows. */
export async function wrongLooks({ page, looksClosely }: Visitor): Promise<string[]> {
  const found = looksClosely ? await inaccessible(page) : [];
  return (await page.evaluate(scrollsSideways)) === true ? [...found, "scrolls sideways"] : found;
}

/** Takes every so many of them, from this one on. */
export function everyNth<T>(all: readonly T[], step: number, first = 0): T[] {
  return all.filter((_one, index) => index % step === first % step);
}

/** Lists what a page should say and does not. */
export async function unsaid({ page }: Visitor, { says = [] }: Visit): Promise<string[]> {
  const missing: string[] = [];
  for (const text of says)
    await page
      .locator("body")
      .getByText(text)
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: patience / 2 })
      .catch(() => missing.push(String(text)));
  if (missing.length === 0) return [];
  const shown = await page
    .locator("main")
    .first()
    .innerText()
    .catch(() => "no main part");
  return missing.map((text) => `does not say ${text}: ${shown.replaceAll(/\s+/g, " ").slice(0, 400)}`);
}

async function open(
  site: WebSite,
  view: View,
  key: string | null,
): Promise<Visitor & { complaints: string[] }> {
  const { words: _words, width, ...options } = view;
  const { page, context, requests, complaints } = await site.open({
    key,
    ...options,
    viewport: { width, height: 900 },
    reducedMotion: "reduce",
  });
  page.setDefaultTimeout(patience);
  const { isQuiet, forget } = watchRequests(page);
  const settle = async (): Promise<void> => {
    await until(isQuiet, "quiet");
    await page.locator('main [aria-busy="true"]').first().waitFor({ state: "detached" });
  };
  return { view, page, context, requests, looksClosely: true, settle, forget, complaints };
}

/** Opens each page in one of the looks, in turns, and looks at it. @returns all that is wrong, each with page and look. */
export async function visitAll(
  site: WebSite,
  visits: readonly Visit[],
  options: VisitOptions,
): Promise<string[]> {
  const { key = site.key, turn, mayComplain, look: lookAt, views = looks } = options;
  const { closeStep = amount(3, 1) } = options;
  const problems: string[] = [];
  const walk = async (view: View, lane: number): Promise<void> => {
    const own = [...visits.entries()].filter(([index]) => (index + turn) % views.length === lane);
    if (own.length === 0) return;
    const visitor = await open(site, view, key);
    for (const [index, visit] of own) {
      visitor.looksClosely = (index + turn) % closeStep === 0;
      const wrong = await lookAt(visitor, visit).catch((error: unknown) => [String(error)]);
      const said = visitor.complaints.splice(0).filter((one) => mayComplain?.test(one) !== true);
      for (const one of [...wrong, ...said.map((line) => `console: ${line}`)])
        problems.push(`${visitor.view.words} ${visit.address}: ${one}`);
    }
  };
  await Promise.all(views.map(walk));
  return problems;
}

const readShifts = `new Promise((resolve) => {
  const shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, startTime, sources } of list.getEntries())
      shifts.push({ value, startTime, of: sources.map(({ node }) => (node?.outerHTML ?? String(node?.nodeName)).slice(0, 120)) });
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(shifts), 40);
})`;

/** Tells the moment of a page's own clock at which its fonts are there: text may change its width before. */
export function momentOfFonts({ page }: Visitor): Promise<number> {
  return page.evaluate("document.fonts.ready.then(() => performance.now())");
}

/**
 * Lists what has moved on a page, where that is more than a person notices.
 * @param since a moment of the page's own clock.
 * @param limit as Chromium sums it.
 */
export async function jumps({ page }: Visitor, since: number, limit: number): Promise<string[]> {
  const shifts = (await page.evaluate(readShifts)) as { value: number; startTime: number; of: string[] }[];
  const later = shifts.filter(({ startTime }) => startTime >= since);
  const sum = later.reduce((all, { value }) => all + value, 0);
  return sum <= limit ? [] : [`jumps by ${sum.toFixed(3)}: ${JSON.stringify(later)}`];
}

/**
 * Holds what a page asks for back. Once let through it stays in between: taking a handler away while requests arrive may lose some.
 * @returns what lets it all through, at once but for these: of each of these resources in turn, once what came before is drawn.
 */
export async function holdBack({
  page,
  forget,
}: Visitor): Promise<(inTurn?: readonly string[]) => Promise<void>> {
  const held: Route[] = [];
  let isOpen = false;
  await page.route(isOwn, async (route) => {
    if (isOpen) await route.continue();
    else held.push(route);
  });
  const letGo = async (route: Route): Promise<void> => {
    await route.continue();
    // What the page has given up meanwhile gets no answer, and ends without a word.
    const given = new Promise((resolve) => setTimeout(resolve, 3_000, null));
    if ((await Promise.race([route.request().response(), given])) === null) forget(route.request());
  };
  return async (inTurn = []) => {
    for (const resource of inTurn) {
      const asked = held.findIndex((route) => route.request().url().includes(`/api/v2/${resource}/`));
      if (asked === -1) throw new Error(`did not ask for ${resource}`);
      await Promise.all(held.splice(asked, 1).map(letGo));
      await page.evaluate(untilNothingToDo);
    }
    isOpen = true;
    await Promise.all(held.map(letGo));
  };
}

/** What a server answers that cannot answer. */
export interface Trouble {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

/** Answers what a page asks for with trouble, and stays in between as `holdBack` does. @returns what ends that. */
export async function makeTrouble(
  page: Page,
  { status, message, headers = {} }: Trouble,
): Promise<() => void> {
  let isOver = false;
  await page.route(isOwn, (route) =>
    isOver
      ? route.continue()
      : route.fulfill({ status, headers: { "x-request-id": "request-4711", ...headers }, json: { message } }),
  );
  return () => void (isOver = true);
}
