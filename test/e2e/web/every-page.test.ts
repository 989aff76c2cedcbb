import { beforeAll, describe, expect, it } from "vitest";

import { pagePaths } from "../../../web/paths.ts";
import { inaccessible } from "../../support/axe.ts";
import { hasBrowser } from "../../support/browser.ts";
import { pageAddresses } from "../../support/page-addresses.ts";
import { ownRequests } from "../../support/web-page.ts";
import { openSite, untilAllAsked, type WebSite } from "../../support/web.ts";

const looks = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 360 },
] as const;

describe.skipIf(!hasBrowser)("every page", { timeout: 60_000 }, () => {
  let site: WebSite;
  let addresses: string[];
  beforeAll(async () => {
    site = await openSite();
    addresses = await pageAddresses(site);
  }, 180_000);

  it.each(pagePaths.map((path, index) => ({ path, index })))(
    "$path is there, whole, for everybody, in few requests",
    async ({ index }) => {
      const problems: string[] = [];
      const [{ colorScheme: first, width }] = looks;
      const { page, requests, complaints } = await site.open({
        colorScheme: first,
        viewport: { width, height: 900 },
        reducedMotion: "reduce",
      });
      const answer = await page.goto(addresses[index]!);
      expect(answer?.status()).toBe(200);
      await untilAllAsked(page);
      const heading = await page.getByRole("heading", { level: 1 }).first().textContent();
      expect(heading).not.toBe("No page has this address");
      for (const look of looks) {
        await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width: look.width, height: 900 });
        const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        if (isTooWide === true) problems.push(`${look.width}: scrolls sideways`);
        const found = await inaccessible(page);
        problems.push(...found.map((one) => `${look.width} ${look.colorScheme}: ${one}`));
      }
      // Last, for what a page asks late. Who asks, and their organizations, are asked for once, on the first page that is opened.
      const own = ownRequests(requests);
      if (own.length > 4) problems.push(`${own.length} requests: ${own.join(", ")}`);
      problems.push(...complaints.map((one) => `console: ${one}`));
      expect(problems).toEqual([]);
    },
  );
});
