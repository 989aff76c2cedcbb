import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";

import { openBrowser } from "./browser.ts";

/** A browser's profile, and a page in it that stays: the process that draws a profile's pages lives as long as one of them. */
interface Profile {
  /** What it was made with. */
  kind: string;
  context: BrowserContext;
  staying: Page;
}

/** What tests have left: what was fetched and compiled for one's pages is there for the next one's. */
const left: Profile[] = [];

/** So many are kept: each has a process. */
const mostLeft = 6;

async function make(kind: string, options: BrowserContextOptions): Promise<Profile> {
  const browser = await openBrowser();
  const context = await browser.newContext(options);
  const staying = await context.newPage();
  // Asks for nothing, and keeps nothing.
  await staying.goto("/robots.txt");
  return { kind, context, staying };
}

/** Takes everything away that a test has left: pages, who is signed in, what is remembered and allowed. */
async function clean({ context, staying }: Profile): Promise<void> {
  const pages = context.pages().filter((page) => page !== staying);
  await Promise.all(pages.map((page) => page.close()));
  await context.setOffline(false);
  await context.clearPermissions();
  await staying.evaluate("localStorage.clear(); sessionStorage.clear()");
  await context.clearCookies();
}

/** Tells whether a profile has the machine's clock: another one, which a test has set, stays for good. */
function isOnTime({ staying }: Profile): Promise<boolean> {
  return staying.evaluate<boolean>("String(Date).includes('[native code]')");
}

/**
 * Takes a browser's profile in which nobody is signed in and nothing is open: one that a test has left, or a new one.
 * @returns its context, and what gives it back.
 */
export async function takeProfile(
  options: BrowserContextOptions & { baseURL: string },
): Promise<{ context: BrowserContext; giveBack: () => Promise<void> }> {
  const kind = JSON.stringify(options);
  const fitting = left.find((one) => one.kind === kind);
  if (fitting !== undefined) left.splice(left.indexOf(fitting), 1);
  const profile = fitting ?? (await make(kind, options));
  const { context } = profile;
  let isClosed = false;
  context.once("close", () => (isClosed = true));
  return {
    context,
    giveBack: async () => {
      if (isClosed) return;
      await clean(profile);
      if (!(await isOnTime(profile))) return context.close();
      left.push(profile);
      if (left.length > mostLeft) await left.shift()!.context.close();
    },
  };
}
