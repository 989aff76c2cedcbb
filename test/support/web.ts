import type { BrowserContext, BrowserContextOptions, Page, Request } from "playwright-core";
import { expect, inject, onTestFinished } from "vitest";

import { roleUnknown } from "../../web/domain/roles.ts";
import { takeProfile } from "./profiles.ts";
import type { StartedSite } from "./web-site.ts";

/** A running server with its web app and the demo's organization. */
export interface WebSite extends StartedSite {
  /** Name of the demo's organization. */
  org: string;
  /** Key of the administrator of installation and organization. */
  key: string;
  /**
   * Opens a page signed in with this key; signed out with null. A test whose page asks anything of another site fails; what else it
   * complains of the test looks at itself.
   */
  open(options?: OpenOptions): Promise<OpenPage>;
}

interface OpenOptions extends BrowserContextOptions {
  key?: string | null;
}

interface OpenPage {
  page: Page;
  context: BrowserContext;
  /** Requests of the API that the page has sent, each once, as method and path with query. */
  requests: string[];
  /** What the page said on the console, what it threw, what it was not allowed to load, and what it asked of other sites. */
  complaints: string[];
}

async function signIn(context: BrowserContext, url: string, api_key: string): Promise<void> {
  const answer = await context.request.post(`${url}/api/v2/user/sessions`, {
    data: { api_key },
    headers: { "sec-fetch-site": "same-origin" },
  });
  if (answer.status() !== 201)
    throw new Error(`signing in answered ${answer.status()}: ${await answer.text()}`);
}

/** Whether an address is one of this site, or holds what it stands for itself. */
function isAtHome(address: string, origin: string): boolean {
  const url = new URL(address);
  return url.protocol === "data:" || url.origin === origin;
}

/** How much of what a page showed is printed when its test fails, in characters. */
const shownAtFailure = 3_000;

/** Prints what a page showed and what it complained of when its test failed: that a line did not appear does not say what was there instead. */
function tellAtFailure(page: Page, complaints: readonly string[]): void {
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== "fail" || page.isClosed()) return;
    const shown = await page.locator("main").innerText({ timeout: 5_000 }).catch(String);
    console.error([`${page.url()} showed:`, shown.slice(0, shownAtFailure), ...complaints].join("\n"));
  });
}

function watch(page: Page, origin: string): Pick<OpenPage, "requests" | "complaints"> {
  const requests: string[] = [];
  const complaints: string[] = [];
  const abroad: string[] = [];
  const leave = (address: string): void => {
    if (isAtHome(address, origin)) return;
    abroad.push(address);
    complaints.push(`asks another site: ${address}`);
  };
  // After the test, also where it does not look at complaints.
  onTestFinished(() => expect(abroad).toEqual([]));
  tellAtFailure(page, complaints);
  page.on("websocket", (socket) => leave(socket.url()));
  page.on("console", (message) => {
    const text = message.text();
    // What a browser says of a request that was refused does not say of which.
    complaints.push(text.startsWith("Failed to load") ? `${text} ${message.location().url}` : text);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    leave(request.url());
    const { pathname, search } = new URL(request.url());
    const sent = `${request.method()} ${pathname}${search}`;
    // What others change meanwhile makes pages ask the same again.
    if (pathname.includes("/api/v2/") && !requests.includes(sent)) requests.push(sent);
  });
  return { requests, complaints };
}

/** What pages have asked for and not yet got, but for the streams that never end. */
const waitingOf = new WeakMap<Page, Set<Request>>();

function watchWaiting(page: Page): void {
  const waiting = new Set<Request>();
  waitingOf.set(page, waiting);
  page.on("request", (request) => {
    if (!request.url().includes("/api/v2/changes/")) waiting.add(request);
  });
  page.on("requestfinished", (request) => waiting.delete(request));
  page.on("requestfailed", (request) => waiting.delete(request));
}

/** Waits until a page shows what it was opened for: nothing in it is still read, and it is known who asks. */
export async function untilSettled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  const unsettled = page.locator(`main :is([aria-busy="true"], [title="${roleUnknown}"])`);
  const isSettled = async (): Promise<boolean> =>
    (waitingOf.get(page)?.size ?? 0) === 0 && (await unsettled.count()) === 0;
  await expect.poll(isSettled, { timeout: 30_000 }).toBe(true);
}

/** Runs in the page: resolves once it has nothing to do but what time or somebody else begins. */
export const untilNothingToDo = "new Promise((resolve) => requestIdleCallback(() => resolve()))";

/**
 * Waits until a page has asked for all that it asks for by itself: what came has been drawn, and made it ask for nothing more. Does not wait for
 * half a second in which nothing was asked, as `networkidle` does.
 */
export async function untilAllAsked(page: Page): Promise<void> {
  do {
    await untilSettled(page);
    await page.evaluate(untilNothingToDo);
  } while ((waitingOf.get(page)?.size ?? 0) > 0);
}

function siteAt({ url, key, dataDir }: StartedSite): WebSite {
  return {
    url,
    org: "harborlight",
    key,
    dataDir,
    open: async ({ key: given = key, ...options } = {}) => {
      const all = { baseURL: url, timezoneId: "UTC", locale: "en", ...options };
      const { context, giveBack } = await takeProfile(all);
      // Each page listens to what changes, and an account may have so many that listen.
      onTestFinished(giveBack);
      if (given !== null) await signIn(context, url, given);
      const page = await context.newPage();
      watchWaiting(page);
      return { page, context, ...watch(page, new URL(options.baseURL ?? url).origin) };
    },
  };
}

/** Opens the run's site, which is started by who asks for it first. */
export async function openSite(): Promise<WebSite> {
  const response = await fetch(inject("webSite"));
  if (!response.ok) throw new Error(await response.text());
  return siteAt((await response.json()) as StartedSite);
}
