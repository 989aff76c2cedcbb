import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { inaccessible } from "../../support/axe.ts";
import { hasBrowser } from "../../support/browser.ts";
import { ask } from "../../support/site.ts";
import { uniqueName } from "../../support/unique-name.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { unlessFree, writeInEditor } from "../../support/web-page.ts";
import { openSite, untilSettled, type WebSite } from "../../support/web.ts";

const nameField = (page: Page) => page.getByRole("textbox", { name: "Name", exact: true });

describe.skipIf(!hasBrowser)("new environments", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  beforeEach(async () => {
    own = await makeOrganization(site, "new-env");
  });

  const put = (name: string, type = "docker"): Promise<unknown> =>
    own.ask("PUT", `/environments/${own.name}`, { name, type, description: "As it was" });

  it("are made by keyboard alone, from the empty list, and say how they are reported on", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments`);
    await page.getByText("No environments yet").waitFor();
    await page.getByRole("main").getByRole("link", { name: "New environment" }).last().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "New environment", level: 1 }).waitFor();
    await nameField(page).focus();
    await page.keyboard.type("dock");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Docker");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Where ships are unloaded");
    await page.getByText("Containers of a machine.").waitFor();
    await nameField(page).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "dock", level: 1 }).waitFor();
    await page.getByText("Nobody has reported what runs here").waitFor();
    expect(await own.ask("GET", `/environments/${own.name}/dock`)).toMatchObject({
      name: "dock",
      type: "docker",
      description: "Where ships are unloaded",
      policies: [],
    });
    expect(unlessFree(complaints)).toEqual([]);
  });

  it("have members that are reported on, and policies, chosen from those there are", async () => {
    await put("dock");
    await put("quay");
    await put("harbor", "logical");
    await own.putPolicy("known", "_schema: https://waybill.test/v1\n");
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments/-/new`);
    await nameField(page).fill("all");
    await page.getByLabel("Type").selectOption("logical");
    await page.getByRole("checkbox", { name: "quay" }).check();
    expect(await page.getByRole("checkbox", { name: "harbor" }).count()).toBe(0);
    await page.getByText("Policies", { exact: true }).last().click();
    await page.getByRole("checkbox", { name: "known" }).check();
    await page.getByText("Policies: 1 chosen").waitFor();
    expect(await inaccessible(page)).toEqual([]);
    await page.getByRole("button", { name: "Make the environment" }).click();
    await page.getByRole("heading", { name: "all", level: 1 }).waitFor();
    expect(await own.ask("GET", `/environments/${own.name}/all`)).toMatchObject({
      type: "logical",
      included_environments: ["quay"],
      policies: ["known"],
    });
    expect(unlessFree(complaints)).toEqual([]);
  });

  it("take no name that is taken, also not since it was looked at, and tell of a former one", async () => {
    await put("dock");
    await put("old");
    await own.ask("PUT", `/environments/${own.name}/old/rename`, { new_name: "renamed" });
    const { page } = await site.open();
    await page.goto(`/${own.name}/environments/-/new`);
    await page.getByRole("button", { name: "Make the environment (Choose a type first)" }).waitFor();
    await page.getByLabel("Type").selectOption("K8S");
    await nameField(page).fill("dock east");
    await page.getByText(/^It cannot hold a blank\./).waitFor();
    await page
      .getByRole("button", { name: "Make the environment (The name has to be another one)" })
      .waitFor();
    await nameField(page).fill("dock");
    await page.getByText("There is an environment dock already").waitFor();
    await page.getByRole("button", { name: "Make the environment (The name is taken)" }).waitFor();
    expect(await nameField(page).getAttribute("aria-invalid")).toBe("true");
    expect(await inaccessible(page)).toEqual([]);
    await nameField(page).fill("old");
    await page.getByText(/^It was the name of renamed/).waitFor();

    // Somebody else is faster, and this page is not told.
    await page.route(/\/api\/v2\/changes\//, (route) => route.abort());
    await nameField(page).fill("fast");
    const asked = page.waitForResponse(/\/environments\/[^/]+\/fast$/);
    await asked;
    await put("fast");
    await page.getByRole("button", { name: "Make the environment" }).click();
    await page.getByText("There is an environment fast already").first().waitFor();
    expect(await own.ask("GET", `/environments/${own.name}/fast`)).toMatchObject({
      type: "docker",
      description: "As it was",
    });
    await page.getByRole("link", { name: "open it" }).click();
    await page.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { name: "fast", level: 1 }).waitFor();
  });

  it("say at the field what the server refuses, and ask before they are lost", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments/-/new`);
    await nameField(page).fill("dock");
    await page.getByLabel("Type").selectOption("docker");
    await page.getByLabel("Description").fill("x".repeat(10_001));
    await page.getByRole("button", { name: "Make the environment" }).click();
    await page.getByText("String should have at most 10000 characters").first().waitFor();
    expect(await page.getByLabel("Description").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("Description").fill("x");
    expect(await page.getByText("String should have at most").count()).toBe(0);
    await page.getByRole("link", { name: "Spaces", exact: true }).click();
    await page.getByRole("button", { name: "Stay" }).click();
    expect(await page.getByLabel("Description").inputValue()).toBe("x");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("No environments yet").waitFor();
    expect(unlessFree(complaints).filter((one) => !one.includes("status of 400"))).toEqual([]);
  });

  it("stay where the session has ended meanwhile, and are made once one is signed in in another tab", async () => {
    const { page, context } = await site.open();
    await page.goto(`/${own.name}/environments/-/new`);
    await nameField(page).fill("dock");
    await page.getByLabel("Type").selectOption("docker");
    await context.clearCookies();
    await page.getByRole("button", { name: "Make the environment" }).click();
    await page.getByText("You are signed out.").waitFor();
    const opened = page.waitForEvent("popup");
    await page.getByRole("link", { name: "Sign in" }).click();
    const other = await opened;
    await other.getByLabel("API key").fill(site.key);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.waitForURL(/\/environments\/-\/new$/);
    await page.getByRole("button", { name: "Make the environment" }).click();
    await page.getByRole("heading", { name: "dock", level: 1 }).waitFor();
    expect(await own.ask("GET", `/environments/${own.name}/dock`)).toMatchObject({ type: "docker" });
  });
});

describe.skipIf(!hasBrowser)("new flows", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  beforeEach(async () => {
    own = await makeOrganization(site, "new-flow");
  });

  interface Flow {
    template: string;
  }

  it("are made with a template, whose mistakes stand at their lines", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}`);
    await page.getByRole("main").getByRole("link", { name: "New flow" }).click();
    await nameField(page).fill("web-ci");
    await page.getByLabel("Description").fill("The shop");
    await page.getByLabel("Visibility").selectOption("public");
    await page.locator(".cm-editor").waitFor();
    const write = (text: string) => writeInEditor(page, "Template, YAML", text);
    await write("version: 1\ntrail:\n  attestatons: []\n");
    await page.getByRole("button", { name: /line 3:/ }).waitFor();
    await page.getByRole("button", { name: "Make the flow (The text has to be without mistakes)" }).waitFor();
    expect(await inaccessible(page)).toEqual([]);
    const template = "version: 1\ntrail:\n  attestations:\n    - name: review\n      type: pull_request\n";
    await write(template);
    await page.getByRole("region", { name: "What trails would need" }).getByText("1 attestation").waitFor();
    await page.getByRole("button", { name: "Make the flow", exact: true }).click();
    await page.getByRole("heading", { name: "web-ci", level: 1 }).waitFor();
    await page.getByText("No trails yet").waitFor();
    expect(await own.ask("GET", `/flows/${own.name}/web-ci`)).toMatchObject({
      description: "The shop",
      visibility: "public",
      template,
    });
    expect(unlessFree(complaints)).toEqual([]);
  });

  it("ask for nothing where no template is written, and take no name that is taken", async () => {
    await own.ask("PUT", `/flows/${own.name}`, {
      name: "there",
      description: "As it was",
      template: ["tests"],
    });
    const before = await own.ask<Flow>("GET", `/flows/${own.name}/there`);
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/flows`);
    await page.getByRole("link", { name: "New flow" }).click();
    await nameField(page).fill("there");
    await page.getByText("There is a flow there already").waitFor();
    await page.getByRole("button", { name: "Make the flow (The name is taken)" }).waitFor();
    await nameField(page).press("Enter");
    await nameField(page).fill("plain");
    await page.getByRole("button", { name: "Make the flow", exact: true }).click();
    await page.getByRole("heading", { name: "plain", level: 1 }).waitFor();
    expect((await own.ask<Flow>("GET", `/flows/${own.name}/plain`)).template).toBe("version: 1\n");
    expect(await own.ask<Flow>("GET", `/flows/${own.name}/there`)).toEqual(before);
    expect(unlessFree(complaints)).toEqual([]);
  });

  it("are for those who may make them; others are told why not", async () => {
    const { page, complaints } = await site.open({ key: await own.keyFor("reader") });
    await page.goto(`/${own.name}/flows/-/new`);
    await page.getByText("You are reader here; this needs member.", { exact: true }).waitFor();
    await untilSettled(page);
    expect(await page.getByRole("textbox", { name: "Template, YAML" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("new organizations", { timeout: 90_000 }, () => {
  let site: WebSite;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);

  it("are made by administrators of the installation, who may do everything there at once", async () => {
    const name = uniqueName("made-here");
    const { page, complaints } = await site.open();
    await page.goto("/-/organizations");
    await page.getByRole("link", { name: "New organization" }).click();
    await nameField(page).fill(site.org);
    await page.getByText(`There is an organization ${site.org} already`).waitFor();
    await nameField(page).fill("metrics");
    await page.getByRole("button", { name: "Make the organization", exact: true }).click();
    await page.getByText("The name 'metrics' is reserved").first().waitFor();
    expect(await nameField(page).getAttribute("aria-invalid")).toBe("true");
    expect(await inaccessible(page)).toEqual([]);
    await nameField(page).fill(name);
    await page.getByLabel("Display name").fill("Made here");
    await page.getByLabel("Description").fill("For the east");
    await page.getByRole("button", { name: "Make the organization", exact: true }).click();
    await page.getByText("0 of 7 steps done").waitFor();
    await page.getByRole("main").getByRole("link", { name: "New flow" }).waitFor();
    expect(await ask(site, "GET", `/organizations/${name}`)).toMatchObject({
      display_name: "Made here",
      description: "For the east",
      public: false,
      kind: "shared",
    });
    expect(complaints.filter((one) => !one.includes("status of 400"))).toEqual([]);
  });

  it("are not made by others, who are told why, and whom the server refuses", async () => {
    const own = await makeOrganization(site, "no-organizations");
    const { page } = await site.open({ key: await own.keyFor("admin") });
    await page.goto("/-/organizations");
    const only = "Only for administrators of the installation";
    await page.getByRole("button", { name: `New organization (${only})` }).waitFor();
    await page.goto("/-/organizations/new");
    await page.getByRole("button", { name: `Make the organization (${only})` }).waitFor();
    await page.getByText(`${only}.`, { exact: true }).waitFor();
    const status = await page.evaluate(async () => {
      const headers = { "content-type": "application/json" };
      const sent = { method: "POST", headers, body: JSON.stringify({ name: "not-made" }) };
      return (await fetch("/api/v2/organizations", sent)).status;
    });
    expect(status).toBe(403);
  });
});
