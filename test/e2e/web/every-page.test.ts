import { beforeAll, describe, expect, it } from "vitest";

import { pagePaths } from "../../../web/paths.ts";
import { hasBrowser } from "../../support/browser.ts";
import { pageAddresses } from "../../support/page-addresses.ts";
import {
  looks,
  scrollsSideways,
  type Visit,
  visitAll,
  type Visitor,
  wrongLooks,
} from "../../support/page-visits.ts";
import { amount } from "../../support/thorough.ts";
import { ownRequests } from "../../support/web-page.ts";
import { openSite, untilAllAsked, type WebSite } from "../../support/web.ts";

/** Each theme and each width once. */
const views = looks.slice(0, 2);

/** Opens a page, and looks for what is wrong with it in its look, for whether it is too wide in another, and for what it asks. */
async function look(visitor: Visitor, { address }: Visit): Promise<string[]> {
  const { page, requests, view } = visitor;
  requests.length = 0;
  const problems: string[] = [];
  const answer = await page.goto(address);
  if (answer?.status() !== 200) problems.push(`is answered ${answer?.status()}`);
  await untilAllAsked(page);
  const heading = await page.getByRole("heading", { level: 1 }).first().textContent();
  if (heading === "No page has this address") problems.push("is not there");
  problems.push(...(await wrongLooks(visitor)));
  const height = 900;
  for (const { width } of views.filter((other) => other.width !== view.width)) {
    await page.setViewportSize({ width, height });
    if ((await page.evaluate(scrollsSideways)) === true) problems.push(`scrolls sideways in ${width}`);
  }
  await page.setViewportSize({ width: view.width, height });
  // Last, for what a page asks late. Who asks, and their organizations, are asked for once, on the first page that is opened.
  const own = ownRequests(requests);
  return own.length > 4 ? [...problems, `${own.length} requests: ${own.join(", ")}`] : problems;
}

describe.skipIf(!hasBrowser)("every page", { timeout: 300_000 }, () => {
  let site: WebSite;
  let visits: Visit[];
  beforeAll(async () => {
    site = await openSite();
    const addresses = await pageAddresses(site);
    visits = pagePaths.map((pattern, at) => ({ pattern, address: addresses[at]! }));
  }, 180_000);

  it.each(amount([0], [0, 1]))(
    "is there, whole, for everybody, in few requests, in turns from look %i on",
    async (turn) => {
      expect(await visitAll(site, visits, { turn, look, views, closeStep: 1 })).toEqual([]);
    },
  );
});
