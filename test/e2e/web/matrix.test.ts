import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";

const rows = 50;
const names = Array.from({ length: 30 }, (_, index) => `check-${String(index + 1).padStart(2, "0")}`);

/** Makes a flow whose template asks for thirty attestations, and fifty trails of it that have some of them. */
async function fill(org: OwnOrganization): Promise<void> {
  const form = new FormData();
  const asked = names.map((name) => `    - name: ${name}\n      type: generic\n`).join("");
  form.append("data_json", JSON.stringify({ name: "wide", description: "", visibility: "private" }));
  form.append("template_file", new Blob([`version: 1\ntrail:\n  attestations:\n${asked}`]), "template.yml");
  await org.ask("PUT", `/flows/${org.name}/template_file`, form);
  const trail = async (number: number): Promise<void> => {
    const body = new FormData();
    const name = `build-${String(number).padStart(2, "0")}`;
    body.append("data_json", JSON.stringify({ name }));
    await org.ask("PUT", `/trails/${org.name}/wide`, body);
    const attestation = new FormData();
    const attested = { attestation_name: names[number % names.length], is_compliant: number % 2 === 0 };
    attestation.append("data_json", JSON.stringify(attested));
    await org.ask("POST", `/attestations/${org.name}/wide/trail/${name}/generic`, attestation);
  };
  for (let first = 1; first <= rows; first += 5)
    await Promise.all([0, 1, 2, 3, 4].map((more) => trail(first + more)));
}

/** Measures what the page's own thread worked, in milliseconds of processor time: others on the machine do not count. */
async function worked(page: Page, what: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const taken = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
  };
  const before = await taken();
  await what();
  const after = await taken();
  await session.detach();
  return after - before;
}

describe.skipIf(!hasBrowser)("the matrix of trails", { timeout: 120_000 }, () => {
  let site: WebSite;
  let org: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
    org = await makeOrganization(site, "web-matrix");
    await fill(org);
  }, 240_000);

  it("draws fifty trails by thirty attestations in less than a frame, each time it is scrolled", async () => {
    const { page, complaints } = await site.open({ viewport: { width: 1280, height: 800 } });
    await page.goto(`/${org.name}/flows/wide`);
    const matrix = page.getByRole("table", { name: "Trails of wide" });
    await matrix.getByRole("rowheader").first().waitFor();
    expect(Number(await matrix.getAttribute("aria-rowcount"))).toBe(rows + 2);
    expect(await matrix.getByRole("rowheader").count()).toBeLessThan(35);
    const frames = 60;
    const script = `new Promise((done) => {
      const frame = document.querySelector("table[aria-rowcount]").parentElement;
      let left = ${frames};
      const step = () => {
        frame.scrollBy(10, 40);
        if (--left === 0) done(undefined); else requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    })`;
    const spent = await worked(page, () => page.evaluate<void>(script));
    expect(spent / frames).toBeLessThan(16);
    await expect.poll(() => matrix.getByText("build-01", { exact: true }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("keeps head and first column in sight, and what the keyboard is at beside them", async () => {
    const { page, complaints } = await site.open({ viewport: { width: 1000, height: 700 } });
    await page.goto(`/${org.name}/flows/wide`);
    const matrix = page.getByRole("table", { name: "Trails of wide" });
    await matrix.getByRole("rowheader").first().getByRole("link").focus();
    for (let step = 0; step < 5; step++) await page.keyboard.press("PageDown");
    await page.keyboard.press("End");
    const boxOf = async (script: string): Promise<{ x: number; y: number; right: number; bottom: number }> =>
      page.evaluate(`(() => {
        const { x, y, right, bottom } = (${script}).getBoundingClientRect();
        return { x, y, right, bottom };
      })()`);
    await expect
      .poll(() => page.evaluate("document.activeElement.closest('tr')?.ariaRowIndex"))
      .toBe(String(rows + 2));
    const frame = await boxOf("document.querySelector('table[aria-rowcount]').parentElement");
    const focused = await boxOf("document.activeElement");
    expect(focused.right).toBeLessThanOrEqual(frame.right + 1);
    expect(focused.bottom).toBeLessThanOrEqual(frame.bottom + 1);
    const head = await boxOf("document.querySelector('table[aria-rowcount] thead')");
    expect(Math.abs(head.y - frame.y)).toBeLessThanOrEqual(2);
    const first = await boxOf("document.activeElement.closest('tr').cells[0]");
    expect(Math.abs(first.x - frame.x)).toBeLessThanOrEqual(2);
    for (let step = 0; step < 5; step++) await page.keyboard.press("PageUp");
    for (let step = 0; step < 20; step++) await page.keyboard.press("ArrowLeft");
    const above = await boxOf("document.activeElement");
    expect(above.y).toBeGreaterThanOrEqual(head.bottom - 1);
    expect(above.x).toBeGreaterThanOrEqual(first.right - 1);
    expect(complaints).toEqual([]);
  });
});
