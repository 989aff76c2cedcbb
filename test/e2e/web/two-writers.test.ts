import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { patient } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

/** What a page says of something that somebody else has saved. */
const told = (page: Page) => page.getByRole("alert").filter({ hasText: "Somebody else has saved" });
const theirs = (page: Page) => told(page).getByRole("table", { name: "What they changed" });
const showTheirs = (page: Page) => told(page).getByRole("button", { name: "Show theirs" });
const keepMine = (page: Page) => told(page).getByRole("button", { name: /^Keep mine/ });
const undecided = (words: string) => `${words} (Somebody else has changed it meanwhile)`;

/** Opens a page that is told of what others save. */
async function openLive(site: WebSite, address: string) {
  const { page, complaints } = await site.open();
  await page.goto(address);
  await page.getByText("Live", { exact: true }).waitFor();
  return { page, complaints };
}

describe.skipIf(!hasBrowser)("what two people write at once", { timeout: 90_000 }, () => {
  let site: WebSite;
  let organization: OwnOrganization;
  let org: string;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  beforeEach(async () => {
    organization = await makeOrganization(site, "two-writers");
    org = organization.name;
  });

  it("of a type is saved over theirs by who has seen theirs, and shown to who writes nothing", async () => {
    const save = async (rules: string[], description = "Before"): Promise<void> => {
      const form = new FormData();
      const evaluator = { content_type: "jq", rules };
      form.append("data_json", JSON.stringify({ name: "coverage", description, evaluator, summary: null }));
      await organization.ask("POST", `/custom-attestation-types/${org}`, form);
    };
    await save([".lines >= 80"]);
    const { page, complaints } = await openLive(site, `/${org}/attestation-types/coverage/edit`);
    const rule = (number: number) => page.getByLabel(`Rule ${number}`, { exact: true });
    const description = page.getByLabel("Description", { exact: true });
    await rule(1).waitFor();
    await save([".lines >= 85"]);
    await expect.poll(() => rule(1).inputValue(), patient).toBe(".lines >= 85");
    await page.getByRole("button", { name: "Save… (Nothing was changed)" }).waitFor();

    await description.fill("Mine");
    await save([".lines >= 85", ".branches >= 70"]);
    await theirs(page).getByText(".branches >= 70").waitFor();
    await told(page).getByText("Somebody else has saved version 3 since you began.").waitFor();
    await page.getByRole("button", { name: undecided("Save…") }).waitFor();
    await showTheirs(page).click();
    await rule(2).waitFor();
    expect(await description.inputValue()).toBe("Before");

    // Just when it is to be saved.
    await description.fill("Mine");
    await page.getByRole("button", { name: "Save…", exact: true }).click();
    await save([".branches >= 75"]);
    await page.getByRole("button", { name: undecided("Save as a new version") }).waitFor();
    const changes = page.getByRole("table", { name: "What changes" });
    await changes.getByText("removed: .branches >= 75").waitFor();
    await keepMine(page).click();
    await page.getByRole("button", { name: "Save as a new version", exact: true }).click();
    await page.getByRole("heading", { name: "coverage", level: 1, exact: true }).waitFor();
    expect(await organization.ask("GET", `/custom-attestation-types/${org}/coverage`)).toMatchObject({
      description: "Mine",
      versions: [{ version: 5, evaluator: { rules: [".lines >= 85", ".branches >= 70"] } }, {}, {}, {}, {}],
    });
    expect(complaints).toEqual([]);
  });

  it("of a policy is saved over theirs by who has seen theirs, and shown to who writes nothing", async () => {
    const text = (count: number): string => `_schema: https://x${count}.test/v1\n`;
    await organization.putPolicy("origin", text(1));
    const { page, complaints } = await openLive(site, `/${org}/policies/origin/edit`);
    const editor = page.getByRole("textbox", { name: "Text of the policy, YAML" });
    await page.locator(".cm-editor").waitFor();
    await organization.putPolicy("origin", text(2));
    await editor.getByText(text(2).trim()).waitFor();
    // Nobody is asked who wrote nothing.
    const crumbs = page.getByRole("navigation", { name: "Breadcrumbs" });
    await crumbs.getByRole("link", { name: "origin", exact: true }).click();
    await page.getByRole("link", { name: "Edit" }).click();
    await page.locator(".cm-editor").waitFor();

    await editor.press("Control+Home");
    await page.keyboard.type("# Mine\n");
    await organization.putPolicy("origin", text(3));
    await theirs(page).getByText(text(3).trim()).waitFor();
    await page.getByRole("button", { name: undecided("Save…") }).waitFor();
    expect(await editor.innerText()).toContain("# Mine");
    await keepMine(page).click();
    await told(page).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Save…", exact: true }).click();
    await page.getByRole("textbox", { name: "Comment", exact: true }).fill("Mine");
    const changes = page.getByRole("table", { name: "What changes" });
    await changes.getByText(`removed: ${text(3).trim()}`).waitFor();
    await page.getByRole("button", { name: "Save as a new version" }).click();
    await page.getByRole("heading", { name: "origin", level: 1, exact: true }).waitFor();
    const { versions } = await organization.ask<{ versions: { policy_yaml: string }[] }>(
      "GET",
      `/policies/${org}/origin`,
    );
    expect(versions.map(({ policy_yaml }) => policy_yaml)).toEqual([
      text(1),
      text(2),
      text(3),
      `# Mine\n${text(2)}`,
    ]);
    expect(complaints).toEqual([]);
  });

  it("of a control is saved over theirs by who has seen theirs, and shown to who writes nothing", async () => {
    const path = `/controls/${org}`;
    const save = (part: object): Promise<unknown> => organization.ask("PUT", `${path}/CC-7`, part);
    await organization.ask("POST", path, { identifier: "CC-7", name: "Reviewed", description: "Before" });
    const { page, complaints } = await openLive(site, `/${org}/controls/CC-7`);
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    const description = dialog.getByLabel("Description", { exact: true });
    await save({ description: "Theirs" });
    await expect.poll(() => description.inputValue(), patient).toBe("Theirs");

    await description.fill("Mine");
    await save({ links: { Standard: "https://standards.test/7" } });
    await theirs(page).getByText("added: link Standard https://standards.test/7").waitFor();
    await told(page).getByText("Somebody else has saved version 3 since you began.").waitFor();
    await dialog.getByRole("button", { name: undecided("Save as a new version") }).waitFor();
    await showTheirs(page).click();
    await expect.poll(() => description.inputValue(), patient).toBe("Theirs");
    expect(await dialog.getByLabel("Links").inputValue()).toBe("Standard https://standards.test/7");

    await description.fill("Mine");
    await save({ name: "Reviewed by two" });
    await keepMine(page).click();
    await dialog.getByRole("button", { name: "Save as a new version", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await organization.ask("GET", `${path}/CC-7`)).toMatchObject({
      version: 5,
      name: "Reviewed",
      description: "Mine",
      links: { Standard: "https://standards.test/7" },
    });
    expect(complaints).toEqual([]);
  });

  it("of an action is saved over theirs by who has seen theirs, with addresses that theirs have moved", async () => {
    for (const name of ["dock", "quay"])
      await organization.ask("PUT", `/environments/${org}`, { name, type: "docker", description: "" });
    const webhook = { type: "WEBHOOK", webhook: "https://hooks.harborlight.example/T1/secret" };
    const email = { type: "EMAIL", emails: ["ann@harborlight.example"] };
    const action = {
      type: "env",
      name: "wake-up",
      environments: ["dock"],
      triggers: ["ON_SILENT_ENV"],
      targets: [webhook],
    };
    await organization.ask("PUT", `/actions/${org}/environments`, action);
    const save = (part: object): Promise<unknown> =>
      organization.ask("PUT", `/organizations/${org}/environments_notifications/1`, { ...action, ...part });
    const { page, complaints } = await openLive(site, `/${org}/actions/1?edit=true`);
    const name = page.getByLabel("Name", { exact: true });
    await name.waitFor();
    await save({ environments: ["dock", "quay"] });
    await page.getByRole("button", { name: "Without quay" }).waitFor();

    await name.fill("mine");
    await save({ targets: [email, webhook] });
    await theirs(page).getByText("EMAIL ann@harborlight.example").waitFor();
    await page.getByRole("button", { name: undecided("Save") }).waitFor();
    await keepMine(page).click();
    const address = page.getByLabel("Webhook address");
    await page.getByText("A secret: it is never shown again.").waitFor();
    await address.fill("https://hooks.harborlight.example/T2/secret");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Change", exact: true }).waitFor();
    expect(await organization.ask("GET", `/actions/${org}/1`)).toMatchObject({
      name: "mine",
      environments: ["dock", "quay"],
      targets: [{ type: "WEBHOOK" }],
    });
    expect(complaints).toEqual([]);
  });
});
