import type { Locator, Page } from "playwright-core";

/** How long to wait for what a page shows after something was done. */
export const patient = { timeout: 30_000 };

/** Leaves out what every page asks for once: who asks, their organizations, and the stream of changes. */
export function ownRequests(requests: readonly string[]): string[] {
  return requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));
}

/** Lets a browser say that there is nothing under a name that is free. */
export function unlessFree(complaints: readonly string[]): string[] {
  const free = /status of 404 .*\/(?:environments|flows|policies)\/[^/]+\/[\w.-]+$/;
  return complaints.filter((one) => !free.test(one));
}

/** Makes a page wait for answers, until what this returns is called. @param which requests, by their address. */
export async function holdAnswers(page: Page, which: RegExp): Promise<() => void> {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(which, async (route) => {
    await released;
    // Nobody waits any more for what the page has given up.
    await route.continue().catch(() => {});
  });
  return release;
}

/** The link to a part of the page, which may be called like an entry of the navigation. */
export function tab(page: Page, name: string): Locator {
  return page.getByRole("navigation", { name: "Parts of this page" }).getByRole("link", { name });
}

/** A policy that asks of everything that it is known where it comes from. */
export const provenancePolicy =
  "_schema: https://waybill.test/v1\nartifacts:\n  provenance:\n    required: true\n";

/** Replaces all that stands where the keyboard writes, as people do. */
export async function replaceText(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/** Replaces all that stands in an editor. @param name what the editor is called. */
export async function writeInEditor(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole("textbox", { name }).click();
  await replaceText(page, text);
}
