import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { form } from "../../support/site.ts";
import { type OwnOrganization, makeOrganization } from "../../support/web-organization.ts";
import { provenancePolicy } from "../../support/web-page.ts";
import { openSite, type WebSite } from "../../support/web.ts";

describe.skipIf(!hasBrowser)("pages say no more than is known", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  beforeEach(async () => {
    own = await makeOrganization(site, "known");
  });

  const makeFlow = (name: string): Promise<unknown> =>
    own.ask("PUT", `/flows/${own.name}`, { name, description: "", visibility: "private", template: [] });

  it("of what fails a policy, when more fails than was looked at", async () => {
    await own.putPolicy("lenient", "_schema: https://waybill.test/v1\n");
    await own.putPolicy("strict", provenancePolicy);
    const policies = ["lenient", "strict"];
    await own.ask("PUT", `/environments/${own.name}`, {
      name: "prod",
      type: "docker",
      description: "",
      policies,
    });
    const artifacts = Array.from({ length: 201 }, (_, place) => ({
      digests: { [`app-${place}`]: String(place).padStart(64, "0") },
      creationTimestamp: 1_786_000_000,
    }));
    await own.ask("PUT", `/environments/${own.name}/prod/report/docker`, { artifacts });
    const { page } = await site.open();
    await page.goto(`/${own.name}/policies/lenient`);
    await page
      .getByText("None of the 200 failing artifacts that were looked at fails it, out of 201.")
      .waitFor();
    expect(await page.getByText("Nothing that runs").count()).toBe(0);
  });

  it("of how long trails take, in a unit that they have", async () => {
    await makeFlow("quick");
    await own.ask("PUT", `/trails/${own.name}/quick`, form({ data_json: { name: "1", description: "" } }));
    const attested = form({ data_json: { attestation_name: "tests", is_compliant: true } });
    await own.ask("POST", `/attestations/${own.name}/quick/trail/1/generic`, attested);
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/flows/quick/statistics`);
    await page.getByText(/^Half of the compliant trails took/).waitFor();
    await page.getByText("median, in seconds").waitFor();
    await page.getByRole("button", { name: "Show as a table" }).nth(1).click();
    const table = page.getByRole("table", { name: "Time until compliant" });
    await table.getByRole("cell", { name: /^\d+ s$/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("of a commit: which attestations name it, and where the others stand", async () => {
    const commit = "c".repeat(40);
    await makeFlow("web-ci");
    await own.ask(
      "PUT",
      `/trails/${own.name}/web-ci`,
      form({ data_json: { name: "build-1", description: "" } }),
    );
    await own.ask("POST", `/artifacts/${own.name}/web-ci`, {
      fingerprint: "f".repeat(64),
      filename: "web:1.4",
      git_commit: commit,
      trail_name: "build-1",
      build_url: "https://ci.test/1",
      commit_url: "https://git.test/1",
    });
    const attested = form({ data_json: { attestation_name: "tests", is_compliant: false } });
    await own.ask("POST", `/attestations/${own.name}/web-ci/trail/build-1/generic`, attested);
    const { page, complaints } = await site.open();
    await page.goto(`/${own.name}/commits/${commit}`);
    await page.getByRole("region", { name: "Attestations that name this commit" }).waitFor();
    const trails = page.getByRole("table", { name: "Trails of its builds" });
    await trails.getByRole("row", { name: /Non-compliant web-ci \/ build-1/ }).waitFor();
    expect(complaints).toEqual([]);
  });
});
