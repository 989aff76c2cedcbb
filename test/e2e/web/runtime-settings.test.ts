import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { holdAnswers, patient, provenancePolicy, tab } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("what can be set about environments", { timeout: 90_000 }, () => {
  let site: WebSite;
  let organization: OwnOrganization;
  let org: string;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  // For each, so that none meets what another one, or its own first try, has set.
  beforeEach(async () => {
    organization = await makeOrganization(site, "yards");
    org = organization.name;
    await organization.putPolicy("known", provenancePolicy);
    for (const [name, type] of [
      ["dock", "docker"],
      ["quay", "docker"],
      ["harbour", "logical"],
    ])
      await organization.ask("PUT", `/environments/${org}`, { name, type, description: "" });
    await organization.ask("POST", `/spaces/${org}`, { name: "East" });
  });

  const get = <T>(path: string): Promise<T> => organization.ask<T>("GET", `/environments/${org}${path}`);

  it("lists deployments", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/environments/warehouse-prod/deployments`);
    const table = page.getByRole("table", { name: "Deployments" });
    await table.getByText("warehouse-loader.whl:1.20.0").first().waitFor();
    expect(complaints).toEqual([]);
  });

  it("changes what is allowed", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock`);
    await tab(page, "Allow-list").click();
    await page.getByRole("button", { name: "Allow an artifact" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name of the artifact").fill("tool:1");
    await dialog.getByLabel("Fingerprint").fill("not a digest");
    await dialog.getByLabel("Why it is trusted").fill("By hand");
    await dialog.getByRole("button", { name: "Allow", exact: true }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Fingerprint").fill("a".repeat(64));
    await dialog.getByRole("button", { name: "Allow", exact: true }).click();
    await page.getByRole("table", { name: "Allowed here" }).getByText("tool:1").waitFor();
    await page.getByRole("button", { name: "Allow tool:1 no more" }).click();
    await dialog.getByRole("button", { name: "Take it off the list" }).click();
    await page.getByText("Nothing is allowed here beside the rules").waitFor();
    expect(complaints.filter((complaint) => !complaint.includes("status of 400"))).toEqual([]);
  });

  it("attaches and detaches policies, and describes what the environment is for", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock/settings`);
    await page.getByRole("button", { name: "Attach a policy" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Policy").selectOption("known");
    await dialog.getByRole("button", { name: "Attach" }).click();
    await page.getByRole("button", { name: "Detach known" }).click();
    await dialog.getByRole("button", { name: "Detach" }).click();
    await page.getByRole("button", { name: "Detach known" }).waitFor({ state: "detached" });
    await page.getByLabel("What this environment is for").fill("Where parcels wait");
    const save = page.getByRole("button", { name: "Save the description" });
    await save.click();
    await expect.poll(() => save.getAttribute("title"), patient).toBe("Nothing was changed");
    expect(await get("/dock")).toMatchObject({ description: "Where parcels wait", policies: [] });
    expect(complaints).toEqual([]);
  });

  it("sets tags, space, and how long it may be silent", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/dock/settings`);
    await page.getByLabel("New tag").fill("stage");
    await page.getByLabel("Value").fill("prod");
    await page.getByRole("button", { name: "Set the tag" }).click();
    await page.getByRole("button", { name: "Remove tag stage" }).waitFor();
    await page.getByLabel("New tag").fill("tier");
    await page.getByRole("button", { name: "Set the tag" }).click();
    await page.getByRole("button", { name: "Remove tag tier" }).click();
    await page.getByRole("button", { name: "Remove tag tier" }).waitFor({ state: "detached" });
    await page.getByLabel("Where it stands in the tree of spaces").selectOption({ label: "East" });
    const move = page.getByRole("button", { name: "Move it there" });
    await move.click();
    await expect.poll(() => move.getAttribute("title"), patient).toBe("Nothing was changed");
    await page.getByLabel("Longest silence, in minutes").fill("90");
    await page.getByRole("button", { name: "Save the limit" }).click();
    await page.getByText("A silence of more than 1 h is told, as was set here.").waitFor();
    const [space] = await organization.ask<{ id: string }[]>("GET", `/spaces/${org}`);
    expect(await get("/dock?include=summary")).toMatchObject({
      tags: { stage: "prod" },
      space_id: space!.id,
    });
    expect(await get("/dock/silence")).toMatchObject({ limit_seconds: 5_400, limit_source: "set" });
    expect(complaints).toEqual([]);
  });

  it("chooses what a logical environment is made of", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments/harbour/settings`);
    await page.getByText("None yet: nothing runs here until it has some.").waitFor();
    await page.getByRole("button", { name: "Choose members" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("dock").check();
    await dialog.getByLabel("quay").check();
    await dialog.getByRole("button", { name: "Save the members" }).click();
    await page.getByRole("link", { name: "quay", exact: true }).waitFor();
    expect(await get("/harbour")).toMatchObject({ included_environments: ["dock", "quay"] });
    expect(complaints).toEqual([]);
  });

  it("leads from a former name to the present one, under which everything is shown and live", async () => {
    const allow = (name: string, digit: string): Promise<unknown> =>
      organization.ask("PUT", `/allowlists/${org}/pier`, {
        artifact_name: name,
        artifact_fingerprint: digit.repeat(64),
        description: "",
      });
    const artifacts = [{ digests: { "tool:1": "a".repeat(64) }, creationTimestamp: 1_786_000_000 }];
    await organization.ask("PUT", `/environments/${org}/dock/report/docker`, { artifacts });
    await organization.ask("PUT", `/environments/${org}/dock/rename`, { new_name: "pier" });
    await organization.ask("PUT", `/flows/${org}`, {
      name: "old-ci",
      description: "",
      visibility: "private",
    });
    await organization.ask("PUT", `/flows/${org}/old-ci/rename`, { new_name: "new-ci" });
    await allow("tool:1", "a");
    const { page, complaints } = await site.open();
    await page.goto(`/${org}/environments`);
    await page.getByRole("link", { name: "pier", exact: true }).waitFor();
    for (const [former, present] of [
      ["flows/old-ci/artifacts?page=2", "flows/new-ci/artifacts?page=2"],
      ["environments/dock?q=tool#top", "environments/pier?q=tool#top"],
      ["environments/dock/snapshots/1?q=tool", "environments/pier/snapshots/1?q=tool"],
      ["environments/dock/allow-list", "environments/pier/allow-list"],
    ]) {
      await page.goto(`/${org}/${former}`);
      await page.waitForURL(`${site.url}/${org}/${present}`);
    }
    const table = page.getByRole("table", { name: "Allowed here" });
    await table.getByText("tool:1").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await allow("tool:2", "b");
    await table.getByText("tool:2").waitFor();
    // No former name stands in the history.
    await page.goBack();
    await page.waitForURL(/\/pier\/snapshots\/1\?q=tool$/);
    expect(complaints).toEqual([]);
  });

  it("shows what is allowed also before the address has the present name", async () => {
    await organization.ask("PUT", `/allowlists/${org}/dock`, {
      artifact_name: "tool:1",
      artifact_fingerprint: "a".repeat(64),
      description: "",
    });
    await organization.ask("PUT", `/environments/${org}/dock/rename`, { new_name: "pier" });
    const { page, complaints } = await site.open();
    const release = await holdAnswers(page, /\/environments\/[^/]+\/dock/);
    await page.goto(`/${org}/environments/dock/allow-list`);
    await page.getByRole("table", { name: "Allowed here" }).getByText("tool:1").waitFor();
    release();
    await page.waitForURL(/\/pier\/allow-list$/);
    expect(complaints).toEqual([]);
  });

  it("renames, archives, and takes out of the archive", async () => {
    await organization.ask("PUT", `/environments/${org}`, { name: "pier", type: "docker", description: "" });
    const { page } = await site.open();
    await page.goto(`/${org}/environments/pier/settings`);
    await page.getByRole("button", { name: "Rename" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("New name").fill("jetty");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "jetty", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Archive" }).click();
    await dialog.getByRole("button", { name: "Archive" }).click();
    await page.waitForURL(/\/environments\?archived=true$/);
    await page.getByRole("link", { name: /^jetty-archived-at-\d+$/ }).click();
    await tab(page, "Settings").click();
    await page.getByRole("button", { name: "Take out of the archive" }).click();
    await dialog.getByRole("button", { name: "Take it out" }).click();
    await expect
      .poll(async () => (await get<{ archived_at: number | null }>("/jetty")).archived_at, patient)
      .toBeNull();
  });

  it("lets readers see the settings, and says why they may not change them", async () => {
    await organization.ask("POST", `/service-accounts/${org}`, { name: "auditor", privilege: "reader" });
    const { key } = await organization.ask<{ key: string }>(
      "POST",
      `/service-accounts/${org}/auditor/api-keys`,
      { description: "of a test" },
    );
    const { page } = await site.open({ key });
    await page.goto(`/${org}/environments/harbour/settings`);
    for (const name of ["Set the tag", "Choose members", "Attach a policy", "Move it there", "Archive"]) {
      const button = page.getByRole("button", { name: new RegExp(`^${name}`) });
      await expect.poll(() => button.getAttribute("title"), patient).toMatch(/reader/);
      expect(await button.getAttribute("aria-disabled")).toBe("true");
    }
  });
});
