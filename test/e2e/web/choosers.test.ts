import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { type OwnOrganization, makeOrganization } from "../../support/web-organization.ts";
import { provenancePolicy } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("choosing environments out of many", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  beforeEach(async () => {
    own = await makeOrganization(site, "choosers");
    await own.putPolicy("known", provenancePolicy);
  });

  /** Makes environments, some of which the policy is attached to. */
  const make = (prefix: string, count: number, policies: readonly string[]): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, place) =>
        own.ask("PUT", `/environments/${own.name}`, {
          name: `${prefix}-${String(place + 10)}`,
          type: "docker",
          description: "",
          policies,
        }),
      ),
    );

  it("offers those that are left where the first are attached already", async () => {
    await make("attached", 31, ["known"]);
    await make("free", 4, []);
    const { page } = await site.open();
    await page.goto(`/${own.name}/policies/known`);
    await page.getByRole("button", { name: "Attach", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Attach known" });
    await dialog.getByRole("checkbox", { name: "free-10" }).waitFor();
    expect(await dialog.getByRole("checkbox").count()).toBe(4);
    await make("attached-more", 20, ["known"]);
    await page.reload();
    await page.getByRole("button", { name: "Attach", exact: true }).click();
    await dialog.getByText("The first 50 are attached already: find others by name.").waitFor();
    await dialog.getByRole("button", { name: "Attach to 1 environment (Choose an environment)" }).waitFor();
    await dialog.getByRole("searchbox", { name: "Find environments by name" }).fill("free");
    await dialog.getByRole("checkbox", { name: "free-13" }).check();
    await dialog.getByRole("button", { name: "Attach to 1 environment", exact: true }).waitFor();
    await dialog.getByRole("searchbox", { name: "Find environments by name" }).fill("attached-1");
    await dialog.getByRole("checkbox", { name: "free-13" }).uncheck();
    await dialog.getByText("All that have this in their name are attached already.").waitFor();
  });

  it("sends nothing by Enter in the search, with which many end what they look for", async () => {
    await make("prod", 1, []);
    await make("stage", 1, []);
    const { page, requests } = await site.open();
    await page.goto(`/${own.name}/policies/known`);
    await page.getByRole("button", { name: "Attach", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Attach known" });
    await dialog.getByRole("checkbox", { name: "prod-10" }).check();
    const search = dialog.getByRole("searchbox", { name: "Find environments by name" });
    await search.fill("stage");
    await search.press("Enter");
    await dialog.getByRole("checkbox", { name: "stage-10" }).check();
    await dialog.getByRole("button", { name: "Attach to 2 environments", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await page.goto(`/${own.name}/environments/-/new`);
    await page.getByLabel("Name", { exact: true }).fill("all");
    await page.getByLabel("Type").selectOption("logical");
    await page.getByRole("checkbox", { name: "prod-10" }).check();
    await page.getByRole("searchbox", { name: "Find environments by name" }).press("Enter");
    await page.getByRole("checkbox", { name: "stage-10" }).check();
    expect(requests.filter((one) => one.startsWith("PUT"))).toEqual([]);
    await page.getByRole("button", { name: "Make the environment" }).click();
    await page.getByRole("heading", { name: "all", level: 1 }).waitFor();
    expect(await own.ask("GET", `/environments/${own.name}/all`)).toMatchObject({
      included_environments: ["prod-10", "stage-10"],
    });
  });

  it("says that one is missing before an artifact is allowed", async () => {
    await make("prod", 1, []);
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/allow-list`);
    await page.getByRole("button", { name: "Allow an artifact" }).click();
    const dialog = page.getByRole("dialog", { name: "Allow an artifact" });
    await dialog.getByRole("button", { name: "Allow it (Choose an environment)" }).waitFor();
    await dialog.getByRole("checkbox", { name: "prod-10" }).check();
    await dialog.getByRole("button", { name: "Allow it", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("takes the name that is entered where it is not among those suggested", async () => {
    await make("a-prod", 21, []);
    await own.ask("PUT", `/environments/${own.name}`, { name: "prod", type: "docker", description: "" });
    const { page } = await site.open();
    await page.goto(`/${own.name}/artifacts/${"f".repeat(64)}?check=true`);
    const dialog = page.getByRole("dialog", { name: "May this artifact run?" });
    await dialog.getByLabel("An environment").check();
    await dialog.getByRole("combobox", { name: "Environment" }).fill("prod");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("environment")).toBe("prod");
  });
});
