import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { hasBrowser } from "../../support/browser.ts";
import { makeOrganization, type OwnOrganization } from "../../support/web-organization.ts";
import { openSite, type WebSite } from "../../support/web.ts";

const fingerprint = "ab".repeat(32);
const unknown = "cd".repeat(32);
const patient = { timeout: 30_000 };

const template = `version: 1
trail:
  attestations:
    - name: review
      type: pull_request
  artifacts:
    - name: app
      attestations:
        - name: unit-tests
          type: junit
        - name: scan
          type: snyk
    - name: docs
      attestations:
        - name: style
          type: generic
        - name: unit-tests
          type: junit
`;

const policy = `_schema: https://x.test/v1
artifacts:
  provenance:
    required: true
  attestations:
    - name: unit-tests
      type: junit
      if: \${{ flow.name == "web" }}
`;

function form(name: string, data: object, file?: { name: string; text: string }): FormData {
  const parts = new FormData();
  parts.append(name, JSON.stringify(data));
  if (file !== undefined) parts.append(file.name, new Blob([file.text]), `${file.name}.yml`);
  return parts;
}

/** Makes a flow, a trail of it that is not compliant, and where its artifact runs beside one that no flow knows. */
async function fill(own: OwnOrganization): Promise<void> {
  const { name: org, ask, putPolicy } = own;
  const flow = form("data_json", { name: "web", description: "" }, { name: "template_file", text: template });
  await ask("PUT", `/flows/${org}/template_file`, flow);
  await ask("PUT", `/trails/${org}/web`, form("data_json", { name: "1", description: "" }));
  await ask("POST", `/artifacts/${org}/web`, {
    fingerprint,
    filename: "app",
    trail_name: "1",
    template_reference_name: "app",
    git_commit: "e".repeat(40),
    build_url: "https://ci.example/1",
    commit_url: "https://code.example/commit",
  });
  const junit_results = [{ name: "s", failures: 1, errors: 0, skipped: 0, total: 2, duration: 1 }];
  await ask(
    "POST",
    `/attestations/${org}/web/trail/1/junit`,
    form("data_json", { attestation_name: "unit-tests", artifact_fingerprint: fingerprint, junit_results }),
  );
  await putPolicy("tested", policy);
  await ask("PUT", `/environments/${org}`, {
    name: "prod",
    type: "docker",
    description: "",
    policies: ["tested"],
  });
  await report(own);
}

/** Reports what runs in prod, the same each time. */
async function report({ name: org, ask }: OwnOrganization): Promise<void> {
  const artifacts = Object.entries({ "app:1": fingerprint, "tool:1": unknown }).map(([name, digest]) => ({
    digests: { [name]: digest },
    creationTimestamp: 1_700_000_000,
  }));
  await ask("PUT", `/environments/${org}/prod/report/docker`, { artifacts });
}

describe.skipIf(!hasBrowser)("each proposed command, run, turns the verdict", { timeout: 90_000 }, () => {
  let site: WebSite;
  let own: OwnOrganization;
  beforeAll(async () => {
    site = await openSite();
  }, 180_000);
  beforeEach(async () => {
    own = await makeOrganization(site, "remedies");
    await fill(own);
  });

  /** Copies the commands that are shown, as people do. */
  async function copyCommands(page: Page, context: BrowserContext): Promise<string[]> {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const buttons = page.getByRole("button", { name: /^Copy command that reports/ });
    await buttons.first().waitFor();
    const commands: string[] = [];
    for (const button of await buttons.all()) {
      await button.click();
      commands.push(await page.evaluate<string>("navigator.clipboard.readText()"));
    }
    return commands;
  }

  async function run(commands: readonly string[]): Promise<void> {
    const env = { ...process.env, WAYBILL_KEY: site.key };
    for (const command of commands) {
      const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], { env });
      expect(stdout, command).not.toMatch(/"(?:errors|detail)"|does not|Invalid/);
    }
  }

  const verdictOf = (page: Page, words: string) =>
    page.getByRole("main").locator("header").getByText(words, { exact: true });

  it("in an environment, with the next report of what runs", async () => {
    const { page, context, complaints } = await site.open();
    await page.goto(`/${own.name}/environments/prod`);
    await verdictOf(page, "Non-compliant").waitFor();
    const commands: string[] = [];
    for (const name of ["app:1", "tool:1"]) {
      await page.getByRole("button", { name: `Why ${name}` }).click();
      await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
      commands.push(...(await copyCommands(page, context)));
      await page.getByRole("button", { name: `Why ${name}` }).click();
      await page.getByRole("heading", { name: "Smallest fix" }).waitFor({ state: "detached" });
    }
    expect(commands).toHaveLength(2);
    await run(commands);
    await report(own);
    await verdictOf(page, "Compliant").waitFor(patient);
    expect(complaints).toEqual([]);
  });

  it("of a trail, of what is to be reported first as well", async () => {
    const { page, context, complaints } = await site.open();
    await page.goto(`/${own.name}/flows/web/trails/1`);
    await verdictOf(page, "Incomplete").or(verdictOf(page, "Non-compliant")).waitFor();
    await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
    const commands = await copyCommands(page, context);
    // The review; the tests and the scan of the app; the docs with both of their attestations.
    expect(commands).toHaveLength(6);
    await run(commands);
    await verdictOf(page, "Compliant").waitFor(patient);
    // It is another answer than the verdict, and comes when it comes.
    await page.getByRole("heading", { name: "Smallest fix" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("of an artifact", async () => {
    await own.ask("PUT", `/trails/${own.name}/web`, form("data_json", { name: "2", description: "" }));
    const other = "ef".repeat(32);
    await own.ask("POST", `/artifacts/${own.name}/web`, {
      fingerprint: other,
      filename: "app",
      trail_name: "2",
      template_reference_name: "app",
      git_commit: "e".repeat(40),
      build_url: "https://ci.example/2",
      commit_url: "https://code.example/commit",
    });
    const { page, context, complaints } = await site.open();
    await page.goto(`/${own.name}/flows/web/artifacts/${other}`);
    await page.getByRole("heading", { name: "Smallest fix" }).waitFor();
    const commands = await copyCommands(page, context);
    expect(commands).toHaveLength(3);
    await run(commands);
    await verdictOf(page, "Compliant").waitFor(patient);
    expect(complaints).toEqual([]);
  });
});
