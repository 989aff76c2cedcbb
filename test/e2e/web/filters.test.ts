import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { everyNth } from "../../support/page-visits.ts";
import { ask } from "../../support/site.ts";
import { amount } from "../../support/thorough.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const patient = { timeout: 30_000 };

/** Every list with filters, by its path below the organization. */
const lists = [
  "/running",
  "/running?group=artifact",
  "/changes",
  "/environments",
  "/environments/shop-prod",
  "/environments/shop-prod/snapshots/8",
  "/environments/shop-prod/snapshots",
  "/environments/shop-prod/log",
  "/environments/shop-prod/deployments",
  "/flows",
  "/flows/checkout-ci",
  "/flows/checkout-ci/statistics",
  "/trails",
  "/attestations",
  "/repos",
  "/policies",
  "/controls",
  "/controls/CONTROL",
  "/controls/CONTROL?tab=coverage",
  "/attestation-types",
  "/allow-list",
  "/actions",
  "/actions/1",
  "/integrations",
  "/settings/members",
  "/audit-log",
  "/audit-log?kind=members",
] as const;

const tried = everyNth(lists, amount(2, 1));

/** What filters, in the bar above a list; what has a form of its own says something only once it is sent. */
const controlsOf = (page: Page): Locator =>
  page.locator("main search :is(select, input):not(form :is(select, input))");

type Kind = "text" | "choice" | "switch" | "day";

async function kindOf(control: Locator): Promise<Kind> {
  const said = await control.evaluate((one) => `${one.tagName} ${one.getAttribute("type") ?? ""}`);
  if (said.startsWith("SELECT")) return "choice";
  return said.endsWith("checkbox") ? "switch" : said.endsWith("date") ? "day" : "text";
}

const valueOf = async (control: Locator, kind: Kind): Promise<string> =>
  kind === "switch" ? String(await control.isChecked()) : control.inputValue();

/** Rows as they read, but for times, which go on. */
function rowsOf(page: Page): Promise<string[]> {
  return page.locator("main table tbody tr").evaluateAll((rows) =>
    rows.map((row) => {
      const copy = row.cloneNode(true);
      if ("querySelectorAll" in copy) for (const time of copy.querySelectorAll("time")) time.remove();
      return (copy.textContent ?? "").trim();
    }),
  );
}

/** Sets a filter to something else than it is. @returns false where there is nothing to choose. */
async function change(control: Locator, kind: Kind): Promise<boolean> {
  if (kind === "text") await control.fill("e");
  else if (kind === "day") await control.fill("2026-01-01");
  else if (kind === "switch") await control.setChecked(!(await control.isChecked()));
  else {
    const options = await control.getByRole("option").count();
    if (options < 2) return false;
    const at = await control.evaluate((one) => ("selectedIndex" in one ? Number(one.selectedIndex) : 0));
    await control.selectOption({ index: at === 1 ? 0 : 1 });
  }
  return true;
}

const historyLength = (page: Page): Promise<number> => page.evaluate<number>("history.length");

interface Changed {
  place: number;
  kind: Kind;
  before: string;
  after: string;
}

describe.skipIf(!hasBrowser)("filters in the address", { timeout: 90_000 }, () => {
  let site: WebSite;
  let control: string;
  beforeAll(async () => {
    site = await openSite();
    control = (await ask(site, "GET", `/controls/${site.org}`)).controls[0].identifier;
  }, 180_000);

  async function open(page: Page, address: string): Promise<void> {
    await page.goto(address);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await controlsOf(page).first().waitFor();
    await settled(page);
  }

  /** Waits until nothing holds room for what is to come. */
  async function settled(page: Page): Promise<void> {
    await expect.poll(() => page.locator("main [aria-busy=true]").count(), patient).toBe(0);
  }

  it.each(tried)("%s: each survives a reload, and going back undoes a choice", async (path) => {
    const { page, context, complaints } = await site.open();
    await open(page, `/${site.org}${path.replace("CONTROL", control)}`);
    const kinds = await Promise.all((await controlsOf(page).all()).map(kindOf));
    expect(kinds.length).toBeGreaterThan(0);
    const changed: Changed[] = [];
    // What is typed takes the place of the address before, so it comes first.
    const order = [...kinds.entries()].toSorted(
      ([, a], [, b]) => Number(b === "text") - Number(a === "text"),
    );
    for (const [place, kind] of order) {
      const one = controlsOf(page).nth(place);
      const [address, length, before] = [page.url(), await historyLength(page), await valueOf(one, kind)];
      if (!(await change(one, kind))) continue;
      await expect.poll(() => page.url(), patient).not.toBe(address);
      expect((await historyLength(page)) - length).toBe(kind === "text" ? 0 : 1);
      changed.push({ place, kind, before, after: await valueOf(one, kind) });
    }
    expect(changed.length).toBeGreaterThan(0);
    const again = await context.newPage();
    await open(again, page.url());
    for (const { place, kind, after } of changed)
      await expect.poll(() => valueOf(controlsOf(again).nth(place), kind), patient).toBe(after);
    await expect
      .poll(async () => JSON.stringify(await rowsOf(page)) === JSON.stringify(await rowsOf(again)), patient)
      .toBe(true);
    for (const { place, kind, before } of changed.filter((one) => one.kind !== "text").toReversed()) {
      await page.goBack();
      await expect.poll(() => valueOf(controlsOf(page).nth(place), kind), patient).toBe(before);
    }
    for (const { place, after } of changed.filter((one) => one.kind === "text"))
      expect(await valueOf(controlsOf(page).nth(place), "text")).toBe(after);
    expect(complaints).toEqual([]);
  });
});
