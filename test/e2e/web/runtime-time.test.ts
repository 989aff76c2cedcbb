import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { ownRequests, patient, tab } from "../../support/web-page.ts";
import { openSite, untilSettled, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("what ran, and what changed", { timeout: 60_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  it("lists snapshots, and compares two that are picked", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod`);
    await tab(page, "Timeline").click();
    await page.getByLabel("Pick snapshot 7").check();
    await page.getByLabel("Pick snapshot 9").check();
    await page.reload();
    await page.getByRole("link", { name: "Compare 7 with 9" }).click();
    const pairs = page.getByRole("table", { name: "New versions" });
    await pairs.getByText("registry/checkout-api:1.20.0").waitFor();
    await pairs.getByText("registry/checkout-api:1.20.3").waitFor();
    await page.getByRole("slider", { name: "Before" }).focus();
    requests.length = 0;
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/from=shop-prod%238/);
    await page.getByRole("link", { name: "shop-prod#8" }).waitFor();
    await page.getByRole("link", { name: "a week before", exact: true }).waitFor();
    await page.getByRole("link", { name: "previous", exact: true }).click();
    await page.getByText("Unchanged").waitFor();
    expect(await page.getByLabel("Before", { exact: true }).first().inputValue()).toBe("shop-prod#8");
    await page.goto(`/${site.org}/diff`);
    await page.getByLabel("Before").fill("shop-staging");
    await page.getByLabel("After").fill("shop-prod");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Compare shop-staging with shop-prod" }).waitFor();
    await page.goto(`/${site.org}/diff?from=shop-prod&to=shop-prod`);
    await page.getByRole("heading", { name: "Nothing differs" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("takes the handle that is nearest to the pointer along, and compares where it is let go", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/diff?from=shop-prod%237&to=shop-prod`);
    const before = page.getByRole("slider", { name: "Before" });
    const after = page.getByRole("slider", { name: "After" });
    await before.waitFor();
    const from = await before.boundingBox();
    await page.mouse.move(from!.x + 2, from!.y + 20);
    await page.mouse.down();
    await page.mouse.move(from!.x - 8, from!.y + 20);
    await page.mouse.move(1, from!.y + 20);
    await expect.poll(() => before.getAttribute("aria-valuetext"), patient).toMatch(/^Snapshot 1 /);
    expect(page.url()).toContain("from=shop-prod%237");
    await page.mouse.up();
    await page.waitForURL(/from=shop-prod%231&to=shop-prod$/);
    // What is compared now may have moved what stands around.
    await untilSettled(page);
    const to = await after.boundingBox();
    await page.mouse.click(to!.x + to!.width / 2, to!.y + 20);
    await page.waitForURL(/to=shop-prod%239$/);
    await page.getByText(/^Judged by other policies/).waitFor();
    await page.getByRole("link", { name: /^known-origin: not attached → v\d/ }).click();
    await page.getByRole("heading", { name: "known-origin", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("compares environments, each with its own time, in four requests", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/diff?from=shop-prod%238&to=shop-prod`);
    await page.getByRole("button", { name: "another environment" }).click();
    await page.getByRole("combobox", { name: "Before" }).fill("shop-staging");
    requests.length = 0;
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=shop-staging&to=shop-prod$/);
    await page.getByRole("link", { name: /^shop-staging#\d+$/ }).waitFor();
    await page.getByRole("slider", { name: "Before" }).waitFor();
    await page.getByRole("slider", { name: "After" }).focus();
    expect(ownRequests(requests).length).toBeLessThanOrEqual(4);
    await page.keyboard.press("Home");
    await page.waitForURL(/from=shop-staging&to=shop-prod%231$/);
    expect(complaints).toEqual([]);
  });

  it("tells what happened in an environment, for spreadsheets as well", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod/log`);
    const rows = page.getByRole("table", { name: "What changed" }).getByRole("row");
    await expect.poll(() => rows.count(), patient).toBeGreaterThan(10);
    await page.getByLabel("Repo").selectOption("harborlight/checkout");
    await page.waitForURL(/repo=/);
    await page.reload();
    await page.getByText("registry/checkout-api:1.20.3").first().waitFor();
    expect(await page.getByText("registry/storefront-web").count()).toBe(0);
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.csv$/);
    await page.getByRole("link", { name: "#9" }).first().click();
    await page.getByRole("heading", { name: "Snapshot 9", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("tells what changed everywhere, and says it when nothing did", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/changes`);
    await page.getByRole("link", { name: /exited/ }).waitFor();
    await page.getByRole("table", { name: "What changed" }).getByRole("row").nth(3).waitFor();
    expect(ownRequests(requests).length).toBeLessThanOrEqual(2);
    await page.getByRole("link", { name: /verdict changed/ }).click();
    await page.waitForURL(/kind=verdict/);
    await page
      .getByText(/became (?:non-)?compliant/)
      .first()
      .waitFor();
    await page.getByRole("navigation", { name: "By environment" }).getByRole("link").first().click();
    await page.waitForURL(/environment=/);
    await page.reload();
    await page.getByRole("button", { name: /Without the filter for environment/ }).click();
    await page.getByLabel("Tag", { exact: true }).selectOption("stage:prod");
    await page.waitForURL(/tag=stage%3Aprod/);
    await expect.poll(() => page.getByRole("link", { name: "shop-staging" }).count(), patient).toBe(0);
    await page.goto(`/${site.org}/changes?since=7d&environment=no-such`);
    await page.getByText(/^Nothing like this changed since \d{4}-/).waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("table", { name: "What changed" }).getByRole("row").nth(3).waitFor();
    const { name: still } = await makeOrganization(site, "still-water");
    await page.goto(`/${still}/changes`);
    await page.getByText(/^Nothing changed since yesterday \d\d:\d\d$/).waitFor();
    expect(complaints).toEqual([]);
  });
});
