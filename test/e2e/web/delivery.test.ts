import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { ask } from "../../support/site.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { holdAnswers } from "../../support/web-page.ts";
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
    // The trail fails, and its artifacts with it: what they show here is what they have themselves.
    const artifacts = page.getByRole("table", { name: "Artifacts of this trail" });
    await artifacts.getByRole("columnheader", { name: "Own evidence" }).waitFor();
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
    await page.route(/\/api\/v2\/trails\/[^?]+\?(?!.*end_ts)/, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const answer = await ask(site, "GET", pathname.replace("/api/v2", "") + search);
      const nothing = { data: [], pagination: { ...answer.pagination, total: 0 } };
      await route.fulfill({ json: { ...answer, ...nothing, truncated: true, searched_since: reach } });
    });
    for (const [path, whose] of [
      ["trails", "this organization's"],
      ["flows/checkout-ci", "this flow's"],
    ]) {
      await page.goto(`/${site.org}/${path}?state=COMPLIANT`);
      await page.getByRole("heading", { name: "No trail matches" }).waitFor();
      await page.getByText(`None of the newest 10,000 of ${whose} trails is as the filters say.`).waitFor();
      await page.getByText("Only the newest 10,000 trails were searched").waitFor();
      await page.getByRole("button", { name: "Search older ones" }).click();
      await page.waitForURL(new RegExp(`${path}\\?.*before=${reach}`));
      await page
        .getByRole("table", { name: /^Trails/ })
        .getByRole("link")
        .first()
        .waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it("says that none of the older trails matches, as far as they were searched", async () => {
    const { page, complaints } = await site.open();
    const reach = Math.floor(Date.now() / 1000) - 3_600;
    await page.route(/\/api\/v2\/trails\//, (route) =>
      route.fulfill({
        json: {
          data: [],
          pagination: { total: 0, page: 1, per_page: 50, total_pages: 0 },
          truncated: true,
          searched_since: reach,
        },
      }),
    );
    await page.goto(`/${site.org}/flows/checkout-ci?state=COMPLIANT&before=${reach + 60}`);
    await page.getByText("None of the next 10,000 of this flow's trails is as the filters say.").waitFor();
    await page.getByText("Only the next 10,000 trails were searched").waitFor();
    expect(complaints).toEqual([]);
  });

  it("says of which space the flows are that are listed, and goes on to all", async () => {
    const { name: org, ask: askOwn } = await makeOrganization(site, "shelves");
    for (const name of ["inner-ci", "outer-ci"])
      await askOwn("PUT", `/flows/${org}`, { name, description: "", visibility: "private" });
    for (const name of ["East", "West"]) await askOwn("POST", `/spaces/${org}`, { name });
    const spaces = await askOwn<{ id: string; name: string }[]>("GET", `/spaces/${org}`);
    const [east, west] = ["East", "West"].map((name) => spaces.find((space) => space.name === name)!.id);
    await askOwn("PATCH", `/flows/${org}/inner-ci`, { space_id: east });
    const { page, complaints } = await site.open();
    const outer = page.getByRole("link", { name: "outer-ci", exact: true });
    await page.goto(`/${org}/flows?space_id=${east}`);
    await page.getByRole("link", { name: "inner-ci", exact: true }).waitFor();
    expect(await outer.count()).toBe(0);
    await page.getByRole("button", { name: "Take away the filter: space East" }).click();
    await outer.waitFor();
    await page.goto(`/${org}/flows?space_id=${west}`);
    await page.getByRole("heading", { name: "No flow matches" }).waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await outer.waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows nothing of another flow or environment while one is read", async () => {
    const { page, complaints } = await site.open();
    const shown = page.locator("main :is(table a, figure)");
    for (const [kind, from, to, parts] of [
      ["flows", "checkout-ci", "gateway-ci", ["", "/artifacts", "/statistics"]],
      ["environments", "shop-prod", "warehouse-prod", ["/snapshots", "/log", "/deployments"]],
    ] as const)
      for (const part of parts) {
        const release = await holdAnswers(page, new RegExp(`/api/v2/.*${to}`));
        await page.goto(`/${site.org}/${kind}/${from}${part}`);
        await shown.first().waitFor();
        await page.keyboard.press("/");
        await page
          .getByRole("combobox", { name: "Search" })
          .fill(`${site.url}/${site.org}/${kind}/${to}${part}`);
        await page.getByRole("option", { name: / Open$/ }).click();
        await page.getByRole("heading", { name: to, level: 1 }).waitFor();
        expect(await shown.count()).toBe(0);
        release();
        await shown.first().waitFor();
        await page.unroute(new RegExp(`/api/v2/.*${to}`));
      }
    expect(complaints).toEqual([]);
  });
});
