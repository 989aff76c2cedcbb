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

/** What a page did while it was scrolled, frame by frame. */
interface Drawn {
  /** Most rows and cells that were made anew in one frame. */
  made: number;
  /** Most cells that there were at a time. */
  cells: number;
}

/** Scrolls the matrix on and aside, so many frames. */
function scrolled(page: Page, frames: number): Promise<Drawn> {
  return page.evaluate<Drawn>(`new Promise((done) => {
    const table = document.querySelector("table[aria-rowcount]");
    let left = ${frames};
    let madeNow = 0;
    const drawn = { made: 0, cells: 0 };
    const sizeOf = (node) => node instanceof Element ? 1 + node.querySelectorAll("tr, td, th").length : 0;
    const observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) madeNow += sizeOf(node);
    });
    observer.observe(table, { childList: true, subtree: true });
    const step = () => {
      drawn.made = Math.max(drawn.made, madeNow);
      drawn.cells = Math.max(drawn.cells, table.querySelectorAll("td, th").length);
      madeNow = 0;
      table.parentElement.scrollBy(10, 40);
      if (--left === 0) done(drawn); else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
}

describe.skipIf(!hasBrowser)("the matrix of trails", { timeout: 120_000 }, () => {
  let site: WebSite;
  let org: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
    org = await makeOrganization(site, "web-matrix");
    await fill(org);
  }, 240_000);

  // How long that takes is measured in the benchmark of the web app.
  it("draws of fifty trails by thirty attestations what comes into sight, frame by frame", async () => {
    const { page, complaints } = await site.open({ viewport: { width: 1280, height: 800 } });
    await page.goto(`/${org.name}/flows/wide`);
    const matrix = page.getByRole("table", { name: "Trails of wide" });
    await matrix.getByRole("rowheader").first().waitFor();
    expect(Number(await matrix.getAttribute("aria-rowcount"))).toBe(rows + 2);
    expect(await matrix.getByRole("rowheader").count()).toBeLessThan(35);
    const drawn = await scrolled(page, 60);
    // All of it is 1,612 cells. What is in sight stays as it is: a row or two come in a frame, some more where frames were late.
    expect(drawn.made).toBeGreaterThan(10);
    expect(drawn.made).toBeLessThan(200);
    expect(drawn.cells).toBeLessThan(1_200);
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
