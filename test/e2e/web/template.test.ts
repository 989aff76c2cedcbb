import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { writeInEditor } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));

const kept = "version: 1\ntrail:\n  attestations:\n    - name: review\n      type: pull_request\n";
const written =
  "version: 1\ntrail:\n  artifacts:\n    - name: web\n      attestations:\n        - name: tests\n          type: junit\n";

async function putFlow(
  org: OwnOrganization,
  name: string,
  template = kept,
  description = "The shop",
): Promise<void> {
  const form = new FormData();
  form.append("data_json", JSON.stringify({ name, description, visibility: "private" }));
  form.append("template_file", new Blob([template]), "template.yml");
  await org.ask("PUT", `/flows/${org.name}/template_file`, form);
}

const write = (page: Page, text: string) => writeInEditor(page, "Template, YAML", text);

describe.skipIf(!hasBrowser)("the template of a flow", { timeout: 90_000 }, () => {
  let site: WebSite;
  let org: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  // For each, so that none meets what its own first try has saved.
  beforeEach(async () => {
    org = await makeOrganization(site, "web-template");
    await putFlow(org, "shop-ci");
    await putFlow(org, "plain-ci");
  });

  it("says mistakes at their lines, what trails would need, and what saving changes", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${org.name}/flows/shop-ci/template`);
    await page.getByText("A template without mistakes").waitFor();
    await page.getByRole("button", { name: "Save… (Nothing was changed)" }).waitFor();
    expect(own(requests).length).toBeLessThanOrEqual(4);
    await page.locator(".cm-editor").waitFor();
    await write(page, "version: 1\ntrail:\n  attestatons: []\n");
    const mistake = page.getByRole("button", { name: /line 3:/ });
    await mistake.waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    await page.getByRole("button", { name: "Save… (The text has to be without mistakes)" }).waitFor();
    await mistake.click();
    await page.locator(".cm-editor.cm-focused").waitFor();
    await write(page, written);
    await page.getByText("A template without mistakes").waitFor();
    const needs = page.getByRole("region", { name: "What trails would need" });
    await needs.getByText("1 artifact, 1 attestation").waitFor();
    await needs.getByRole("heading", { name: "Artifact web new" }).waitFor();
    await needs.getByRole("heading", { name: "The trail no longer" }).waitFor();
    await page.getByRole("link", { name: "Statistics" }).click();
    await page.getByRole("button", { name: "Stay" }).click();
    await page.getByRole("button", { name: "Save…" }).click();
    const changes = page.getByRole("table", { name: "What changes" });
    await changes.getByText("- name: review").waitFor();
    await changes.getByText("type: junit").waitFor();
    await page.getByText("Those that have begun keep the template they began with").waitFor();
    await page.getByRole("button", { name: "Save the template" }).click();
    await page.getByRole("button", { name: "Save… (Nothing was changed)" }).waitFor();
    await page.reload();
    await needs.getByRole("heading", { name: "Artifact web", exact: true }).waitFor();
    expect(await page.getByRole("textbox", { name: "Template, YAML" }).innerText()).toContain("- name: web");
    expect(complaints).toEqual([]);
  });

  it("stays as it is written while somebody else saves another, which is shown to those who write nothing", async () => {
    const { page, complaints } = await site.open();
    const editor = page.getByRole("textbox", { name: "Template, YAML" });
    const others = (name: string): Promise<void> =>
      putFlow(org, "shop-ci", kept.replace("review", name), `Asks for ${name}`);
    await page.goto(`/${org.name}/flows/shop-ci/template`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.locator(".cm-editor").waitFor();
    await others("approval");
    await editor.getByText("- name: approval").waitFor();
    await page.getByRole("button", { name: "Save… (Nothing was changed)" }).waitFor();
    await write(page, written);
    await others("audit");
    await page.getByText("Asks for audit").waitFor();
    expect(await editor.innerText()).toContain("- name: web");
    // Nothing is saved over what nobody has seen.
    const undecided = "(Somebody else has changed it meanwhile)";
    const theirs = page.getByRole("table", { name: "What they changed" });
    await theirs.getByText("added: - name: audit").waitFor();
    await page.getByRole("button", { name: `Save… ${undecided}` }).waitFor();
    await page.getByRole("button", { name: "Show theirs" }).click();
    await editor.getByText("- name: audit").waitFor();
    await write(page, written);
    await page.getByRole("button", { name: "Save…", exact: true }).click();
    // Just when it is to be saved.
    await others("license");
    await theirs.getByText("added: - name: license").waitFor();
    await page.getByRole("button", { name: `Save the template ${undecided}` }).waitFor();
    await page.getByRole("button", { name: /^Keep mine/ }).click();
    await theirs.waitFor({ state: "detached" });
    await page.getByRole("table", { name: "What changes" }).getByText("- name: license").waitFor();
    await page.getByRole("button", { name: "Save the template", exact: true }).click();
    await page.getByRole("button", { name: "Save… (Nothing was changed)" }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // What is written after that is no less guarded, and who takes it back is shown what others save.
    await write(page, kept);
    await page.getByRole("link", { name: "Statistics" }).click();
    await page.getByRole("button", { name: "Stay" }).click();
    await page.getByRole("button", { name: "Take back all changes" }).click();
    await editor.getByText("- name: web").waitFor();
    await others("scan");
    await editor.getByText("- name: scan").waitFor();
    await page.getByRole("link", { name: "Statistics" }).click();
    await page.waitForURL(/\/statistics/);
    expect(complaints).toEqual([]);
  });

  it("is not taken along to another flow with the same template", async () => {
    const { page, complaints } = await site.open();
    const editor = page.getByRole("textbox", { name: "Template, YAML" });
    await page.goto(`/${org.name}/flows/shop-ci/template`);
    await editor.waitFor();
    const start = await page.evaluate<number>("history.length");
    await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Flows" }).click();
    await page.getByRole("link", { name: "plain-ci", exact: true }).click();
    await page.getByRole("heading", { name: "plain-ci", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Template", exact: true }).click();
    await page.locator(".cm-editor").waitFor();
    await write(page, written);
    // As one does in the menu of the browser's button.
    await page.evaluate(`history.go(${start} - history.length)`);
    await page.getByRole("button", { name: "Leave", exact: true }).click();
    await page.getByRole("heading", { name: "shop-ci", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Save… (Nothing was changed)" }).waitFor();
    expect(await editor.innerText()).toContain("- name: review");
    expect(complaints).toEqual([]);
  });

  it("is written in a plain field where the editor cannot be loaded", async () => {
    const { page } = await site.open();
    await page.route(/\/editor-/, (request) => request.abort());
    await page.goto(`/${org.name}/flows/plain-ci/template`);
    await page.getByText("A template without mistakes").waitFor();
    await page.getByRole("textbox", { name: "Template, YAML" }).fill("version: 1\ntrail: none\n");
    await page.getByRole("button", { name: /line 2:/ }).waitFor();
    await page.getByRole("button", { name: "Take back all changes" }).click();
    await page.getByText("A template without mistakes").waitFor();
    expect(await page.locator(".cm-editor").count()).toBe(0);
  });

  it("is shown to those who may only read, who are told why they may not change it", async () => {
    const { page, complaints } = await site.open({ key: await org.keyFor("reader") });
    await page.goto(`/${org.name}/flows/plain-ci/template`);
    await page.getByLabel("template", { exact: true }).getByText("name: review").waitFor();
    await page.getByRole("button", { name: /^Save… \(.*member/ }).waitFor();
    expect(complaints).toEqual([]);
  });
});
