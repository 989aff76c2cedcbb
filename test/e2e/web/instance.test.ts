import { beforeAll, describe, expect, it } from "vitest";

import { inaccessible } from "../../support/axe.ts";
import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("the pages about the installation", { timeout: 120_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 300_000);

  it.each([
    ["/-/instance/health", "Secret key"],
    ["/-/instance/backups", "Last restore drill"],
    ["/-/instance/security", "No key does by these rules."],
    ["/-/instance/log", "Signed in"],
  ])("show at %s how it stands, to whoever reads them in whichever way", async (path, shown) => {
    const { page, complaints } = await site.open();
    await page.goto(path);
    await page.getByText(shown).first().waitFor();
    expect(await inaccessible(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    // So narrow that tables without links are wider than their frames.
    await page.setViewportSize({ width: 200, height: 800 });
    expect(await inaccessible(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it.each(["/-/instance/health", "/-/instance/backups"])(
    "say at %s that they are not for others",
    async (path) => {
      const { keyFor } = await makeOrganization(site, "others");
      const { page } = await site.open({ key: await keyFor("reader") });
      await page.goto(path);
      await page.getByRole("heading", { name: "This is not open to you" }).waitFor();
      expect(await page.getByText("One moment").count()).toBe(0);
    },
  );

  it("show of the log when, what, who and from where, also on a narrow screen", async () => {
    const { page } = await site.open();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto("/-/instance/log?action=sign_in");
      for (const shown of ["Signed in", "127.0.0.1"]) {
        const cell = page.getByRole("cell").getByText(shown).first();
        await cell.waitFor();
        const { x, width: own } = (await cell.boundingBox()) ?? { x: 0, width: Infinity };
        expect([width, shown, x + own < width]).toEqual([width, shown, true]);
      }
      const frame = page.locator("[data-scrolls]");
      expect(await frame.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    }
  });

  it("list of the log what was asked for, and give out all of it", async () => {
    const { page } = await site.open();
    await page.goto("/-/instance/log?action=never_done");
    await page.getByRole("heading", { name: "No entry matches" }).waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("cell", { name: "Signed in" }).first().waitFor();
    expect(new URL(page.url()).search).toBe("");
    await page.getByLabel("Did, such as sign_in_failed").fill("sign_in");
    await page.getByText("method: api_key").first().waitFor();
    await page.waitForURL(/[?]action=sign_in$/);
    await page.getByRole("button", { name: "Export" }).click();
    const link = page.getByRole("link", { name: "Whole log as JSON lines" });
    expect(await link.getAttribute("href")).toBe("/api/v2/instance/audit-log/export?format=jsonl");
  });
});
