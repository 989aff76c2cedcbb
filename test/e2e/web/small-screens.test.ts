import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { tab } from "../../support/web-page.ts";
import { openSite, untilSettled, type WebSite } from "../../support/web.ts";

const narrow = { viewport: { width: 390, height: 844 } };
const low = { viewport: { width: 1280, height: 720 } };

describe.skipIf(!hasBrowser)("on small screens", { timeout: 60_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  /** Says whether all of something stands within the screen. */
  async function isSeen(page: Page, what: Locator): Promise<boolean> {
    const { x, y, width, height } = (await what.boundingBox())!;
    const screen = page.viewportSize()!;
    return x >= 0 && y >= 0 && x + width <= screen.width && y + height <= screen.height;
  }

  it("the account and whether the page is live stay seen beside the navigation", async () => {
    const { page } = await site.open(low);
    await page.goto(`/${site.org}/environments`);
    const live = page.getByText("Live", { exact: true });
    await live.waitFor();
    const account = page.getByRole("button", { name: "admin" });
    for (const one of [live, account]) expect(await isSeen(page, one)).toBe(true);
    const last = page.getByRole("navigation", { name: "Organization" }).getByRole("link").last();
    await last.scrollIntoViewIfNeeded();
    for (const one of [live, account, last]) expect(await isSeen(page, one)).toBe(true);
  });

  it("what runs has its verdict and its environment in the cell of its name", async () => {
    const { page } = await site.open(narrow);
    await page.goto(`/${site.org}/running`);
    const cell = page.getByRole("table", { name: "What runs" }).getByRole("cell").first();
    await cell.getByText(/^(?:Compliant|Non-compliant|Unknown|Allowed)$/).waitFor();
    await cell.getByRole("link").nth(1).waitFor();
    expect((await cell.boundingBox())!.width).toBeGreaterThan(250);
  });

  it("all parts of an environment are reached", async () => {
    const { page } = await site.open(narrow);
    await page.goto(`/${site.org}/environments/shop-prod`);
    await untilSettled(page);
    for (const part of ["What runs", "Settings"]) expect(await isSeen(page, tab(page, part))).toBe(true);
  });

  it("names without a blank make no page too wide, nor one on a wide screen", async () => {
    const { name: org, ask } = await makeOrganization(site, "long-names");
    const env = "W".repeat(150);
    const digests = { [`registry/${env}`]: "a".repeat(64) };
    const put = async (name: string): Promise<void> => {
      await ask("PUT", `/environments/${org}`, { name, type: "server", description: "" });
      await ask("PUT", `/environments/${org}/${name}/report/server`, {
        artifacts: [{ digests, creationTimestamp: 1_700_000_000 }],
      });
    };
    await put(env);
    await put("dock");
    const { page } = await site.open(narrow);
    for (const viewport of [narrow.viewport, low.viewport]) {
      await page.setViewportSize(viewport);
      for (const path of ["", "/changes", `/environments/${env}/settings`]) {
        await page.goto(`/${org}${path}`);
        await untilSettled(page);
        await page.getByText(env).first().waitFor();
        const width = await page.evaluate<number>("document.documentElement.scrollWidth");
        expect(width, `${path} at ${viewport.width}`).toBeLessThanOrEqual(viewport.width);
      }
    }
  });

  it.each(["/-/profile", "/-/organizations", "/-/instance"])(
    "%s offers the theme and to sign out",
    async (path) => {
      const { page } = await site.open(narrow);
      await page.goto(path);
      await untilSettled(page);
      const account = page.locator("header [popovertarget]");
      expect(await isSeen(page, account)).toBe(true);
      await account.click();
      await page.getByRole("button", { name: "Dark" }).click();
      await account.click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL(/\/-\/sign-in/);
    },
  );
});

describe.skipIf(!hasBrowser)("words", { timeout: 60_000 }, () => {
  it("of the search and the comparison are those of other pages", async () => {
    const site = await openSite();
    const { page } = await site.open();
    await page.goto(`/${site.org}/diff`);
    expect(await page.getByLabel("Before").getAttribute("placeholder")).toBe("prod~1");
    expect(await page.getByLabel("After").getAttribute("placeholder")).toBe("prod");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Search" }).first().click();
    await page.getByRole("dialog").getByRole("combobox").fill("shop-prod");
    await page
      .getByRole("option", { name: /shop-prod.*Kubernetes/ })
      .first()
      .waitFor();
  });
});
