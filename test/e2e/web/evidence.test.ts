import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { openSite, type WebSite } from "../../support/web.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";

const own = (requests: readonly string[]): string[] =>
  requests.filter((request) => !/\/(?:user|organizations|changes\/[^/]+)$/.test(request));

const fingerprint = "5e".repeat(32);

/** What is attested of a trail, by kind of attestation. */
const attested = {
  junit: {
    attestation_name: "tests",
    junit_results: [
      { name: "unit", failures: 1, errors: 0, skipped: 2, total: 143, duration: 12.5 },
      { name: "integration", failures: 0, errors: 0, skipped: 0, total: 20, duration: 320 },
    ],
  },
  snyk: {
    attestation_name: "scan",
    snyk_results: {
      schema_version: 1,
      tool: { name: "snyk", version: "1.12" },
      results: [
        {
          high_count: 1,
          medium_count: 0,
          low_count: 4,
          high: [
            { id: "CVE-2026-1", message: "Prototype pollution", locations: [{ uri: "package-lock.json" }] },
          ],
        },
      ],
    },
  },
  sonar: {
    attestation_name: "quality",
    sonar_results: {
      analysedAt: "2026-11-22T17:36:33+0000",
      revision: "a".repeat(40),
      project: { key: "shop", name: "The shop", url: "https://quality.example/shop" },
      qualityGate: {
        name: "House rules",
        status: "ERROR",
        conditions: [
          {
            metric: "new_coverage",
            operator: "LESS_THAN",
            errorThreshold: "80",
            status: "ERROR",
            value: "76.8",
          },
        ],
      },
    },
  },
  jira: {
    attestation_name: "tickets",
    jira_results: [
      { issue_id: "HL-1", issue_url: "https://jira.example/HL-1", issue_exists: true },
      { issue_id: "HL-9", issue_url: "https://jira.example/HL-9", issue_exists: false },
    ],
  },
  pull_request: {
    attestation_name: "review",
    git_provider: "github",
    pull_requests: [
      {
        url: "https://github.example/a/b/pull/5",
        state: "MERGED",
        title: "Pay by invoice",
        author: "ada",
        approvers: [{ username: "grace" }, "linus"],
      },
    ],
  },
  system: {
    attestation_name: "approval",
    type_name: "decision",
    control: "CC-1",
    attestation_data: { is_compliant: true, decided_by: "Operations" },
  },
  custom: {
    attestation_name: "licences",
    type_name: "licences",
    attestation_data: { forbidden: 2, unknown: 1, all: 300 },
  },
} as const;

async function post(org: OwnOrganization, path: string, data: object, file?: string): Promise<void> {
  const form = new FormData();
  form.append("data_json", JSON.stringify(data));
  if (file !== undefined) form.append("attachment_file", new Blob([file]), "notes.txt");
  await org.ask("POST", path, form);
}

async function put(org: OwnOrganization, path: string, data: object): Promise<void> {
  const form = new FormData();
  form.append("data_json", JSON.stringify(data));
  await org.ask("PUT", path, form);
}

/** Makes a trail with an attestation of each kind, one of them overridden, and an artifact with more of them than a picture shows one by one. */
async function fill(org: OwnOrganization): Promise<void> {
  const { name, ask } = org;
  await put(org, `/flows/${name}/template_file`, { name: "shop", description: "", visibility: "private" });
  await put(org, `/trails/${name}/shop`, { name: "build-1" });
  await post(org, `/custom-attestation-types/${name}`, {
    name: "licences",
    evaluator: { content_type: "jq", rules: [".forbidden == 0", ".unknown < 3"] },
    summary: [{ name: "Share", expression: String.raw`"\(.unknown) of \(.all)"` }],
  });
  const at = `/attestations/${name}/shop/trail/build-1`;
  for (const [kind, data] of Object.entries(attested)) await post(org, `${at}/${kind}`, data);
  await post(
    org,
    `${at}/generic`,
    { attestation_name: "manual", is_compliant: true, user_data: { by: "hand" } },
    "seen by Ada",
  );
  await ask("POST", `${at}/override`, {
    attestation_name: "tests",
    reason: "The test was wrong",
    new_compliance_status: true,
    original_attestation_type: "junit",
  });
  await ask("POST", `/artifacts/${name}/shop`, {
    fingerprint,
    filename: "shop:1.0",
    git_commit: "c".repeat(40),
    build_url: "https://ci.example/1",
    commit_url: "https://git.example/1",
    trail_name: "build-1",
    template_reference_name: "shop",
  });
  for (let number = 1; number <= 20; number++)
    await post(org, `${at}/generic`, {
      attestation_name: `check-${number}`,
      artifact_fingerprint: fingerprint,
      is_compliant: true,
    });
}

describe.skipIf(!hasBrowser)("evidence", { timeout: 120_000 }, () => {
  let site: WebSite;
  let org: OwnOrganization;
  let pages: ReadonlyMap<string, string>;
  beforeAll(async () => {
    site = await openSite();
    org = await makeOrganization(site, "web-evidence");
    await fill(org);
    const { data } = await org.ask<{ data: { attestation_name: string; html_url: string }[] }>(
      "GET",
      `/attestations/${org.name}?per_page=100`,
    );
    // The newest first: of what was overridden, the override.
    pages = new Map(
      data
        .toReversed()
        .map((one) => [one.attestation_name, new URL(one.html_url)] as const)
        .map(([name, { pathname, search }]) => [name, `${pathname}${search}`]),
    );
  }, 240_000);

  /** Opens what was attested under a name. */
  async function openPanel(page: Page, name: string): Promise<Locator> {
    await page.goto(pages.get(name)!);
    const panel = page.getByRole("dialog", { name, exact: true });
    await panel.getByText("Reported", { exact: true }).first().waitFor();
    return panel;
  }

  it("is shown as each type has it", async () => {
    const { page, requests, complaints } = await site.open();
    const scan = await openPanel(page, "scan");
    await scan.getByRole("table", { name: "Vulnerabilities" }).getByText("CVE-2026-1").waitFor();
    await scan.getByText("1 of 5 are told one by one").waitFor();
    const quality = await openPanel(page, "quality");
    await quality.getByRole("row", { name: "new_coverage 76.8 not below 80" }).waitFor();
    const tickets = await openPanel(page, "tickets");
    await tickets.getByText("Does not exist", { exact: true }).waitFor();
    const review = await openPanel(page, "review");
    await review.getByRole("row", { name: /Pay by invoice.*by ada.*merged grace, linus/ }).waitFor();
    const approval = await openPanel(page, "approval");
    await approval.getByRole("link", { name: "CC-1", exact: true }).waitFor();
    await approval.getByText("Operations", { exact: true }).waitFor();
    requests.length = 0;
    const licences = await openPanel(page, "licences");
    await licences.getByText("1 of 300", { exact: true }).waitFor();
    await licences.getByRole("listitem").filter({ hasText: "Fails" }).getByText(".forbidden == 0").waitFor();
    await licences.getByRole("listitem").filter({ hasText: "Holds" }).getByText(".unknown < 3").waitFor();
    expect(own(requests).length).toBeLessThanOrEqual(4);
    await licences.getByRole("link", { name: "version 1 of licences" }).click();
    await page.getByRole("heading", { name: "licences", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says why a verdict was replaced, and shows what it was", async () => {
    const { page, requests, complaints } = await site.open();
    const tests = await openPanel(page, "tests");
    await tests.getByText(/^Override by .*The test was wrong/).waitFor();
    const original = tests.getByRole("region", { name: "What it replaced" });
    await original.getByText("Non-compliant", { exact: true }).waitFor();
    await original.getByRole("table", { name: "Test suites" }).getByText("integration").waitFor();
    expect(own(requests).length).toBeLessThanOrEqual(4);
    await original.getByRole("link", { name: "What it replaced" }).click();
    await expect.poll(() => tests.getByText(/^Override by .*The test was wrong/).count()).toBe(0);
    await tests.getByRole("table", { name: "Test suites" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("can be taken away: the file that came with it, and all of it as JSON", async () => {
    const { page, complaints } = await site.open();
    const manual = await openPanel(page, "manual");
    const download = page.waitForEvent("download");
    await manual.getByRole("link", { name: "Download the file" }).click();
    expect((await download).suggestedFilename()).toContain("notes.txt");
    await manual.getByText("User data", { exact: true }).click();
    await manual.getByText('"by": "hand"').first().waitFor();
    await manual.getByText("JSON", { exact: true }).click();
    await manual.getByText('"attestation_name": "manual"').waitFor();
    expect(complaints).toEqual([]);
  });

  it("folds in the picture of an artifact what is more than twelve of a kind, and counts it in the table", async () => {
    const { page, complaints } = await site.open();
    await page.goto(`/${org.name}/flows/shop/artifacts/${fingerprint}`);
    const evidence = page.getByRole("list", { name: "Evidence" });
    const folded = evidence.getByRole("link", { name: /\+ ?\d+/ });
    await folded.first().waitFor();
    await page.getByText("As a table").first().click();
    const table = page.getByRole("table", { name: "The same as a table" });
    expect(await table.getByRole("row").filter({ hasText: "Evidence" }).count()).toBe(
      await evidence.getByRole("listitem").count(),
    );
    await page.getByRole("list", { name: "Runs in" }).getByText("Runs nowhere now").waitFor();
    expect(complaints).toEqual([]);
  });
});
