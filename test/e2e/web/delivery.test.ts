import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { ask } from "../../support/site.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));

describe.skipIf(!hasBrowser)("delivery", { timeout: 60_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  it("lists flows as filters in the address say", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/flows`);
    await page.getByRole("link", { name: "gateway-ci", exact: true }).waitFor();
    await page
      .getByRole("img", { name: /^The latest \d+: \d+ compliant/ })
      .first()
      .waitFor();
    expect(own(requests)).toHaveLength(1);
    await page.getByRole("searchbox", { name: "Filter by name" }).fill("CHECKOUT");
    await page.waitForURL(/search=CHECKOUT/);
    await expect.poll(() => page.getByRole("link", { name: "gateway-ci", exact: true }).count()).toBe(0);
    await page.reload();
    await page.getByRole("link", { name: "checkout-ci", exact: true }).waitFor();
    await page.goto(`/${site.org}/flows?search=no-such-flow`);
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("link", { name: "gateway-ci", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows which trails lack evidence, and filters to them by its column", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/checkout-ci`);
    const matrix = page.getByRole("table", { name: "Trails of checkout-ci" });
    await matrix
      .getByRole("link", { name: /^sonar: Missing/ })
      .first()
      .waitFor();
    expect(own(requests)).toHaveLength(2);
    // Rows are drawn near the window only.
    const trails = async (): Promise<number> => Number(await matrix.getAttribute("aria-rowcount"));
    const before = await trails();
    await matrix.getByRole("button", { name: /^Trails on which sonar is missing/ }).click();
    await page.waitForURL(/missing=sonar/);
    await expect.poll(() => matrix.getByRole("link", { name: /^sonar: Met/ }).count()).toBe(0);
    await page.reload();
    await matrix
      .getByRole("link", { name: /^sonar: Missing/ })
      .first()
      .waitFor();
    expect(await trails()).toBeLessThan(before);
    await page.getByRole("button", { name: "Take away the filter: sonar is missing" }).click();
    await expect.poll(trails).toBe(before);
    expect(complaints).toEqual([]);
  });

  it("moves in the matrix by arrow keys, and opens what is there", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/checkout-ci?failing=sonar`);
    const matrix = page.getByRole("table", { name: "Trails of checkout-ci" });
    const trail = matrix.getByRole("rowheader").first().getByRole("link");
    await trail.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/trails\/[^?]+\?attestation_id=/);
    const panel = page.getByRole("dialog", { name: "sonar" });
    await panel.getByRole("table", { name: "Conditions of the quality gate" }).waitFor();
    await panel.getByText("new_coverage", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => new URL(page.url()).search).toBe("");
    expect(complaints).toEqual([]);
  });

  it("says what a trail needs, where its artifacts run, and how an auditor takes it away", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/checkout-ci?failing=sonar`);
    await page.getByRole("rowheader").first().getByRole("link").click();
    await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
    await page.getByRole("table", { name: "Artifacts of this trail" }).waitFor();
    const name = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1)!);
    requests.length = 0;
    await page.reload();
    await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
    expect(own(requests)).toHaveLength(2);
    await page.getByRole("button", { name: "Audit" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "PDF" }).click();
    expect((await download).suggestedFilename()).toMatch(/\.pdf$/);
    await page.getByRole("link", { name: /^Attestation unit-tests/ }).click();
    await page
      .getByRole("dialog", { name: "unit-tests" })
      .getByRole("table", { name: "Test suites" })
      .waitFor();
    await page.goto(`/${site.org}/trails?search=${name.slice(0, 9)}`);
    await page.getByRole("link", { name: name.slice(0, 7), exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says which part of an address is missing", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/no-such-flow`);
    await page
      .getByText(/no-such-flow/)
      .nth(1)
      .waitFor();
    await page.getByRole("heading", { name: "This is not here" }).waitFor();
    await page.goto(`/${site.org}/flows/checkout-ci/trails/no-such-trail`);
    await page.getByRole("heading", { name: "This is not here" }).waitFor();
    await page.goto(`/${site.org}/trails?search=no-such-trail`);
    await page.getByRole("heading", { name: "No trail matches" }).waitFor();
    // A browser says of every refused request that it was refused.
    expect(complaints.filter((complaint) => !complaint.includes("status of 404"))).toEqual([]);
  });

  it("sets tags of a flow, and takes them away", async () => {
    const { page } = await site.open();
    await page.goto(`/${site.org}/flows/checkout-ci/settings`);
    const rename = page.getByRole("button", { name: "Rename" });
    // Until the caller's role is known, nothing may be done.
    await expect.poll(() => rename.getAttribute("aria-disabled")).toBeNull();
    await page.getByLabel("New tag").fill("tier");
    await page.getByLabel("Value").fill("one");
    await page.getByRole("button", { name: "Set the tag" }).click();
    await page.getByRole("button", { name: "Remove tag tier" }).waitFor();
    await page.getByRole("button", { name: "Remove tag tier" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Remove tag tier" }).count()).toBe(0);
  });

  it("says in words and numbers how the trails of a flow went", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/checkout-ci/statistics`);
    await page
      .getByText(/trails began/)
      .first()
      .waitFor();
    expect(own(requests).length).toBeLessThanOrEqual(4);
    await page.getByRole("button", { name: "Show as a table" }).first().click();
    await page.getByRole("table", { name: "Trails by day" }).waitFor();
    await page.getByRole("link", { name: /^\d+ trails?$/ }).click();
    await page.waitForURL(/\/flows\/checkout-ci\?since=30d$/);
    await page.getByRole("table", { name: "Trails of checkout-ci" }).waitFor();
    await page.goto(`/${site.org}/flows/checkout-ci/statistics?period=90d`);
    const counts = page.getByRole("table", { name: "Evidence by attestation" }).getByRole("link");
    await counts.first().waitFor();
    for (const count of await counts.all())
      expect(await count.getAttribute("href")).toMatch(/\?(?:.*&)?since=90d(?:&|$)/);
    expect(complaints).toEqual([]);
  });

  it("goes on to older trails where none of those that were searched matches", async () => {
    const { page, complaints } = await site.open();
    const reach = Math.floor(Date.now() / 1000);
    // Ten thousand trails are too many to make.
    await page.route(/\/api\/v2\/trails\/[^/]+\?(?!.*end_ts)/, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const answer = await ask(site, "GET", pathname.replace("/api/v2", "") + search);
      const nothing = { data: [], pagination: { ...answer.pagination, total: 0 } };
      await route.fulfill({ json: { ...answer, ...nothing, truncated: true, searched_since: reach } });
    });
    await page.goto(`/${site.org}/trails?state=COMPLIANT`);
    await page.getByRole("heading", { name: "No trail matches" }).waitFor();
    expect(await page.getByText("None of this organization's trails").count()).toBe(0);
    await page.getByRole("button", { name: "Search older ones" }).click();
    await page.waitForURL(new RegExp(`before=${reach}`));
    await page.getByRole("table", { name: "Trails" }).getByRole("link").first().waitFor();
    expect(complaints).toEqual([]);
  });
});
