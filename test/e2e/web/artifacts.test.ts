import { beforeAll, describe, expect, it } from "vitest";

import { artifactBody, fingerprintOf } from "../../support/artifacts.ts";
import { hasBrowser } from "../../support/browser.ts";
import { ask } from "../../support/site.ts";
import { makeOrganization } from "../../support/web-organization.ts";
import { holdAnswers } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));
// A browser says of every refused request that it was refused.
const but404 = (complaints: readonly string[]): string[] =>
  complaints.filter((complaint) => !complaint.includes("status of 404"));

interface Reported {
  fingerprint: string;
  git_commit: string;
}

describe.skipIf(!hasBrowser)("artifacts", { timeout: 60_000 }, () => {
  let site: WebSite;
  let gateway: Reported;
  const get = <T>(path: string): Promise<T> => ask(site, "GET", path);
  beforeAll(async () => {
    site = await openSite();
    const [latest] = await get<Reported[]>(`/artifacts/${site.org}?flow_name=gateway-ci&per_page=1`);
    gateway = latest!;
  }, 180_000);

  it("shows where an artifact comes from, what is missing and where it runs, in four requests", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/production-release/artifacts/${gateway.fingerprint}`);
    const evidence = page.getByRole("list", { name: "Evidence" });
    await evidence.getByRole("link", { name: "sonar Missing" }).waitFor();
    const environments = page.getByRole("list", { name: "Runs in" }).getByRole("link");
    expect(await environments.allInnerTexts()).toEqual([
      expect.stringContaining("gateway-prod"),
      expect.stringContaining("gateway-staging"),
    ]);
    await page.getByRole("table", { name: "Other flows that know it" }).waitFor();
    expect(own(requests)).toHaveLength(4);
    await page.getByText("As a table").click();
    const table = page.getByRole("table", { name: "The same as a table" });
    expect(await table.getByRole("row", { name: /Evidence sonar Missing/ }).count()).toBe(1);
    await page
      .getByRole("region", { name: "Smallest fix" })
      .getByText("Report a compliant attestation")
      .waitFor();
    await environments.first().click();
    await page.getByRole("heading", { name: "gateway-prod", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows an older report below the line that leads to the latest, also where that is known last", async () => {
    const { name, ask: send } = await makeOrganization(site, "older");
    const fingerprint = fingerprintOf("web reported twice");
    for (const trail_name of ["first", "second"])
      await send("POST", `/artifacts/${name}/web-ci`, artifactBody({ fingerprint, trail_name }));
    const { page, complaints } = await site.open();
    const release = await holdAnswers(page, /\/api\/v2\/search\//);
    const others = ["artifacts", "provenance"].map((resource) =>
      page.waitForResponse((response) => response.url().includes(`/api/v2/${resource}/`)),
    );
    await page.goto(`/${name}/flows/web-ci/artifacts/${fingerprint}?trail=first`);
    await Promise.all(others);
    await page.getByRole("heading", { name: "web:1.4", level: 1 }).waitFor();
    const provenance = page.getByRole("region", { name: "Provenance" });
    expect(await provenance.count()).toBe(0);
    release();
    await provenance.waitFor();
    await page.getByRole("link", { name: "See the latest" }).click();
    await page.getByText("An older report of this artifact").waitFor({ state: "detached" });
    await provenance.waitFor();
    expect(complaints).toEqual([]);
  });

  it("says that no flow knows what runs once it is known who allowed it, which stands above", async () => {
    const { name, ask: send } = await makeOrganization(site, "unknown");
    const fingerprint = fingerprintOf("bought");
    await send("PUT", `/environments/${name}`, { name: "prod", type: "server", description: "" });
    const artifacts = [{ digests: { bought: fingerprint }, creationTimestamp: 1_786_000_000 }];
    await send("PUT", `/environments/${name}/prod/report/server`, { artifacts });
    const { page, complaints } = await site.open();
    const release = await holdAnswers(page, /\/api\/v2\/allowlists\//);
    await page.goto(`/${name}/artifacts/${fingerprint}`);
    await page.getByRole("region", { name: "What is known of it" }).waitFor();
    const unknown = page.getByText("No flow knows this artifact");
    expect(await unknown.count()).toBe(0);
    release();
    await unknown.waitFor();
    expect(complaints).toEqual([]);
  });

  it("tells before a deployment whether it may run, and keeps the question in the address", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/gateway-ci/artifacts/${gateway.fingerprint}`);
    await page.getByRole("button", { name: "Check against…" }).click();
    const dialog = page.getByRole("dialog", { name: "May this artifact run?" });
    await dialog.getByText(/^It may (?:not )?run where all policies apply$/).waitFor();
    await dialog.getByLabel("An environment").check();
    await dialog.getByRole("combobox", { name: "Environment" }).fill("gateway-prod");
    await dialog.getByText("It may run in gateway-prod").waitFor();
    await dialog.getByRole("region", { name: "known-origin" }).getByText("Known origin").waitFor();
    await page.reload();
    await dialog.getByText("It may run in gateway-prod").waitFor();
    await dialog.getByLabel("Its flows").check();
    await dialog.getByText("It may not run as far as its flows say").waitFor();
    await dialog.getByLabel("Policies", { exact: true }).check();
    await dialog.getByRole("checkbox", { name: "known-origin" }).check();
    await dialog.getByText("It may run by these policies").waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.getAll("policy")).toEqual(["known-origin"]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("");
    expect(complaints).toEqual([]);
  });

  it("shows what no flow knows, and how to report it", async () => {
    const snapshot = await get<{
      artifacts: { name: string; fingerprint: string; flow_name: string | null }[];
    }>(`/snapshots/${site.org}/lighthouse-edge/-1`);
    const unknown = snapshot.artifacts.find(({ flow_name }) => flow_name === null)!;
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/artifacts/${unknown.fingerprint}`);
    await page.getByRole("heading", { name: unknown.name, level: 1 }).waitFor();
    await page.getByText("No flow knows it").first().waitFor();
    const command = await page.getByLabel("command that reports the artifact", { exact: true }).innerText();
    expect(command).toContain(unknown.fingerprint);
    await page.goto(`/${site.org}/artifacts/${"0".repeat(64)}`);
    await page.getByRole("heading", { name: "Nothing is known of this fingerprint" }).waitFor();
    expect(but404(complaints)).toEqual([]);
  });

  it("answers where a commit runs, also by its beginning", async () => {
    const { page, requests, complaints } = await site.open();
    await page.goto(`/${site.org}/commits/${gateway.git_commit}`);
    await page
      .getByRole("region", { name: "Where it runs" })
      .getByRole("link", { name: "gateway-prod" })
      .waitFor();
    await page.getByRole("table", { name: "Attestations" }).getByRole("row").nth(1).waitFor();
    expect(own(requests)).toHaveLength(2);
    await page.goto(`/${site.org}/commits/${"5eed".repeat(10)}`);
    await page.getByRole("heading", { name: "Nothing was built from this commit" }).waitFor();
    await page.goto(`/${site.org}/commits/${gateway.git_commit.slice(0, 9)}`);
    await page.getByRole("table", { name: "What was built from it" }).waitFor();
    expect(await page.getByRole("button", { name: `Copy commit ${gateway.git_commit}` }).count()).toBe(1);
    expect(but404(complaints)).toEqual([]);
  });

  it("says what is not there, and what is not open", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${site.org}/flows/gateway-ci/artifacts/${"0".repeat(64)}`);
    await page.getByRole("heading", { name: "This is not here" }).first().waitFor();
    expect(but404(complaints)).toEqual([]);
    const { page: stranger } = await site.open({ key: null });
    await stranger.goto(`/${site.org}/commits/${gateway.git_commit}`);
    await stranger.getByRole("heading", { name: "Sign in to see this" }).first().waitFor();
  });
});
