import { readFile } from "node:fs/promises";

import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { ownRequests, patient, provenancePolicy } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const nameOf = (place: number): string => `crowd/app-${String(place).padStart(4, "0")}:1`;

/** A report of artifacts with these numbers. */
const reportOf = (from: number, to: number) => ({
  artifacts: Array.from({ length: to - from }, (_, at) => ({
    digests: { [nameOf(from + at)]: String(from + at).padStart(64, "0") },
    creationTimestamp: 1_700_000_000 + from + at,
  })),
});

describe.skipIf(!hasBrowser)("large environments", { timeout: 90_000 }, () => {
  let site: WebSite;
  let organization: OwnOrganization;
  let org: string;
  beforeAll(async () => {
    site = await openSite();
    organization = await makeOrganization(site, "crowd");
    org = organization.name;
    await organization.putPolicy("known", provenancePolicy);
  }, 180_000);

  async function makeEnvironment(name: string): Promise<void> {
    const environment = { name, type: "docker", description: "", policies: ["known"] };
    await organization.ask("PUT", `/environments/${org}`, environment);
  }

  function report(name: string, from: number, to: number): Promise<unknown> {
    return organization.ask("PUT", `/environments/${org}/${name}/report/docker`, reportOf(from, to));
  }

  it("draws of 800 artifacts those near the window, and finds any of them", async () => {
    await makeEnvironment("crowded");
    await report("crowded", 0, 800);
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/crowded/snapshots/latest?sort=name`);
    const table = page.getByRole("table", { name: "What runs here" });
    await table.getByText(nameOf(0)).waitFor();
    expect(await table.getAttribute("aria-rowcount")).toBe("801");
    expect(await table.getByRole("row").count()).toBeLessThan(100);
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await table.getByText(nameOf(799)).waitFor();
    await page.getByRole("button", { name: `Why ${nameOf(799)}` }).click();
    await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
    await page.getByRole("searchbox").fill("app-041");
    await expect.poll(() => table.getByRole("row").count(), patient).toBe(11);
    expect(complaints).toEqual([]);
  });

  it("filters what it holds at each key, before the address says so", async () => {
    const { page } = await site.open();
    await page.goto(`/${org}/environments/crowded`);
    const table = page.getByRole("table", { name: "What runs here" });
    await table.getByText(nameOf(0)).waitFor();
    // What is painted next is the filtered list, although the address follows only when nothing more is typed.
    const shown: unknown = await page.evaluate(`new Promise((done) => {
      const field = document.querySelector('input[type="search"]');
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
      set.call(field, "app-0799");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      const look = () => {
        const rows = document.querySelectorAll("main tbody tr[data-row]").length;
        if (rows === 1) done(location.search);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    })`);
    expect(shown).toBe("");
    await page.waitForURL(/q=app-0799/);
  });

  it("lets the server filter, sort and cut into pages what is more than a thousand", async () => {
    await makeEnvironment("throng");
    await report("throng", 0, 1_210);
    await report("throng", 5, 1_211);
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${org}/environments/throng?sort=name`);
    const table = page.getByRole("table", { name: "What runs here" });
    await table.getByText(nameOf(5)).waitFor();
    expect(ownRequests(requests)).toHaveLength(4);
    expect(await table.getByRole("row").count()).toBe(101);
    await page.getByText("1–100 of 1,206").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.waitForURL(/page=2/);
    await table.getByText(nameOf(105)).waitFor();
    await page.reload();
    await table.getByText(nameOf(105)).waitFor();
    await page.getByRole("searchbox").fill("app-12");
    await page.getByText("1–11 of 11").waitFor();
    await page.getByLabel("Change").selectOption({ label: "Started (1)" });
    await page.getByText("1–1 of 1", { exact: true }).waitFor();
    await page.getByRole("button", { name: `Why ${nameOf(1210)}` }).click();
    await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
    await page.getByLabel("Provenance").selectOption({ label: "Proven (0)" });
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByText("Exited with this snapshot (5)").click();
    const exited = page.getByRole("table", { name: "Exited" });
    await exited.getByText(nameOf(4)).waitFor();
    requests.length = 0;
    await page.goto(`/${org}/environments/throng/snapshots/1?verdict=non-compliant`);
    await page.getByText("1–100 of 1,210").waitFor();
    expect(ownRequests(requests)).toHaveLength(4);
    await page.getByRole("button", { name: "Export" }).click();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    const lines = (await readFile(await (await downloading).path(), "utf8")).trim().split("\n");
    expect(lines).toHaveLength(1_211);
    expect(complaints).toEqual([]);
  });

  it("keeps what is read while newer snapshots come, and shows them when asked to", async () => {
    const moving = uniqueName("moving");
    await makeEnvironment(moving);
    for (const count of [1, 2]) await report(moving, 0, count);
    // Each snapshot has as many artifacts as its number says.
    for (const [address, next] of [
      [moving, 2],
      [`${moving}/snapshots/latest`, 4],
    ] as const) {
      const { page } = await site.open();
      await page.goto(`/${org}/environments/${address}`);
      const table = page.getByRole("table", { name: "What runs here" });
      await table.getByText(nameOf(next - 1)).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      await report(moving, 0, next + 1);
      await page.getByText("1 newer snapshot", { exact: true }).waitFor();
      await report(moving, 0, next + 2);
      await page.getByText("2 newer snapshots").waitFor();
      expect(await table.getByText(nameOf(next)).count()).toBe(0);
      // So do its head and its keys.
      const before = page.getByRole("link", { name: "Previous" });
      expect(await before.getAttribute("href")).toBe(`/${org}/environments/${moving}/snapshots/${next - 1}`);
      const change = page.getByRole("link", { name: "What it changed" });
      expect(new URL((await change.getAttribute("href"))!, site.url).search).toBe(
        `?from=${moving}%23${next - 1}&to=${moving}%23${next}`,
      );
      expect(await page.locator("main [data-permanent]").getAttribute("data-permanent")).toBe(
        `/${org}/environments/${moving}/snapshots/${next}`,
      );
      await page.getByRole("button", { name: "Export" }).click();
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      expect((await downloading).suggestedFilename()).toBe(`${org}-${moving}-${next}-artifacts.csv`);
      await page.getByRole("button", { name: "Show" }).click();
      await table.getByText(nameOf(next + 1)).waitFor();
      expect(await page.getByText(/newer snapshot/).count()).toBe(0);
      const permanent = page.locator(`main [data-permanent$="/snapshots/${next + 2}"]`);
      await expect.poll(() => permanent.count(), patient).toBe(1);
    }
  });

  it("shows the first snapshot at once", async () => {
    const fresh = uniqueName("fresh");
    await makeEnvironment(fresh);
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/${fresh}`);
    await page.getByRole("heading", { name: "Nobody has reported what runs here" }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await report(fresh, 0, 1);
    await page.getByRole("table", { name: "What runs here" }).getByText(nameOf(0)).waitFor();
    expect(complaints).toEqual([]);
  });
});
