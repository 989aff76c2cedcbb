import type { Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { type CuttingProxy, startCuttingProxy } from "../../support/cutting-proxy.ts";
import { type OwnOrganization, makeOrganization } from "../../support/web-organization.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("what others change", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  // For each, so that nothing that it waits for is there from its own first try.
  beforeEach(async () => {
    own = await makeOrganization(site, "live-changes");
  });

  const makeEnvironment = (name: string): Promise<unknown> =>
    own.ask("PUT", `/environments/${own.name}`, {
      name,
      type: "docker",
      description: "made by somebody else",
    });

  const live = (page: Page) => page.getByText("Live", { exact: true });
  const asOf = (page: Page) => page.getByText(/^As of \d\d:\d\d:\d\d$/);

  /** Opens a page behind a network that can fail, once it is told what changes. */
  async function openBehindProxy(path: string): Promise<{ page: Page; proxy: CuttingProxy }> {
    const proxy = await startCuttingProxy(site.url);
    onTestFinished(() => proxy.end());
    const { page } = await site.open({ baseURL: proxy.url });
    await page.clock.install();
    await page.goto(path);
    await live(page).waitFor();
    return { page, proxy };
  }

  it("appears without anything being done", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments?name=made-`);
    await page.getByText("No environment matches").or(page.getByText("No environments yet")).waitFor();
    await live(page).waitFor();
    await makeEnvironment("made-elsewhere");
    await page.getByRole("link", { name: "made-elsewhere" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("appears on the pages of a commit and of an artifact that begins to run", async () => {
    const [commit, fingerprint] = ["c".repeat(40), "f".repeat(64)];
    const flow = `/flows/${own.name}`;
    await own.ask("PUT", flow, {
      name: "web-ci",
      description: "",
      visibility: "private",
      template: ["artifact"],
    });
    await own.ask("POST", `/artifacts/${own.name}/web-ci`, {
      fingerprint,
      filename: "web:1.4",
      git_commit: commit,
      build_url: "https://ci.test/1",
      commit_url: "https://git.test/1",
    });
    await makeEnvironment("prod");
    const { page: ofCommit, complaints } = await site.open();
    await ofCommit.goto(`/${own.name}/commits/${commit}`);
    const where = ofCommit.getByRole("region", { name: "Where it runs" });
    await where.getByText("None of its builds runs anywhere now.").waitFor();
    const { page: ofArtifact } = await site.open();
    await ofArtifact.goto(`/${own.name}/artifacts/${fingerprint}`);
    const known = ofArtifact.getByRole("region", { name: "What is known of it" });
    await known.getByText("nowhere").first().waitFor();
    for (const page of [ofCommit, ofArtifact]) await live(page).waitFor();
    const artifacts = [{ digests: { "web:1.4": fingerprint }, creationTimestamp: 1_786_000_000 }];
    await own.ask("PUT", `/environments/${own.name}/prod/report/docker`, { artifacts });
    // Well before they would look for themselves.
    await where.getByRole("link", { name: "prod" }).waitFor({ timeout: 15_000 });
    await known.getByRole("link", { name: "prod" }).waitFor({ timeout: 15_000 });
    expect(complaints).toEqual([]);
  });

  it("is never said to be still to come, where the browser's clock is behind", async () => {
    await makeEnvironment("prod");
    await own.ask("PUT", `/environments/${own.name}/prod/report/docker`, { artifacts: [] });
    const { page, complaints } = await site.open();
    await page.clock.setFixedTime(Date.now() - 300_000);
    await page.goto(`/${own.name}/environments/prod`);
    await page.getByText("reported just now").waitFor();
    await page.getByText("changed just now").waitFor();
    expect(complaints).toEqual([]);
  });

  it("is read again by itself where the server wants to be left alone for a moment", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/environments?name=refused-`);
    await page.getByText("No environment matches").or(page.getByText("No environments yet")).waitFor();
    await live(page).waitFor();
    await page.route(
      /\/environments\/[^/]+\?/,
      (route) =>
        route.fulfill({
          status: 503,
          headers: { "retry-after": "1" },
          json: { message: "The server is busy" },
        }),
      { times: 1 },
    );
    const refused = page.waitForResponse((response) => response.status() === 503);
    await makeEnvironment("refused-once");
    await refused;
    await page.getByRole("link", { name: "refused-once" }).waitFor();
    expect(complaints).toHaveLength(1);
  });

  it("is said to be of some time ago while nobody tells, and caught up with afterwards", async () => {
    const { page } = await site.open();
    await page.route("**/api/v2/changes/**", (route) => route.abort());
    await page.clock.install();
    await page.goto(`/${own.name}/environments?name=later-`);
    await asOf(page).waitFor();
    await makeEnvironment("later-on");
    await page.clock.fastForward(21_000);
    await page.getByRole("link", { name: "later-on" }).waitFor();
    expect(await live(page).count()).toBe(0);
  });

  it("is told afterwards when the connection was cut meanwhile", async () => {
    const { page, proxy } = await openBehindProxy(`/${own.name}/environments?name=cut-`);
    const resumed: string[] = [];
    page.on("request", (request) => {
      const from = request.headers()["last-event-id"];
      if (request.url().includes("/changes/") && from !== undefined) resumed.push(from);
    });
    proxy.turn("cut");
    await asOf(page).waitFor();
    await makeEnvironment("cut-meanwhile");
    proxy.turn("through");
    await page.getByRole("link", { name: "cut-meanwhile" }).waitFor();
    await live(page).waitFor();
    expect(resumed.at(-1)).toMatch(/^\d+-\d+$/);
    await makeEnvironment("cut-no-more");
    await page.getByRole("link", { name: "cut-no-more" }).waitFor();
  });

  it("is read again when a proxy refused the stream, and told from then on", async () => {
    const { page, proxy } = await openBehindProxy(`/${own.name}/environments?name=away-`);
    proxy.turn("away");
    await asOf(page).waitFor();
    // Until the browser has asked again, was refused, and has given up.
    await page.waitForResponse(
      (response) => response.url().includes("/changes/") && response.status() === 502,
    );
    await makeEnvironment("away-meanwhile");
    proxy.turn("through");
    await expect
      .poll(
        async () => {
          await page.clock.fastForward(4_000);
          return live(page).count();
        },
        { timeout: 30_000, interval: 500 },
      )
      .toBe(1);
    await page.getByRole("link", { name: "away-meanwhile" }).waitFor();
    await makeEnvironment("away-no-more");
    await page.getByRole("link", { name: "away-no-more" }).waitFor();
  });

  it("is looked for when the stream says nothing more without ending", async () => {
    const { page, proxy } = await openBehindProxy(`/${own.name}/environments?name=frozen-`);
    proxy.turn("frozen");
    await makeEnvironment("frozen-meanwhile");
    await page.clock.fastForward(61_000);
    await asOf(page).waitFor();
    await page.getByRole("link", { name: "frozen-meanwhile" }).waitFor();
    expect(await live(page).count()).toBe(0);
  });
});
