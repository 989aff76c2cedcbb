import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { uniqueName } from "../../support/unique-name.ts";
import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));

describe.skipIf(!hasBrowser)("the first pages", { timeout: 90_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  const run = async (command: string): Promise<string> => {
    const env = { ...process.env, WAYBILL_KEY: site.key };
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], { env });
    return stdout;
  };

  /** Opens what a number links to, and expects as many rows there. */
  async function expectCounted(page: Page, link: string | RegExp, total: (count: number) => RegExp) {
    const number = page.getByRole("link", { name: link }).first();
    await number.filter({ hasText: /\d/ }).waitFor();
    const count = Number.parseInt((await number.innerText()).replaceAll(",", ""), 10);
    await number.click();
    await page
      .getByText(count === 0 ? /matches$/ : total(count))
      .first()
      .waitFor();
    await page.goBack();
  }

  it("lead from the bare address to numbers, each of which leads to the list that it counts", async () => {
    const { page: first } = await site.open();
    await first.goto("/");
    await first.getByRole("heading", { name: "First steps", level: 1 }).waitFor();
    expect(new URL(first.url()).pathname).toBe("/main");
    await first.getByRole("button", { name: "main", exact: true }).click();
    // Another organization of the site may have the same name.
    const link = first.getByRole("link", { name: /^Harborlight ·/ });
    await link.and(first.locator(`a[href="/${site.org}"]`)).click();
    await first.getByRole("heading", { name: "Start", level: 1 }).waitFor();
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}`);
    await page.getByRole("heading", { name: "Needs attention" }).waitFor();
    await page.getByText(/of the judged time/).waitFor();
    expect(own(requests)).toHaveLength(3);
    const ofPage = (count: number): RegExp => new RegExp(` of ${count}$`);
    await expectCounted(page, /unproven$/, ofPage);
    await expectCounted(page, /running artifacts$/, ofPage);
    await expectCounted(page, /^\d+ environments$/, ofPage);
    await expectCounted(page, /never reported$/, ofPage);
    await expectCounted(page, /^\d+ trails$/, ofPage);
    await expectCounted(page, /^\d+ non-compliant$/, ofPage);
    await page.getByRole("button", { name: "As a table" }).click();
    expect(
      await page.getByRole("table", { name: "Compliance by day" }).getByRole("row").count(),
    ).toBeGreaterThan(30);
    await page
      .getByRole("region", { name: "Needs attention" })
      .getByRole("link", { name: "shop-prod" })
      .click();
    await page.getByRole("heading", { name: "shop-prod", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("list what runs as the address says, by artifact too, and give it as CSV", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/running`);
    await page.getByLabel("Tag", { exact: true }).selectOption("stage:prod");
    await page.getByLabel("Provenance").selectOption("none");
    const rows = page.getByRole("table", { name: "What runs" }).getByRole("row");
    await expect.poll(() => rows.count()).toBe(5);
    await page.getByLabel("Filter by", { exact: true }).selectOption("environment");
    await page.getByLabel("Name", { exact: true }).fill("shop-prod");
    await page.getByRole("button", { name: "Add" }).click();
    await expect.poll(() => rows.count()).toBe(4);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(4);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("button", { name: "CSV" }).click();
    const csv = await (await download).createReadStream();
    let text = "";
    for await (const piece of csv) text += String(piece);
    expect(text.trim().split("\n")).toHaveLength(4);
    await page.getByRole("button", { name: "Remove Environment: shop-prod" }).click();
    await expect.poll(() => rows.count()).toBe(5);
    await page.goto(`/${site.org}/running?group=artifact&name=identity-admin`);
    await page.getByRole("cell", { name: "2 versions", exact: true }).waitFor();
    await page.goto(`/${site.org}/running?name=no-such-thing`);
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByText(/^1–\d+ of \d+$/).waitFor();
    await page.goto(`/${site.org}/running?fingerprint=nonsense`);
    await page.getByRole("alert").waitFor();
    // A browser says of every refused request that it was refused.
    expect(complaints.filter((complaint) => !/status of 4\d\d/.test(complaint))).toEqual([]);
  });

  it("tell what is missing, and what is not open", async () => {
    const { page } = await site.open();
    for (const path of ["", "/running", "/changes"]) {
      await page.goto(`/no-such-organization${path}`);
      const said = page.getByRole("heading", { name: /^This is not (?:here|open to you)$/ });
      await expect.poll(() => said.count()).toBeGreaterThan(0);
    }
    const { page: signedOut } = await site.open({ key: null });
    await signedOut.goto(`/${site.org}`);
    const asked = signedOut.getByRole("heading", { name: "Sign in to see this" });
    await expect.poll(() => asked.count()).toBe(1);
  });

  it("lead a new organization to its first verdict, by commands that work, ticked as they do", async () => {
    const name = uniqueName("newcomer");
    const answer = await fetch(`${site.url}/api/v2/organizations`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.key}`, "content-type": "application/json" },
      body: JSON.stringify({ name, display_name: "Newcomer" }),
    });
    expect(answer.status).toBe(201);
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${name}`);
    await page.getByText("0 of 7 steps done").waitFor();
    expect(own(requests)).toHaveLength(4);
    const titles = [
      "make a flow",
      "begin a trail",
      "report an artifact",
      "attest what was checked",
      "make an environment",
      "report a snapshot",
      "attach a policy",
    ];
    for (const [at, title] of titles.entries()) {
      const blocks = page.getByLabel(new RegExp(`^command: ${title}`));
      await blocks.first().waitFor();
      for (const command of await blocks.allInnerTexts()) {
        const said = await run(command);
        expect(said, `${command}\n${said}`).not.toMatch(/"(?:errors|detail)"/);
      }
      await page
        .getByText(at === titles.length - 1 ? "All done" : `${at + 1} of 7 steps done`)
        .waitFor({ timeout: 15_000 });
    }
    await page.getByRole("link", { name: "Show the overview" }).click();
    await page.getByRole("link", { name: "1 compliant" }).first().waitFor();
    expect(complaints).toEqual([]);
  });
});
