import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { holdAnswers, patient, provenancePolicy, tab } from "../../support/web-page.ts";
import { openSite, untilNothingToDo, type WebSite } from "../../support/web.ts";

const description = (page: Page) => page.getByLabel("What this environment is for");
const minutes = (page: Page) => page.getByLabel("Longest silence, in minutes");
const newTag = (page: Page) => page.getByLabel("New tag");

/**
 * Opens a part of one thing's pages after that of another, writes in it, and goes back to the first at once, as one does in the menu of
 * the browser's button.
 * @param list what the list is called that leads from one to the other.
 */
async function writeAndGoBack(
  page: Page,
  list: string,
  name: string,
  write: () => Promise<void>,
  part = "Settings",
) {
  const start = await page.evaluate<number>("history.length");
  const crumbs = page.getByRole("navigation", { name: "Breadcrumbs" });
  await crumbs.getByRole("link", { name: list, exact: true }).click();
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
  await tab(page, part).click();
  await write();
  await page.evaluate(`history.go(${start} - history.length)`);
}

describe.skipIf(!hasBrowser)("settings that are not saved yet", { timeout: 90_000 }, () => {
  let site: WebSite;
  let organization: OwnOrganization;
  let org: string;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  // For each, so that none meets what another one, or its own first try, has set.
  beforeEach(async () => {
    organization = await makeOrganization(site, "unsaved");
    org = organization.name;
    for (const name of ["dock", "quay"]) {
      await organization.ask("PUT", `/environments/${org}`, { name, type: "docker", description: "" });
      await organization.ask("PUT", `/flows/${org}`, {
        name: `${name}-ci`,
        description: "",
        visibility: "private",
      });
    }
    await organization.ask("POST", `/spaces/${org}`, { name: "East" });
  });

  const setTags = (tags: Record<string, string>): Promise<unknown> =>
    organization.ask("PATCH", `/tags/${org}/environment/dock`, { set_tags: tags });

  it("do not go to another environment", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock/settings`);
    const space = page.getByLabel("Where it stands in the tree of spaces");
    await space.waitFor();
    await minutes(page).waitFor();
    await writeAndGoBack(page, "Environments", "quay", async () => {
      await description(page).fill("Where ships are unloaded");
      await newTag(page).fill("half");
      await minutes(page).fill("7");
      await space.selectOption({ label: "East" });
      await page.getByRole("button", { name: "Rename" }).click();
      await page.getByRole("dialog").waitFor();
    });
    // Once for all of it.
    await page.getByRole("button", { name: "Leave", exact: true }).click();
    await page.getByRole("heading", { name: "dock", level: 1 }).waitFor();
    const fields = [description(page), newTag(page), minutes(page), space];
    expect(await Promise.all(fields.map((field) => field.inputValue()))).toEqual(["", "", "", ""]);
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it.each([
    ["environments/dock/settings", "What this environment is for", "Where ships are unloaded", "Timeline"],
    ["environments/dock/settings", "Longest silence, in minutes", "7", "Timeline"],
    ["environments/dock/settings", "Where it stands in the tree of spaces", "East", "Timeline"],
    ["settings/general", "Display name", "Harbour", "Members"],
    // The server writes it with a line for each.
    ["settings/security", "Addresses they come from", "0.0.0.0/0 ::/0", "Members"],
  ])(
    "of %s, %s, are asked about before they are lost, and not once they are saved",
    async (...[path, label, text, elsewhere]) => {
      const { page, complaints } = await site.open();
      await page.goto(`/${org}/${path}`);
      const field = page.getByLabel(label);
      await field.waitFor();
      const isChoice = label.startsWith("Where it stands");
      await (isChoice ? field.selectOption({ label: text }) : field.fill(text));
      const written = await field.inputValue();
      const form = page.locator("form").filter({ has: field });
      const leave = page.getByRole("dialog", { name: "Leave without saving?" });
      await tab(page, elsewhere).click();
      await leave.getByRole("button", { name: "Stay" }).click();
      expect(new URL(page.url()).pathname).toBe(`/${org}/${path}`);
      expect(await field.inputValue()).toBe(written);
      await form.locator("[type=submit]").click();
      await form.getByText("Saved", { exact: true }).waitFor();
      await tab(page, elsewhere).click();
      await page.waitForURL((url) => !url.pathname.endsWith(path));
      expect(await leave.count()).toBe(0);
      expect(complaints).toEqual([]);
    },
  );

  it("stay where the page is refused meanwhile", async () => {
    const { page } = await site.open();
    await page.goto(`/${org}/settings/general`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByLabel("Display name").fill("Harbour");
    await page.route(/\/organizations\/[^/]+$/, (route) =>
      route.fulfill({ status: 403, json: { message: "Not now" } }),
    );
    const refused = page.waitForResponse((response) => response.status() === 403);
    await organization.ask("PATCH", `/organizations/${org}`, { description: "Theirs" });
    await refused;
    await page.evaluate(untilNothingToDo);
    expect(await page.getByLabel("Display name").inputValue()).toBe("Harbour");
  });

  it("do not go to the allow-list of another environment", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock/allow-list`);
    const open = page.getByRole("button", { name: "Allow an artifact" });
    await open.waitFor();
    await writeAndGoBack(
      page,
      "Environments",
      "quay",
      async () => {
        await open.click();
        await page.getByLabel("Name of the artifact").fill("crane:1");
      },
      "Allow-list",
    );
    await page.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { name: "dock", level: 1 }).waitFor();
    await page.getByText("Nothing is allowed here beside the rules").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("and questions that are not answered do not go to another policy", async () => {
    const policies = ["dock-rule", "quay-rule"];
    for (const name of policies) await organization.putPolicy(name, provenancePolicy);
    await organization.ask("POST", `/environments/${org}/dock/policies`, { policy_names: policies });
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/policies/dock-rule`);
    const detach = page.getByRole("button", { name: "Detach from dock" });
    await detach.waitFor();
    const start = await page.evaluate<number>("history.length");
    const crumbs = page.getByRole("navigation", { name: "Breadcrumbs" });
    await crumbs.getByRole("link", { name: "Policies", exact: true }).click();
    await page.getByRole("link", { name: "quay-rule", exact: true }).click();
    await page.getByRole("heading", { name: "quay-rule", level: 1 }).waitFor();
    await detach.click();
    await page.getByRole("dialog", { name: "Detach from dock" }).waitFor();
    await page.evaluate(`history.go(${start} - history.length)`);
    await page.getByRole("heading", { name: "dock-rule", level: 1 }).waitFor();
    await detach.waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("stay while somebody else renames the environment, which the address says once they are saved", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock/settings`);
    await description(page).fill("Where ships are unloaded");
    await organization.ask("PUT", `/environments/${org}/dock/rename`, { new_name: "pier" });
    // Everything is read again then, also the name.
    await newTag(page).fill("stage");
    await page.getByRole("button", { name: "Set the tag" }).click();
    await page.getByRole("button", { name: "Remove tag stage" }).waitFor();
    expect(await description(page).inputValue()).toBe("Where ships are unloaded");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(`/${org}/environments/dock/settings`);
    await page.getByRole("button", { name: "Save the description" }).click();
    await page.waitForURL(/\/environments\/pier\/settings$/);
    await expect.poll(() => description(page).inputValue(), patient).toBe("Where ships are unloaded");
    expect(complaints).toEqual([]);
  });

  it("do not go to another flow", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/flows/dock-ci/settings`);
    await newTag(page).waitFor();
    await writeAndGoBack(page, "Flows", "quay-ci", async () => {
      await newTag(page).fill("half");
      await page.getByRole("button", { name: "Rename" }).click();
      await page.getByRole("dialog").waitFor();
    });
    await page.getByRole("heading", { name: "dock-ci", level: 1 }).waitFor();
    expect(await newTag(page).inputValue()).toBe("");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("stay while another limit of silence is learned", async () => {
    const { page, complaints } = await site.open();
    let limit_seconds = 1_800;
    await page.route(/\/dock\/silence$/, (route) =>
      route.fulfill({
        json: {
          environment_name: "dock",
          last_reported_at: 1_700_000_000,
          usual_interval_seconds: limit_seconds / 3,
          limit_seconds,
          limit_source: "learned",
          is_stale: false,
          stale_since: null,
          gaps: [],
        },
      }),
    );
    await page.goto(`/${org}/environments/dock/settings`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("A silence of more than 30 min is told, as was learned.").waitFor();
    await minutes(page).fill("4");
    limit_seconds = 2_400;
    await setTags({ stage: "prod" });
    await page.getByText("A silence of more than 40 min is told, as was learned.").waitFor();
    await page.keyboard.type("5");
    expect(await minutes(page).inputValue()).toBe("45");
    expect(complaints).toEqual([]);
  });

  it("stay while somebody else saves others, which are shown to those who write nothing", async () => {
    const [north, west] = await Promise.all(
      ["North", "West"].map((name) => organization.ask<{ id: string }>("POST", `/spaces/${org}`, { name })),
    );
    const saveOthers = async (text: string, space_id: string | null, limit_seconds: number) => {
      await organization.ask("PATCH", `/environments/${org}/dock`, { description: text, space_id });
      await organization.ask("PUT", `/environments/${org}/dock/silence`, { limit_seconds });
    };
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock/settings`);
    const space = page.getByLabel("Where it stands in the tree of spaces");
    await space.waitFor();
    await minutes(page).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const fields = (): Promise<string[]> =>
      Promise.all([description(page), space, minutes(page)].map((field) => field.inputValue()));
    await saveOthers("Theirs", west!.id, 1_800);
    await expect.poll(fields, patient).toEqual(["Theirs", west!.id, "30"]);
    await description(page).fill("Mine");
    await space.selectOption({ label: "North" });
    await minutes(page).fill("4");
    await saveOthers("Theirs, too", null, 2_400);
    await page.getByText("A silence of more than 40 min is told, as was set here.").waitFor();
    // What was asked before that is here, too.
    await setTags({ stage: "prod" });
    await page.getByRole("button", { name: "Remove tag stage" }).waitFor();
    expect(await fields()).toEqual(["Mine", north!.id, "4"]);
    await page.getByRole("button", { name: "Save the description" }).click();
    await page.getByRole("button", { name: "Move it there" }).click();
    await page.getByRole("button", { name: "Save the limit" }).click();
    await page.getByText("A silence of more than 4 min is told, as was set here.").waitFor();
    for (const name of ["Save the description", "Move it there"])
      await page.getByRole("button", { name: `${name} (Nothing was changed)` }).waitFor();
    await saveOthers("Theirs again", west!.id, 3_000);
    await expect.poll(fields, patient).toEqual(["Theirs again", west!.id, "50"]);
    // Kept as a whole number of seconds, and written without what it begins with.
    for (const [written, kept, theirs] of [
      ["1.001", "1", 1_200],
      ["05", "5", 2_400],
    ] as const) {
      await minutes(page).fill(written);
      await page.getByRole("button", { name: "Save the limit" }).click();
      await expect.poll(() => minutes(page).inputValue(), patient).toBe(kept);
      await organization.ask("PUT", `/environments/${org}/dock/silence`, { limit_seconds: theirs });
      await expect.poll(() => minutes(page).inputValue(), patient).toBe(String(theirs / 60));
    }
    expect(complaints).toEqual([]);
  });

  it("of an organization go alone, and leave it closed where somebody else has closed it meanwhile", async () => {
    const change = (body: object): Promise<unknown> =>
      organization.ask("PATCH", `/organizations/${org}`, body);
    await change({ public: true, description: "Before" });
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/settings/general`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Save (Nothing was changed)" }).waitFor();
    const name = page.getByLabel("Display name");
    await name.fill("Mine");
    await change({ public: false, description: "Theirs" });
    await page.getByText("its members", { exact: true }).waitFor();
    expect(await page.getByLabel(/^Public/).isChecked()).toBe(false);
    expect(await page.getByLabel("Description").inputValue()).toBe("Theirs");
    expect(await name.inputValue()).toBe("Mine");
    // What is written twice at once is saved by who saves last.
    await page.getByLabel("Description").fill("Mine, too");
    await change({ description: "Theirs, too" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Save (Nothing was changed)" }).waitFor();
    expect(await organization.ask("GET", `/organizations/${org}`)).toMatchObject({
      display_name: "Mine",
      description: "Mine, too",
      public: false,
    });
    expect(complaints).toEqual([]);
  });

  it("of a service account go alone, and give it no role that somebody else has taken from it meanwhile", async () => {
    const path = `/service-accounts/${org}`;
    await organization.ask("POST", path, { name: "crane", description: "Before", privilege: "member" });
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/settings/service-accounts`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Change crane" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Description").fill("Mine");
    await organization.ask("PATCH", `${path}/crane`, { description: "Theirs", privilege: "reader" });
    await expect.poll(() => dialog.getByLabel("Role").inputValue(), patient).toBe("reader");
    expect(await dialog.getByLabel("Description").inputValue()).toBe("Mine");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await organization.ask("GET", `${path}/crane`)).toMatchObject({
      description: "Mine",
      privilege: "reader",
    });
    expect(complaints).toEqual([]);
  });

  it("stay while a tag is removed, which another removal waits for", async () => {
    await setTags({ stage: "prod", tier: "1" });
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock/settings`);
    const [stage, tier] = ["stage", "tier"].map((tag) =>
      page.getByRole("button", { name: `Remove tag ${tag}` }),
    );
    await stage!.waitFor();
    await newTag(page).fill("owner");
    const release = await holdAnswers(page, /\/tags\//);
    await stage!.click();
    await expect.poll(() => tier!.getAttribute("title"), patient).toBe("Under way");
    release();
    await stage!.waitFor({ state: "detached" });
    expect(await newTag(page).inputValue()).toBe("owner");
    await page.unroute(/\/tags\//);
    await page.route(/\/tags\//, (route) => route.abort());
    await tier!.click();
    await page.getByRole("alert").waitFor();
    expect(await newTag(page).inputValue()).toBe("owner");
    await page.unroute(/\/tags\//);
    await page.getByRole("button", { name: "Set the tag" }).click();
    await page.getByRole("button", { name: "Remove tag owner" }).waitFor();
    expect(await newTag(page).inputValue()).toBe("");
    await page.getByRole("alert").waitFor();
    expect(complaints.filter((complaint) => !complaint.includes("ERR_FAILED"))).toEqual([]);
  });
});
