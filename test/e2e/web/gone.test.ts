import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { type OwnOrganization, makeOrganization } from "../../support/web-organization.ts";
import { holdAnswers, provenancePolicy } from "../../support/web-page.ts";
import { openSite, untilNothingToDo, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("what is gone, or closed since", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  // For each, so that nothing that it waits for is there from its own first try.
  beforeEach(async () => {
    own = await makeOrganization(site, "gone");
  });

  const makeEnvironment = (name: string): Promise<unknown> =>
    own.ask("PUT", `/environments/${own.name}`, { name, type: "docker", description: "" });

  const report = (env: string, artifact: string, digest: string): Promise<unknown> =>
    own.ask("PUT", `/environments/${own.name}/${env}/report/docker`, {
      artifacts: [{ digests: { [artifact]: digest.repeat(64) }, creationTimestamp: 1_786_000_000 }],
    });

  const untilLive = (page: Page): Promise<void> => page.getByText("Live", { exact: true }).waitFor();

  it("leaves the page of an environment, where another of its name appears", async () => {
    await makeEnvironment("prod");
    for (const [place, digest] of ["a", "b", "c"].entries()) await report("prod", `app:${place + 1}`, digest);
    const { page } = await site.open();
    await page.goto(`/${own.name}/environments/prod`);
    await page.getByRole("table", { name: "What runs here" }).getByText("app:3").waitFor();
    await untilLive(page);
    await own.ask("PUT", `/environments/${own.name}/prod/archive`);
    await page.getByRole("heading", { name: "prod was archived" }).waitFor();
    expect(await page.getByText("app:3").count()).toBe(0);
    await makeEnvironment("prod");
    await report("prod", "other:1", "d");
    await page.getByRole("table", { name: "What runs here" }).getByText("other:1").waitFor();
    expect(await page.getByText(/newer snapshot/).count()).toBe(0);
  });

  it("leaves the page of the latest snapshot for one with a smaller number", async () => {
    await makeEnvironment("prod");
    for (const digest of ["a", "b"]) await report("prod", "app", digest);
    const { page } = await site.open();
    await page.goto(`/${own.name}/environments/prod/snapshots/latest`);
    await page.getByRole("heading", { name: "Snapshot 2" }).waitFor();
    await untilLive(page);
    // It does not read in between, so that all it sees is the smaller number.
    const release = await holdAnswers(page, /\/snapshots\/[^/]+\/prod\/-1/);
    await own.ask("PUT", `/environments/${own.name}/prod/archive`);
    await makeEnvironment("prod");
    await report("prod", "other", "d");
    release();
    await page.getByRole("heading", { name: "Snapshot 1" }).waitFor();
    expect(await page.getByText(/newer snapshot/).count()).toBe(0);
  });

  it.each([
    [401, "Sign in to see this"],
    [403, "This is not open to you"],
    [404, "This is not here"],
  ])("is let go of when the server answers %i, and kept when it fails", async (status, heading) => {
    await makeEnvironment("first");
    const { page } = await site.open();
    await page.goto(`/${own.name}/environments`);
    const shown = page.getByRole("link", { name: "first" });
    await shown.waitFor();
    await untilLive(page);
    let answered = 500;
    await page.route(/\/environments\/[^/]+\?/, (route) =>
      route.fulfill({ status: answered, json: { message: "Not now" } }),
    );
    const failed = page.waitForResponse((response) => response.status() === 500);
    await makeEnvironment("second");
    await failed;
    await page.evaluate(untilNothingToDo);
    expect(await shown.count()).toBe(1);
    answered = status;
    await makeEnvironment("third");
    await page.getByRole("heading", { name: heading }).waitFor();
    expect(await shown.count()).toBe(0);
  });

  it("stays said while it is asked for again", async () => {
    const { page } = await site.open();
    await page.goto(`/${own.name}/commits/${"5eed".repeat(10)}`);
    const nothing = page.getByRole("heading", { name: "Nothing was built from this commit" });
    await nothing.waitFor();
    await untilLive(page);
    const release = await holdAnswers(page, /\/search\/[^/]+\/sha\//);
    const again = page.waitForRequest(/\/search\/[^/]+\/sha\//);
    await makeEnvironment("other");
    await again;
    await page.evaluate(untilNothingToDo);
    expect(await nothing.count()).toBe(1);
    release();
  });

  it("leaves what somebody writes where it is", async () => {
    await own.putPolicy("known", provenancePolicy);
    const { page } = await site.open();
    await page.goto(`/${own.name}/policies/known/edit`);
    const editor = page.getByRole("textbox", { name: "Text of the policy, YAML" });
    await page.locator(".cm-editor").waitFor();
    await untilLive(page);
    await editor.fill("_schema: https://waybill.test/v1\n# mine\n");
    await page.route(/\/policies\/[^/]+\/known$/, (route) =>
      route.fulfill({ status: 401, json: { message: "Sign in" } }),
    );
    const refused = page.waitForResponse((response) => response.status() === 401);
    await own.putPolicy("known", `${provenancePolicy}# theirs\n`);
    await refused;
    await page.evaluate(untilNothingToDo);
    expect(await editor.innerText()).toContain("# mine");
  });
});
