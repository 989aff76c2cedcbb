import { beforeAll, describe, expect, it } from "vitest";

import { artifactBody, commitOf, repoInfo } from "../../support/artifacts.ts";
import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";

/** Two repos that have the same name, kept at different places, and attestations of a type of the organization's own. */
async function fill(org: OwnOrganization): Promise<void> {
  const { name, ask } = org;
  for (const provider of ["gitlab", "github"])
    await ask(
      "POST",
      `/artifacts/${name}/ci`,
      artifactBody({
        filename: `from-${provider}:1`,
        git_commit: commitOf(provider),
        trail_name: `build-${provider}`,
        repo_info: repoInfo("platform/edge/gateway", {
          id: `id-${provider}`,
          provider,
          url: `https://${provider}.example/platform/edge/gateway`,
        }),
      }),
    );
  const type = new FormData();
  type.append("data_json", JSON.stringify({ name: "coverage" }));
  await ask("POST", `/custom-attestation-types/${name}`, type);
  for (const [kind, data] of [
    ["custom", { attestation_name: "covered", type_name: "coverage", attestation_data: { lines: 90 } }],
    ["generic", { attestation_name: "looked-at", is_compliant: true }],
  ] as const) {
    const form = new FormData();
    form.append("data_json", JSON.stringify(data));
    await ask("POST", `/attestations/${name}/ci/trail/build-gitlab/${kind}`, form);
  }
}

describe.skipIf(!hasBrowser)("repos of one name, and types of one's own", { timeout: 90_000 }, () => {
  let site: WebSite;
  let org: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
    org = await makeOrganization(site, "web-repo-names");
    await fill(org);
  }, 180_000);

  it("leads from each of two repos with the same name, which has slashes, to its own builds", async () => {
    const { page, complaints } = await site.open();
    for (const provider of ["gitlab", "github"]) {
      await page.goto(`/${org.name}/repos?provider=${provider}`);
      await page.getByRole("link", { name: "platform/edge/gateway", exact: true }).click();
      await page.getByRole("heading", { name: "platform/edge/gateway", level: 1 }).waitFor();
      await page.waitForURL(/\/repos\/platform\/edge\/gateway\?id=/);
      const builds = page.getByRole("table", { name: "Builds", exact: true });
      await builds.getByText(`from-${provider}:1`).waitFor();
      expect(await builds.locator("tbody tr").count()).toBe(1);
      await page.getByText("1 build in 28 days, on 1 of them").waitFor();
      await page.getByRole("link", { name: "Run", exact: true }).click();
      await page.getByRole("heading", { name: "Nothing of it runs now" }).waitFor();
      await page.reload();
      await page
        .getByRole("link", { name: `${provider}.example`, exact: false })
        .first()
        .waitFor();
      await page.getByRole("link", { name: "Build", exact: true }).click();
      await builds.getByText(`from-${provider}:1`).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it("shows the builds of a day as a table, and what they count in words", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org.name}/repos?provider=gitlab`);
    await page.getByRole("link", { name: "platform/edge/gateway", exact: true }).click();
    const chart = page.getByRole("figure", { name: "Builds by day" });
    await chart.getByText("As a table").click();
    const rows = chart.getByRole("table", { name: "Builds by day" }).locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(28);
    await rows.last().getByText("1", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Release", exact: true }).click();
    const times = page.getByRole("figure", { name: "Deployments by lead time" });
    await times.getByText("As a table").click();
    const spans = times.getByRole("table").locator("tbody tr td:first-child");
    expect(await spans.allInnerTexts()).toEqual(["0–1 h", "1–2 h", "2–4 h", "4–8 h", "8–24 h", "24+ h"]);
    expect(complaints).toEqual([]);
  });

  it("offers types of the organization's own as a filter of attestations", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org.name}/attestations`);
    await page.getByRole("link", { name: "looked-at", exact: true }).waitFor();
    await page.getByLabel("Type", { exact: true }).selectOption("custom:coverage");
    await page.waitForURL(/type=custom%3Acoverage/);
    await expect.poll(() => page.getByRole("link", { name: "looked-at", exact: true }).count()).toBe(0);
    await page.reload();
    await page.getByRole("link", { name: "covered", exact: true }).waitFor();
    await page.getByLabel("Type", { exact: true }).selectOption("generic");
    await page.getByRole("link", { name: "looked-at", exact: true }).waitFor();
    await page.goto(`/${org.name}/attestation-types/coverage`);
    await page.getByRole("link", { name: "Its attestations" }).click();
    await page.getByRole("link", { name: "covered", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});
