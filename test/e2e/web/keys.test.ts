import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const patient = { timeout: 30_000 };

/** Text of what has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>("document.activeElement?.innerText?.trim() ?? ''");

const copied = (page: Page): Promise<string> => page.evaluate<string>("navigator.clipboard.readText()");

describe.skipIf(!hasBrowser)("keys", { timeout: 90_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  /** Opens a page whose heading is this. */
  async function open(path: string, heading: string | RegExp, key?: string) {
    const opened = await site.open(key === undefined ? {} : { key });
    await opened.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await opened.page.goto(`/${site.org}${path}`);
    await opened.page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    return opened;
  }

  it("? shows all of them, and Esc closes that and gives the focus back", async () => {
    const { page, complaints } = await open("", "Start");
    const search = page.getByRole("button", { name: "Search" });
    await search.focus();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    for (const words of ["What runs", "Repos", "Copy the permanent address", "Older and newer snapshot"])
      await help.getByText(words, { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await expect.poll(() => search.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("g and a letter go to a page, whose heading has the focus then", async () => {
    const { page, complaints } = await open("/audit-log", "Audit log");
    const places = [
      ["r", "What runs"],
      ["c", "Changes"],
      ["e", "Environments"],
      ["f", "Flows"],
      ["p", "Policies"],
      ["o", "Repos"],
      ["t", "Trails"],
      ["s", "Start"],
    ] as const;
    for (const [key, heading] of places) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await expect.poll(() => focused(page), patient).toBe(heading);
    }
    expect(complaints).toEqual([]);
  });

  it("j and k move among rows, Enter opens one", async () => {
    const { page } = await open("/environments", "Environments");
    const rows = page.getByRole("table", { name: "Environments" }).getByRole("row");
    await rows.nth(2).getByRole("link").first().waitFor();
    const name = async (row: number): Promise<string> =>
      (await rows.nth(row).getByRole("link").first().innerText()).trim();
    await page.keyboard.press("j");
    expect(await focused(page)).toBe(await name(1));
    await page.keyboard.press("j");
    expect(await focused(page)).toBe(await name(2));
    await page.keyboard.press("k");
    expect(await focused(page)).toBe(await name(1));
    const first = await name(1);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: first, level: 1 }).waitFor();
  });

  it("w tells why, of the row that has the focus", async () => {
    const { page, complaints } = await open("/environments/shop-prod/snapshots/8", "Snapshot 8");
    const rows = page.getByRole("table", { name: "What runs here" }).locator("tr[data-row]");
    await rows.nth(1).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const row = await rows.nth(1).getByRole("button", { name: /^Why/ }).getAttribute("aria-label");
    await page.keyboard.press("w");
    await page.locator("tr[data-open]").waitFor();
    expect(
      await page.locator("tr[data-open]").getByRole("button", { name: /^Why/ }).getAttribute("aria-label"),
    ).toBe(row);
    await page.keyboard.press("w");
    await page.locator("tr[data-open]").waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("[ and ] lead to older and newer snapshots, d to what one changed", async () => {
    const { page, complaints } = await open("/environments/shop-prod/snapshots/8", "Snapshot 8");
    await page.getByRole("link", { name: "Previous" }).waitFor();
    await page.keyboard.press("[");
    await page.getByRole("heading", { name: "Snapshot 7", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Previous" }).waitFor();
    await page.keyboard.press("]");
    await page.getByRole("heading", { name: "Snapshot 8", level: 1 }).waitFor();
    await page.getByRole("link", { name: "What it changed" }).waitFor();
    await page.keyboard.press("d");
    await page.waitForURL(/diff\?from=shop-prod%237&to=shop-prod%238/);
    await page.goto(`/${site.org}/environments/shop-prod`);
    await page.getByRole("link", { name: "What it changed" }).waitFor();
    await page.keyboard.press("[");
    await page.getByRole("heading", { name: /^Snapshot \d+$/, level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("arrow keys move both handles of a comparison, and the address follows", async () => {
    const { page, complaints } = await open("/diff?from=shop-prod%237&to=shop-prod%239", /^Compare/);
    for (const [handle, address] of [
      ["Before", /from=shop-prod%236&to=shop-prod%239/],
      ["After", /from=shop-prod%236&to=shop-prod%238/],
    ] as const) {
      await page.getByRole("slider", { name: handle }).focus();
      await page.keyboard.press("ArrowLeft");
      await page.waitForURL(address);
    }
    expect(complaints).toEqual([]);
  });

  it("y copies an address that stays what it is", async () => {
    const { page, complaints } = await open(
      "/environments/shop-prod/snapshots/~1?verdict=non-compliant",
      /^Snapshot \d/,
    );
    const heading = await page.getByRole("heading", { name: /^Snapshot \d+$/, level: 1 }).innerText();
    const number = Number(heading.split(" ")[1]);
    await page.keyboard.press("y");
    await page.getByText(/^Copied http/).waitFor();
    const snapshots = `${site.url}/${site.org}/environments/shop-prod/snapshots`;
    expect(await copied(page)).toBe(`${snapshots}/${number}?verdict=non-compliant`);
    for (const [path, permanent] of [
      ["/environments/shop-prod", `${snapshots}/${number + 1}`],
      ["/environments/shop-prod/snapshots/latest", `${snapshots}/${number + 1}`],
      [
        "/diff?from=shop-prod~1&to=shop-prod@%7Bnow%7D",
        `${site.url}/${site.org}/diff?from=shop-prod%23${number}&to=shop-prod%23${number + 1}`,
      ],
      ["/environments?type=docker", `${site.url}/${site.org}/environments?type=docker`],
    ] as const) {
      await page.goto(`/${site.org}${path}`);
      await page.getByRole("table").getByRole("link").first().waitFor();
      await expect
        .poll(async () => {
          await page.keyboard.press("y");
          return copied(page);
        }, patient)
        .toBe(permanent);
    }
    expect(complaints).toEqual([]);
  });

  it.each([
    ["/changes?since=7d", "Changes"],
    ["/trails?since=30d", "Trails"],
    ["/attestations?since=30d", "Attestations"],
    ["/flows/gateway-ci?since=30d", "gateway-ci"],
    ["/flows/gateway-ci/statistics?period=7d", "gateway-ci"],
    ["/environments/shop-prod/snapshots?since=7d", "shop-prod"],
    ["/environments/shop-prod/log?since=7d", "shop-prod"],
    ["/environments/shop-prod/deployments?since=7d", "shop-prod"],
  ])("y makes a moment of the time until now: %s", async (path, heading) => {
    const { page, complaints } = await open(path, heading);
    const before = Math.floor(Date.now() / 1000);
    await page.keyboard.press("y");
    await page.getByText(/^Copied http/).waitFor();
    const address = await copied(page);
    const [same, until] = address.split("&until=");
    expect(same).toBe(`${site.url}/${site.org}${path}`);
    // Pages count the time until now from each minute.
    expect(Number(until)).toBeGreaterThan(before - 120);
    expect(Number(until)).toBeLessThanOrEqual(Date.now() / 1000 + 1);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const hourBefore = Number(until) - 3600;
    await page.goto(address.replace(until!, String(hourBefore)));
    await page.getByText(/^until \d{4}-/).waitFor();
    await expect
      .poll(() => asked.filter((url) => /[?&](?:end_ts|to_timestamp)=/.test(url)).length)
      .toBeGreaterThan(0);
    for (const url of asked.filter((one) => one.includes("/api/"))) {
      const { searchParams } = new URL(url);
      const end = Number(searchParams.get("end_ts") ?? searchParams.get("to_timestamp") ?? hourBefore);
      expect(end).toBeLessThanOrEqual(hourBefore);
      expect(end).toBeGreaterThan(hourBefore - 60);
    }
    await page.getByRole("link", { name: "Show now" }).click();
    await page.waitForURL(`**${path}`);
    expect(complaints).toEqual([]);
  });

  /** Opens what can be done with a trail. */
  async function openActions() {
    const opened = await open("/flows/gateway-ci", "gateway-ci");
    const { page } = opened;
    await page.getByRole("rowheader").first().getByRole("link").click();
    await page.getByRole("heading", { name: "What it needs" }).waitFor();
    await page.keyboard.press(".");
    const actions = page.getByRole("dialog", { name: "What can be done here" });
    await actions.getByRole("option", { name: /^Print this page/ }).waitFor();
    return opened;
  }

  it(". lists what can be done here, and does it", async () => {
    const { page, complaints } = await openActions();
    await page.keyboard.type("how a pack");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "How a package is checked" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("Enter does what is typed, also before the list has caught up with it", async () => {
    const { page, complaints } = await openActions();
    // Both in one go: nobody types as fast, but pages are as slow at times.
    await page.evaluate(`
      const field = document.activeElement;
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, "how a pack");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));`);
    await page.getByRole("dialog", { name: "How a package is checked" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("are silent in fields, and where they were switched off", async () => {
    const { page, complaints } = await open("/environments", "Environments");
    await page.getByRole("searchbox", { name: "Filter by name" }).pressSequentially("?gs/");
    await page.waitForURL(/name=/);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.goto("/-/profile");
    await page.getByLabel("Single keys do something").uncheck();
    await page.goto(`/${site.org}/environments`);
    await page.getByRole("link", { name: "gateway-prod", exact: true }).waitFor();
    await page.keyboard.press("?");
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(1);
    expect(new URL(page.url()).pathname).toBe(`/${site.org}/environments`);
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("the search palette", { timeout: 90_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  async function open(path = "", key?: string) {
    const opened = await site.open(key === undefined ? {} : { key });
    await opened.page.goto(`/${site.org}${path}`);
    await opened.page.getByRole("heading", { level: 1 }).waitFor();
    return opened;
  }

  async function look(page: Page, words: string): Promise<void> {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).fill(words);
  }

  it("opens what an expression names, and addresses of this server", async () => {
    const { page, complaints } = await open();
    for (const [words, path] of [
      ["shop-prod~1", "/environments/shop-prod/snapshots/~1"],
      ["shop-prod@{now}", "/environments/shop-prod/snapshots/%40%7Bnow%7D"],
      ["shop-prod#7..shop-prod#9", "/diff?from=shop-prod%237&to=shop-prod%239"],
      [`${site.url}/${site.org}/flows/gateway-ci`, "/flows/gateway-ci"],
    ] as const) {
      await look(page, words);
      await page.keyboard.press("Enter");
      await page.waitForURL(`${site.url}/${site.org}${path}`);
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    expect(complaints).toEqual([]);
  });

  it("opens a pasted digest that means one thing, and lets choose by arrow keys", async () => {
    const { page, context, complaints } = await open("/flows/gateway-ci/artifacts");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const copy = page
      .getByRole("table")
      .getByRole("button", { name: /^Copy fingerprint/ })
      .first();
    await copy.click();
    const fingerprint = await copied(page);
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: "Search" }).waitFor();
    await page.keyboard.press("Control+v");
    await page.waitForURL(new RegExp(`/artifacts/${fingerprint}`));
    await look(page, "gateway");
    await page.getByRole("option", { name: /^gateway-ci/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    const second = page.getByRole("option").nth(1);
    await expect.poll(() => second.getAttribute("aria-selected")).toBe("true");
    expect(complaints).toEqual([]);
  });

  it("lists pages, the last ones visited, and only those actions that are allowed", async () => {
    const { page, complaints } = await open("/controls");
    // A page counts as visited when it has stayed for a moment.
    await expect
      .poll(() => page.evaluate("localStorage.getItem('waybill-visits')"), patient)
      .toContain("Controls");
    await look(page, "");
    await page.getByRole("option", { name: "Controls Visited" }).waitFor();
    await page.getByRole("option", { name: "Audit log Page" }).waitFor();
    await page.getByRole("option", { name: "New policy Action" }).click();
    await page.getByRole("heading", { name: "New policy", level: 1 }).waitFor();
    const keys = `/api/v2/service-accounts/${site.org}/dashboard/api-keys`;
    const made = await page.request.post(`${site.url}${keys}`, {
      headers: { authorization: `Bearer ${site.key}` },
      data: { description: "a test of keys" },
    });
    const { key } = (await made.json()) as { key: string };
    const { page: readers } = await open("", key);
    await look(readers, "");
    await readers.getByRole("option", { name: "Audit log Page" }).waitFor();
    await readers.getByRole("option", { name: "Copy the permanent address Action" }).waitFor();
    expect(await readers.getByRole("option", { name: /^(?:New|Invite|Allow) .* Action$/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
