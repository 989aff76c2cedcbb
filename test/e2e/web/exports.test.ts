import { readFile } from "node:fs/promises";

import type { Download, Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { hasCurl, runCopied } from "../../support/shell.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { holdAnswers, provenancePolicy } from "../../support/web-page.ts";
import { openSite, untilAllAsked, untilSettled, type WebSite } from "../../support/web.ts";

async function textOf(file: Download): Promise<string> {
  return readFile(await file.path(), "utf8");
}

/** Chooses a form in the menu, and waits for the file. */
async function exported(page: Page, form: "CSV" | "JSON"): Promise<{ name: string; text: string }> {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("[popover]:popover-open").getByRole("button", { name: form }).click(),
  ]);
  return { name: file.suggestedFilename(), text: await textOf(file) };
}

/** Reads an answer without what grows by the second: how long the latest of something lasts. */
function lasting(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => (name === "duration" ? undefined : value));
}

/** Opens what a dialog will send, and reads it as one program has it. */
async function commandIn(dialog: Locator, program: "curl" | "Command-line client" | "JSON"): Promise<string> {
  const fold = dialog.getByText("As a command");
  if ((await dialog.getByLabel("command that does this", { exact: true }).count()) === 0) await fold.click();
  await dialog.getByRole("button", { name: program }).click();
  return dialog.getByLabel("command that does this", { exact: true }).innerText();
}

describe.skipIf(!hasBrowser)("what is taken away from pages", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
    own = await makeOrganization(site, "exported");
    for (let number = 1; number <= 60; number += 1)
      await own.ask("PUT", `/environments/${own.name}`, {
        name: `env-${String(number).padStart(2, "0")}`,
        type: number % 2 === 0 ? "server" : "K8S",
        description: number === 2 ? `=HYPERLINK("http://x","it's, free")` : "",
      });
  }, 180_000);

  it.skipIf(!hasCurl)("shows the answers behind a page, and commands that get the same", async () => {
    const { page, complaints } = await site.open({ permissions: ["clipboard-read", "clipboard-write"] });
    const flow = "checkout-ci";
    const [trail] = (
      await own.ask<{ data: { name: string }[] }>("GET", `/trails/${site.org}/${flow}?per_page=1`)
    ).data;
    const addresses = [
      `/${site.org}/environments/shop-prod/snapshots/7`,
      `/${site.org}/flows/${flow}/trails/${trail!.name}`,
      `/${site.org}/policies`,
      `/${own.name}/environments?name=env-0&type=server`,
    ];
    for (const address of addresses) {
      await page.goto(address);
      await untilAllAsked(page);
      await page.getByRole("button", { name: "JSON", exact: true }).click();
      const drawer = page.getByRole("dialog", { name: "Answers behind this page" });
      const requests = drawer.getByRole("group", { name: "Requests" }).getByRole("button");
      await requests.first().waitFor();
      for (const request of await requests.all()) {
        await request.click();
        const command = await drawer.getByLabel("command that asks the same", { exact: true }).innerText();
        expect(command).toContain((await request.innerText()).replace("GET ", ""));
        await drawer.getByRole("button", { name: "Copy answer" }).click();
        const shown = await drawer.getByLabel("answer", { exact: true }).innerText();
        await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(shown);
        expect(lasting(await runCopied(command, site.key))).toEqual(lasting(shown));
      }
      await page.keyboard.press("Escape");
    }
    expect(complaints).toEqual([]);
  });

  it("says which of the client's commands asks the same, and keeps the answer as a file", async () => {
    const { page } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod/snapshots/7`);
    await page.getByRole("heading", { name: "Snapshot 7" }).waitFor();
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    const drawer = page.getByRole("dialog", { name: "Answers behind this page" });
    await drawer.getByRole("button", { name: "/snapshots/harborlight/shop-prod/7" }).click();
    await drawer.getByRole("button", { name: "Command-line client" }).click();
    expect(await drawer.getByLabel("command that asks the same", { exact: true }).innerText()).toContain(
      "kosli get snapshot 'shop-prod#7'",
    );
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      drawer.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("snapshots-harborlight-shop-prod-7.json");
    expect(JSON.parse(await textOf(file))).toMatchObject({ index: 7 });
  });

  it.skipIf(!hasCurl)("says before an action is sent how else it can be sent, and that does it", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments/env-60/settings`);
    await page.getByRole("button", { name: /^Rename/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("renamed");
    expect(JSON.parse(await commandIn(dialog, "JSON"))).toEqual({ new_name: "renamed" });
    expect(await commandIn(dialog, "Command-line client")).toContain(
      "kosli rename environment env-60 renamed",
    );
    await runCopied(await commandIn(dialog, "curl"), site.key);
    await page.goto(`/${own.name}/environments/renamed`);
    await page.getByRole("heading", { name: "renamed", level: 1 }).waitFor();

    await page.goto(`/${own.name}/policies/-/new`);
    await page.getByRole("button", { name: /^Save/ }).click();
    const save = page.getByRole("dialog");
    await save.getByLabel("Name").fill("by-hand");
    await save
      .getByLabel(/^(?:Comment|Why)/)
      .first()
      .fill(`it's "new" \\ $HOME`);
    expect(await commandIn(save, "Command-line client")).toContain("kosli create policy by-hand policy.yaml");
    expect(await runCopied(await commandIn(save, "curl"), site.key)).toContain("by-hand");
    const made = await own.ask<{ versions: { comment: string }[] }>("GET", `/policies/${own.name}/by-hand`);
    expect(made.versions[0]!.comment).toBe(`it's "new" \\ $HOME`);
    // The page of what was renamed under it looks for it once more.
    expect(complaints.filter((complaint) => !/status of 404/.test(complaint))).toEqual([]);
  });

  it.skipIf(!hasCurl)("says of forms in pages, too, how else they can be sent", async () => {
    const { page, complaints } = await site.open();
    const settings = page.getByRole("main");
    await page.goto(`/${own.name}/environments/env-01/settings`);
    const description = settings.locator("form").filter({ hasText: "What this environment is for" });
    await description.getByRole("textbox").fill("said by hand");
    await runCopied(await commandIn(description, "curl"), site.key);
    await page.reload();
    await expect.poll(() => description.getByRole("textbox").inputValue()).toBe("said by hand");
    const silence = settings.locator("form").filter({ hasText: "Longest silence" });
    await silence.getByRole("spinbutton").fill("90");
    expect(JSON.parse(await commandIn(silence, "JSON"))).toEqual({ limit_seconds: 5400 });

    await page.goto(`/${own.name}/settings/general`);
    const general = settings.locator("form");
    await general.getByLabel("Description").fill("all of it");
    expect(JSON.parse(await commandIn(general, "JSON"))).toMatchObject({ description: "all of it" });

    await page.goto(`/${own.name}/actions/-/new`);
    const action = settings.locator("form");
    await action.getByText("As a command").click();
    await action.getByText("Nothing is chosen yet.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("gives a list as its filters say, all pages of it, as CSV and JSON", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments?name=env`);
    await page.getByText(/^1–50 of /).waitFor();
    const csv = await exported(page, "CSV");
    expect(csv.name).toBe(`${own.name}-environments.csv`);
    const [head, ...lines] = csv.text.trimEnd().split("\r\n");
    expect(head).toMatch(/^name,type,description,state,/);
    expect(lines.length).toBeGreaterThan(50);
    expect(csv.text).toContain(`env-02,server,"'=HYPERLINK(""http://x"",""it's, free"")",`);
    const json = await exported(page, "JSON");
    expect(json.name).toBe(`${own.name}-environments.json`);
    const items = JSON.parse(json.text) as { name: string }[];
    expect(items.map(({ name }) => name)).toEqual(lines.map((line) => line.split(",")[0]));
    await page.getByLabel("Type", { exact: true }).selectOption("server");
    await page.waitForURL(/type=server/);
    const few = JSON.parse((await exported(page, "JSON")).text) as { type: string }[];
    expect(new Set(few.map(({ type }) => type))).toEqual(new Set(["server"]));
    expect(complaints).toEqual([]);
  });

  it("says how far it is, and stops when told to", async () => {
    const { page } = await site.open();
    await page.goto(`/${own.name}/environments`);
    await page.getByText(/^1–50 of /).waitFor();
    const release = await holdAnswers(page, /[?&]page=2/);
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.locator("[popover]:popover-open").getByRole("button", { name: "CSV" }).click();
    await page.getByText("50 of 60 rows").waitFor();
    let files = 0;
    page.on("download", () => (files += 1));
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Export", exact: true }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    release();
    expect(files).toBe(0);
  });

  it("gives of a snapshot what its page filters, with the columns that the server has", async () => {
    const env = uniqueName("filtered");
    const names = ["team/api", "team/web", "shop/api", "shop/web"];
    const digest = (place: number): string => String(place + 1).padStart(64, "0");
    await own.putPolicy("known", provenancePolicy);
    const environment = { name: env, type: "docker", description: "", policies: ["known"] };
    await own.ask("PUT", `/environments/${own.name}`, environment);
    await own.ask("PUT", `/environments/${own.name}/${env}/report/docker`, {
      artifacts: names.map((name, place) => ({
        digests: { [name]: digest(place) },
        creationTimestamp: 1_700_000_000,
      })),
    });
    for (const place of [0, 1])
      await own.ask("PUT", `/allowlists/${own.name}/${env}`, {
        artifact_name: names[place],
        artifact_fingerprint: digest(place),
        description: "trusted",
      });
    const { page, complaints } = await site.open();
    for (const [path, filters, expected] of [
      ["", "?verdict=exempt", ["team/api", "team/web"]],
      ["", "?q=0001+team", ["team/api"]],
      ["/snapshots/latest", "?verdict=exempt&sort=name&direction=desc", ["team/web", "team/api"]],
      ["/snapshots/1", "?sort=name", ["shop/api", "shop/web", "team/api", "team/web"]],
    ] as const) {
      await page.goto(`/${own.name}/environments/${env}${path}${filters}`);
      const table = page.getByRole("table", { name: "What runs here" });
      await table.getByText(expected[0]).waitFor();
      const items = JSON.parse((await exported(page, "JSON")).text) as { artifact_name: string }[];
      expect(items.map((item) => item.artifact_name)).toEqual(expected);
      const csv = await exported(page, "CSV");
      const lines = csv.text.trimEnd().split("\r\n");
      expect(lines.slice(1).map((line) => line.split(",")[3])).toEqual(expected);
      if (path !== "/snapshots/1") continue;
      const address = `${site.url}/api/v2/snapshots/${own.name}/${env}/1/artifacts?sort=name`;
      const headers = { authorization: `Bearer ${site.key}`, accept: "text/csv" };
      expect(csv.text).toBe(await (await fetch(address, { headers })).text());
    }
    expect(complaints).toEqual([]);
  });

  it("ends the log of an environment where the page does", async () => {
    const { timestamp } = await own.ask<{ timestamp: number }>("GET", `/snapshots/${site.org}/shop-prod/7`);
    const until = Math.ceil(timestamp);
    // The next one may have begun within the same second.
    const then = `@{${new Date(until * 1000).toISOString().slice(0, 19)}}`;
    const path = `/snapshots/${site.org}/shop-prod/${encodeURIComponent(then)}`;
    const { index } = await own.ask<{ index: number }>("GET", path);
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/shop-prod/log?until=${until}`);
    await page.getByRole("table").getByRole("link").first().waitFor();
    const csv = await exported(page, "CSV");
    const snapshots = csv.text
      .trimEnd()
      .split("\r\n")
      .slice(1)
      .map((line) => Number(line.split(",")[2]));
    expect(Math.max(...snapshots)).toBe(index);
    expect(snapshots).toHaveLength((JSON.parse((await exported(page, "JSON")).text) as unknown[]).length);
    expect(complaints).toEqual([]);
  });

  const lists: readonly [string, RegExp][] = [
    ["/flows", /^name,description,/],
    ["/flows/checkout-ci", /trail/],
    ["/flows/checkout-ci/artifacts", /^filename,fingerprint,/],
    ["/trails", /flow/],
    ["/attestations", /attestation/],
    ["/repos", /^name,url,/],
    ["/policies", /^name,description,/],
    ["/controls", /^identifier,name,/],
    ["/attestation-types", /^name,description,/],
    ["/allow-list", /^environment_name,artifact_name,/],
    ["/actions", /^number,name,/],
    ["/settings/members", /^user,display_name,/],
    ["/settings/service-accounts", /^name,display_name,/],
    ["/environments/shop-prod/deployments", /environment/],
    ["/environments/shop-prod/snapshots", /^index,from,/],
    ["/changes?since=7d", /environment/],
    ["/audit-log?kind=members", /user/],
    ["/-/instance/log", /^seq,occurred_at,actor,/],
  ];
  it("gives every list, with as many rows in both forms", async () => {
    const { page, complaints } = await site.open();
    for (const [path, head] of lists) {
      await page.goto(path.startsWith("/-/") ? path : `/${site.org}${path}`);
      await untilSettled(page);
      const csv = await exported(page, "CSV");
      const items = JSON.parse((await exported(page, "JSON")).text) as unknown[];
      expect(csv.text, path).toMatch(head);
      // Texts over several lines are in quotes.
      const rows = csv.text
        .replaceAll(/"(?:[^"]|"")*"/g, "x")
        .trimEnd()
        .split("\r\n");
      expect(items.length, path).toBeGreaterThan(0);
      expect(rows.length - 1, path).toBe(items.length);
    }
    expect(complaints).toEqual([]);
  });
});
