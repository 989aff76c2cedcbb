import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));

/** What a busy machine may need until a list is there. */
const slow = { timeout: 15_000 };

describe.skipIf(!hasBrowser)("repos and attestations", { timeout: 60_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  it("filters repos, keeps that in the address, and leads to one", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/repos`);
    const rows = page.getByRole("table", { name: "Repos" }).getByRole("row");
    await page.getByRole("link", { name: "apps/pocket", exact: true }).waitFor();
    expect(own(requests)).toHaveLength(2);
    await page.getByRole("searchbox").fill("gateway");
    await page.waitForURL(/search=gateway/);
    await expect.poll(() => rows.count(), slow).toBe(2);
    await page.reload();
    await expect.poll(() => rows.count(), slow).toBe(2);
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("link", { name: "platform/edge/gateway", exact: true }).click();
    await page.getByRole("heading", { name: "platform/edge/gateway", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says how often a repo is built and deployed, how long that takes, and what of it runs", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/repos/platform/edge/gateway`);
    await page.getByText(/^\d+ builds in 28 days/).waitFor();
    await page.getByRole("table", { name: "Builds", exact: true }).getByRole("row").nth(1).waitFor();
    expect(own(requests)).toHaveLength(3);
    await page.getByLabel("Period").selectOption("90");
    await page.getByText(/^\d+ builds in 90 days/).waitFor();
    await page.getByRole("link", { name: "Release" }).click();
    await page.getByText("14 deployments into 2 environments in 90 days", { exact: false }).waitFor();
    await page.getByText("p99").waitFor();
    expect(
      await page.getByRole("link", { name: "Build", exact: true }).getAttribute("aria-current"),
    ).toBeNull();
    await page.getByLabel("gateway-prod").check();
    await page.getByText("7 deployments into 1 environment in 90 days", { exact: false }).waitFor();
    const deployments = page.getByRole("table", { name: "Deployments", exact: true }).getByRole("row");
    await expect.poll(() => deployments.count(), slow).toBe(8);
    await page.reload();
    await expect.poll(() => deployments.count(), slow).toBe(8);
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page
      .getByRole("table", { name: "What of it runs" })
      .getByRole("link", { name: "gateway-prod" })
      .waitFor();
    await page.goto(`/${site.org}/repos/no/such`);
    await page.getByRole("heading", { name: "This is not here" }).waitFor();
    expect(complaints.filter((complaint) => !complaint.includes("status of 404"))).toEqual([]);
  });

  it("shows a repo whatever an address says of its parts and times", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/repos/platform/edge/gateway?tab=other&days=some&page=-1`);
    await page.getByText(/^\d+ builds in 28 days/).waitFor();
    expect(complaints).toEqual([]);
  });

  it("filters attestations, pages through them, and keeps both in the address", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/attestations`);
    const rows = page.getByRole("table", { name: "Attestations" }).getByRole("row");
    await expect.poll(() => rows.count(), slow).toBe(51);
    // But for the time, which goes on.
    const rowText = async (): Promise<string> => (await rows.nth(1).innerText()).replace(/\t[^\t]*$/, "");
    const newest = await rowText();
    await page.getByRole("link", { name: "Older" }).click();
    await page.waitForURL(/after=/);
    await page.getByRole("link", { name: "To the newest" }).click();
    await expect.poll(rowText, slow).toBe(newest);
    await page.getByLabel("Verdict").selectOption("non-compliant");
    await page.getByLabel("Type").selectOption("junit");
    await page.waitForURL(/type=junit/);
    await page.reload();
    await page.getByText("junit", { exact: true }).nth(1).waitFor();
    expect(await page.getByRole("table").getByText("Compliant", { exact: true }).count()).toBe(0);
    await page.getByRole("searchbox", { name: "Name", exact: true }).fill("no (such");
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await expect.poll(() => rows.count(), slow).toBe(51);
    expect(complaints).toEqual([]);
  });

  it("asks to sign in where nobody may look", async () => {
    const { page } = await site.open({ key: null });
    await page.goto(`/${site.org}/repos`);
    await page.getByRole("heading", { name: "Sign in to see this" }).first().waitFor();
    await page.goto(`/${site.org}/attestations`);
    await page.getByRole("heading", { name: "Sign in to see this" }).first().waitFor();
    expect(await page.getByRole("table").count()).toBe(0);
  });
});
