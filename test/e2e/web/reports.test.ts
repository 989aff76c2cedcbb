import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { openSite, type WebSite } from "../../support/web.ts";

interface Report {
  id: string;
  html_url: string;
}

/** Tests know the server by another name than it does itself. */
function pathOf({ html_url }: Report): string {
  const { pathname, search } = new URL(html_url);
  return pathname + search;
}

const fingerprint = "ab".repeat(32);
const template = "version: 1\ntrail:\n  attestations:\n    - {name: ticket, type: generic}\n";

describe.skipIf(!hasBrowser)("the address of a report", { timeout: 60_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  const artifact = (query: string): Promise<Report> =>
    own.ask("GET", `/artifacts/${own.name}/shop-ci/fingerprint/${fingerprint}${query}`);
  const report = (filename: string, digit: string): Promise<unknown> =>
    own.ask("POST", `/artifacts/${own.name}/shop-ci`, {
      fingerprint,
      filename,
      trail_name: `of-${filename}`,
      template_reference_name: "shop",
      git_commit: digit.repeat(40),
      commit_url: `https://code.example/${digit}`,
      build_url: `https://${digit}.builds.example/`,
    });
  beforeAll(async () => {
    site = await openSite();
    own = await makeOrganization(site, "artifact-reports");
    const form = new FormData();
    form.append("data_json", JSON.stringify({ name: "of-old" }));
    form.append("template_file", new Blob([template]), "template.yml");
    await own.ask("PUT", `/trails/${own.name}/shop-ci`, form);
    await report("old", "1");
    await report("new", "2");
  }, 180_000);

  it("shows that report as it was judged, says that it is an older one, and leads to the latest", async () => {
    const [older, latest] = [await artifact("?trail=of-old"), await artifact("")];
    const { page, complaints } = await site.open();
    await page.goto(pathOf(older));
    await page.getByRole("heading", { name: "old", level: 1, exact: true }).waitFor();
    const head = page.getByRole("main").locator("header");
    await head.getByText("Incomplete").waitFor();
    await head.getByRole("link", { name: "of-old" }).waitFor();
    await head.getByRole("link", { name: "1111111" }).waitFor();
    await page.getByRole("link", { name: "1.builds.example" }).waitFor();
    const why = page.getByRole("region", { name: "Verdict and evidence" });
    await why.getByText("ticket").first().waitFor();
    await page.getByText("An older report of this artifact.").waitFor();
    await page.getByRole("link", { name: "See the latest" }).click();
    await page.getByRole("heading", { name: "new", level: 1, exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe("");
    await head.getByText("Compliant", { exact: true }).waitFor();
    await page.getByRole("link", { name: "2.builds.example" }).waitFor();
    expect(await page.getByText("An older report").count()).toBe(0);
    await page.goto(pathOf(latest));
    await page.getByRole("heading", { name: "new", level: 1, exact: true }).waitFor();
    await page.getByText("No environment has reported").waitFor();
    expect(await page.getByText("An older report").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("is not here when the artifact has no such report", async () => {
    const { page } = await site.open();
    await page.goto(
      `/${own.name}/flows/shop-ci/artifacts/${fingerprint}?artifact_id=00000000-0000-0000-0000-00000000`,
    );
    await page.getByRole("heading", { name: "This is not here" }).waitFor();
    expect(await page.getByText("An older report").count()).toBe(0);
  });
});
