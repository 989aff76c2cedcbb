import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { ownRequests, patient, provenancePolicy } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("what runs", { timeout: 60_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  it("lists environments as filters in the address say, and leads to what fails in them", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments`);
    await page.getByLabel("State").selectOption("NON-COMPLIANT");
    await page.getByRole("link", { name: "3 failing" }).first().waitFor();
    const compliant = page.getByRole("link", { name: "gateway-prod", exact: true });
    await expect.poll(() => compliant.count(), patient).toBe(0);
    await page.reload();
    await page.getByRole("link", { name: "shop-prod", exact: true }).waitFor();
    const row = page.getByRole("row", { name: /shop-prod/ });
    await row.getByRole("link", { name: "3 failing" }).click();
    await page.getByRole("heading", { name: "shop-prod", level: 1 }).waitFor();
    await page.getByRole("button", { name: /^Why/ }).first().waitFor();
    expect(await page.getByRole("button", { name: /^Why/ }).count()).toBe(3);
    await page.goto(`/${site.org}/environments?name=no-such-thing`);
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("link", { name: "shop-prod", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("filters environments by tag, policy and space as well, all of which the address keeps", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/environments`);
    await page.getByLabel("Tag", { exact: true }).selectOption("stage:prod");
    expect(ownRequests(requests).length).toBeLessThanOrEqual(5);
    await page.getByLabel("Policy", { exact: true }).selectOption("tested-and-reviewed");
    await page.getByLabel("Space", { exact: true }).selectOption({ label: "Engineering" });
    await page.waitForURL(/tag=.*policy=.*space_id=/);
    await page.getByRole("button", { name: "Changed" }).click();
    await page.waitForURL(/sort=last_changed_at/);
    await page.reload();
    const rows = page.getByRole("table", { name: "Environments" }).getByRole("row");
    await page.getByRole("link", { name: "shop-prod", exact: true }).waitFor();
    await expect.poll(() => rows.count(), patient).toBeLessThan(5);
    expect(await page.getByLabel("Tag", { exact: true }).inputValue()).toBe("stage:prod");
    await expect
      .poll(() => page.getByLabel("Policy", { exact: true }).inputValue(), patient)
      .toBe("tested-and-reviewed");
    await page.getByLabel("Policy", { exact: true }).selectOption("");
    await expect.poll(() => page.url(), patient).not.toContain("policy=");
    await page.goto(`/${site.org}/environments/shop-prod`);
    await page.getByRole("link", { name: "stage: prod" }).click();
    await page.waitForURL(/\/environments\?tag=stage%3Aprod$/);
    await page.getByRole("link", { name: "gateway-prod", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows an environment with its time, in four requests", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod`);
    const strip = page.getByRole("slider", { name: "Snapshot" });
    await strip.waitFor();
    await page.getByText("Exited with this snapshot").waitFor();
    expect(ownRequests(requests)).toHaveLength(4);
    await strip.focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByText(/^Snapshot 8 · Non-compliant/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Snapshot 8", level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/${site.org}/environments/shop-prod/snapshots/8`);
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByRole("heading", { name: "Snapshot 9", level: 1 }).waitFor();
    await page.getByRole("button", { name: /^Next/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says why an artifact fails when asked, and the command that mends it does", async () => {
    const { name: org, ask, putPolicy } = await makeOrganization(site, "mended");
    await putPolicy("known", provenancePolicy);
    const environment = { name: "prod", type: "docker", description: "", policies: ["known"] };
    await ask("PUT", `/environments/${org}`, environment);
    const artifacts = [{ digests: { "tools/debug:1": "d".repeat(64) }, creationTimestamp: 1_700_000_000 }];
    await ask("PUT", `/environments/${org}/prod/report/docker`, { artifacts });
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${org}/environments/prod/snapshots/latest`);
    await page.getByRole("button", { name: "Why tools/debug:1" }).waitFor();
    expect(ownRequests(requests).filter((request) => request.includes("/explain"))).toEqual([]);
    await page.getByRole("button", { name: "Why tools/debug:1" }).click();
    await page.getByText("No flow knows this artifact").last().waitFor();
    expect(ownRequests(requests)).toHaveLength(4);
    await page.reload();
    const block = page.getByLabel("command that reports the artifact", { exact: true });
    const command = await block.innerText();
    expect(command).toContain("$WAYBILL_KEY");
    await ask("PUT", `/flows/${org}`, { name: "my-flow", description: "", visibility: "private" });
    const env = { ...process.env, WAYBILL_KEY: site.key };
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], { env });
    expect(JSON.parse(stdout)).toEqual({ message: "OK" });
    await page.getByRole("button", { name: "Command-line client" }).click();
    expect(await block.innerText()).toContain("attest artifact");
    expect(complaints).toEqual([]);
  });

  it("tells of an artifact what it took the place of, its code and its pods", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod?q=checkout-api`);
    const table = page.getByRole("table", { name: "What runs here" });
    await table
      .getByRole("button", { name: /^Why registry\/checkout-api/ })
      .first()
      .click();
    await table.getByText("Took the place of").waitFor();
    await table.getByText("registry/checkout-api:1.20.3").waitFor();
    await table.getByText(/from the commit to its first start$/).waitFor();
    await table.getByText(/^\d+ pods$/).click();
    await table
      .getByText(/^checkout-api-/)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it("says of deployments since when their lead time counts, as it is not that of what runs", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod/deployments`);
    await page.getByRole("columnheader", { name: "Lead time from build" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("filters and sorts what ran, and keeps both in the address", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod/snapshots/8`);
    const rows = page.getByRole("table", { name: "What runs here" }).getByRole("row");
    await page.getByRole("button", { name: "Artifact" }).click();
    await page.getByRole("searchbox").fill("checkout");
    await page.waitForURL(/q=checkout/);
    await expect.poll(() => rows.count(), patient).toBe(3);
    await page.reload();
    await expect.poll(() => rows.count(), patient).toBe(3);
    expect(await rows.nth(1).innerText()).toContain("checkout-api");
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await expect.poll(() => rows.count(), patient).toBeGreaterThan(3);
    expect(complaints).toEqual([]);
  });

  it("looks at what ran before through the same filters", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod?q=checkout&sort=name`);
    await page.getByRole("table", { name: "What runs here" }).getByText("checkout-api").first().waitFor();
    await page.getByRole("slider", { name: "Snapshot" }).focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/snapshots\/8\?q=checkout&sort=name$/);
    await page.getByRole("heading", { name: "Snapshot 8", level: 1 }).waitFor();
    await page.getByLabel("What ran here at").fill("2090-01-01T02:13:00");
    await page.getByRole("button", { name: "What ran then" }).click();
    await page.waitForURL(/\/snapshots\/%40[^?]*\?q=checkout&sort=name$/);
    expect(complaints).toEqual([]);
  });

  it("answers what ran at a moment, also when nothing did", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/gateway-prod`);
    await page.getByLabel("What ran here at").fill("2020-01-01T02:13:00");
    await page.getByRole("button", { name: "What ran then" }).click();
    await page.getByRole("heading", { name: "Nothing was known of this moment" }).waitFor();
    await page.getByLabel("What ran here at").fill("2090-01-01T02:13:00");
    await page.getByRole("button", { name: "What ran then" }).click();
    await page.getByRole("heading", { name: /^Snapshot \d+$/, level: 1 }).waitFor();
    await page.goto(`/${site.org}/environments/gateway-prod/snapshots/~1`);
    await page.getByRole("heading", { name: "Snapshot 7", level: 1 }).waitFor();
    await page.goto(`/${site.org}/environments/gateway-prod/snapshots/999`);
    await page.getByRole("heading", { name: "There is no such snapshot" }).waitFor();
    await page.goto(`/${site.org}/environments/no-such`);
    await page.getByText("Environment named 'no-such' does not exist").first().waitFor();
    // A browser says of every refused request that it was refused.
    expect(complaints.filter((complaint) => !complaint.includes("status of 404"))).toEqual([]);
  });

  it("tells how to report on an environment that nobody has reported on", async () => {
    const { page } = await site.open();
    await page.goto(`/${site.org}/environments?state=NEVER-REPORTED&type=K8S`);
    await page.getByRole("link", { name: "checkout-dev-eu-north-013" }).click();
    await page.getByRole("heading", { name: "Nobody has reported what runs here" }).waitFor();
    const command = await page.getByLabel("reporter's command", { exact: true }).innerText();
    expect(command).toContain(`/environments/${site.org}/checkout-dev-eu-north-013/report/K8S`);
  });

  it("asks strangers to sign in", async () => {
    const { page } = await site.open({ key: null });
    await page.goto(`/${site.org}/environments/shop-prod`);
    await page.getByRole("heading", { name: "Sign in to see this" }).first().waitFor();
    expect(await page.getByRole("table").count()).toBe(0);
  });
});
