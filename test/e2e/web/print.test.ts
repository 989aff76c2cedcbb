import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { runCopied } from "../../support/shell.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { ask } from "../../support/site.ts";
import { openSite, type WebSite } from "../../support/web.ts";

/** What stands on the paper: texts that are seen, and those that style sheets write. */
const printed = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const shown = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility());
    const written = shown.map((one) => getComputedStyle(one, "::after").content);
    return [document.body.innerText, ...written.filter((text) => text.startsWith('"'))].join("\\n");
  })()`);

const pagesOf = (pdf: Buffer): number => pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;

describe.skipIf(!hasBrowser)("on paper", { timeout: 90_000 }, () => {
  let site: WebSite;
  let fingerprint: string;
  let trail: string;
  const flow = "checkout-ci";
  beforeAll(async () => {
    site = await openSite();
    const [artifact] = await ask(site, "GET", `/artifacts/${site.org}?flow_name=${flow}&per_page=1`);
    ({ fingerprint, trail_name: trail } = artifact);
  }, 180_000);

  const kinds: readonly [string, () => string, (() => string)[]][] = [
    ["a trail", () => `flows/${flow}/trails/${trail}`, [() => trail, () => fingerprint, () => "version: 1"]],
    ["an artifact", () => `flows/${flow}/artifacts/${fingerprint}`, [() => fingerprint, () => trail]],
    ["a snapshot", () => "environments/shop-prod/snapshots/8", [() => "Exited with this snapshot"]],
    ["a comparison", () => "diff?from=shop-prod%231&to=shop-prod%239", [() => "shop-prod#9"]],
  ];
  it.each(kinds)(
    "%s is whole: open, light, with its head, digests, times and addresses",
    async (_, path, texts) => {
      const { page, complaints } = await site.open({ colorScheme: "dark" });
      await page.goto(`/${site.org}/${path()}`, { waitUntil: "networkidle" });
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await expect.poll(() => printed(page), { timeout: 30_000 }).toMatch(/\b[a-f0-9]{64}\b/);
      const text = await printed(page);
      expect(text).toMatch(/Printed\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d by \S+/);
      expect(text).toContain(`${site.url}/${site.org}/`);
      expect(text).toContain("Harborlight");
      expect(text).toMatch(/Waybill \d+\.\d+/);
      expect(text).toMatch(/"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"/);
      expect(text).toMatch(/" <" attr\(href\) ">"|<https?:\/\//);
      for (const expected of texts) expect(text).toContain(expected());
      expect(await page.getByRole("navigation", { name: "Organization" }).isVisible()).toBe(false);
      expect(await page.getByRole("button", { name: "JSON", exact: true }).isVisible()).toBe(false);
      const ground = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
      expect(ground).toBe("rgb(255, 255, 255)");
      for (const fold of await page.locator("main details > :not(summary)").all())
        expect(await fold.isVisible()).toBe(true);
      const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true });
      expect(pagesOf(pdf)).toBeGreaterThan(0);
      expect(complaints).toEqual([]);
    },
  );

  it("a snapshot has all its rows, of which the screen draws few", async () => {
    const own = await makeOrganization(site, "printed");
    await own.ask("PUT", `/environments/${own.name}`, { name: "many", type: "server", description: "" });
    const artifacts = Array.from({ length: 260 }, (_one, index) => ({
      digests: { [`app-${index}`]: index.toString(16).padStart(64, "0") },
      creationTimestamp: 1_700_000_000,
    }));
    await own.ask("PUT", `/environments/${own.name}/many/report/server`, { artifacts });
    const { page } = await site.open();
    await page.goto(`/${own.name}/environments/many`);
    const rows = page.locator("tr[data-row]");
    await rows.first().waitFor();
    expect(await rows.count()).toBeLessThan(200);
    await page.emulateMedia({ media: "print" });
    await expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(260);
  });

  it.each([
    ["trail", () => `flows/${flow}/trails/${trail}`, "Audit package"],
    ["artifact", () => `flows/${flow}/artifacts/${fingerprint}`, "Audit package of the artifact"],
  ])("the package of %s is whole, as the command beside it says", async (_, path, words) => {
    const folder = await mkdtemp(join(tmpdir(), "waybill-audit-"));
    const { page } = await site.open();
    await page.goto(`/${site.org}/${path()}`);
    await page.getByRole("button", { name: "Audit" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: words, exact: true }).click(),
    ]);
    await file.saveAs(join(folder, "package.tar"));
    await page.getByRole("button", { name: "Audit" }).click();
    await page.getByRole("button", { name: "How a package is checked" }).click();
    const command = await page.getByLabel("command that checks a package", { exact: true }).innerText();
    const said = (await runCopied(command, "", folder)).trim().split("\n");
    expect(said.length).toBeGreaterThan(0);
    expect(said.every((line) => line.endsWith(": OK"))).toBe(true);
    await rm(folder, { recursive: true });
  });
});
