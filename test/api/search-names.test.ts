import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { partsOf } from "../support/attestation-types.ts";
import { createControl } from "../support/controls.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";
import { createPolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Found {
  kind: string;
  name: string;
  context: string;
  matched: string;
  html_url: string;
}

async function find(org: TestOrg, query: Record<string, string>): Promise<Found[]> {
  const answer = await org.reader.get(`/search/${org.name}?${new URLSearchParams(query).toString()}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

/** What is found, as `kind name`. */
async function found(org: TestOrg, q: string, kind?: string): Promise<string[]> {
  const rows = await find(org, kind === undefined ? { q } : { q, kind });
  return rows.map((row) => `${row.kind} ${row.name}`);
}

async function build(org: TestOrg, flow: string, more: Record<string, unknown>): Promise<void> {
  const body = artifactBody({ trail_name: "run", ...more });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
}

describe("GET /search/{org}", () => {
  it("finds every kind of thing by its name, and leads to its page", async () => {
    const org = await app.org();
    const commit = commitOf("shop");
    await createEnvironment(org, "shop-prod");
    await putFlow(org.member, org.name, { name: "shop-ci", description: "Builds the shop" });
    const fingerprint = fingerprintOf("shop");
    await build(org, "shop-ci", {
      fingerprint,
      filename: "registry.test/shop:1.2",
      trail_name: "shop-run",
      git_commit: commit,
      repo_info: repoInfo("acme/shop"),
    });
    await createPolicy(org, "shop-rules");
    await createControl(org, "C-1", { name: "Shop review" });
    await org.member.request("POST", `/custom-attestation-types/${org.name}`, {
      parts: partsOf({ name: "shop-scan" }),
    });
    const place = { org: org.name, flow: "shop-ci", trail: "shop-run" };
    await attest(org.member, place, "jira", {
      attestation_name: "issue",
      jira_results: [{ issue_id: "SHOP-77", issue_url: "https://jira.test/SHOP-77", issue_exists: true }],
    });
    await attest(org.member, place, "pull_request", {
      attestation_name: "review",
      git_provider: "github",
      pull_requests: [{ url: "https://git.test/acme/shop/pull/4711", state: "MERGED", merge_commit: commit }],
    });
    const rows = await find(org, { q: "ShOp" });
    const page = (path: string) => `http://waybill.test/${org.name}${path}`;
    const ofReport = expect.stringContaining(page(`/flows/shop-ci/artifacts/${fingerprint}?artifact_id=`));
    const ofAttestation = expect.stringContaining(page("/flows/shop-ci/trails/shop-run?attestation_id="));
    const environment = { kind: "environment", name: "shop-prod", context: "K8S", matched: "shop-prod" };
    const flow = { kind: "flow", name: "shop-ci", context: "Builds the shop", matched: "shop-ci" };
    const artifact = {
      kind: "artifact",
      name: "registry.test/shop:1.2",
      context: "shop-ci",
      matched: "registry.test/shop",
      html_url: ofReport,
    };
    const ticket = { kind: "ticket", name: "SHOP-77", context: "shop-ci/shop-run", matched: "SHOP-77" };
    expect(rows).toEqual([
      { ...environment, html_url: page("/environments/shop-prod") },
      { ...flow, html_url: page("/flows/shop-ci") },
      {
        kind: "trail",
        name: "shop-run",
        context: "shop-ci",
        matched: "shop-run",
        html_url: page("/flows/shop-ci/trails/shop-run"),
      },
      {
        kind: "policy",
        name: "shop-rules",
        context: "",
        matched: "shop-rules",
        html_url: page("/policies/shop-rules"),
      },
      {
        kind: "control",
        name: "Shop review",
        context: "C-1",
        matched: "Shop review",
        html_url: page("/controls/C-1"),
      },
      {
        kind: "attestation_type",
        name: "shop-scan",
        context: "",
        matched: "shop-scan",
        html_url: page("/attestation-types/shop-scan"),
      },
      { ...ticket, html_url: ofAttestation },
      artifact,
      {
        kind: "repo",
        name: "acme/shop",
        context: "https://git.example.com/acme/shop",
        matched: "acme/shop",
        html_url: page("/repos/acme/shop"),
      },
    ]);
    const byDigest = { ...artifact, matched: fingerprint };
    expect(await find(org, { q: fingerprint.slice(0, 7).toUpperCase() })).toEqual([byDigest]);
    expect(
      await find(org, { q: `registry.test/shop@sha256:${fingerprint}`, kind: "artifact" }),
    ).toContainEqual(byDigest);
    expect(await find(org, { q: commit.slice(0, 8) })).toEqual([
      {
        kind: "commit",
        name: commit,
        context: "shop-ci",
        matched: commit,
        html_url: page(`/commits/${commit}`),
      },
    ]);
    for (const q of ["4711", "#4711", "https://git.test/acme/shop/pull/4711", "git.test/acme"])
      expect(await find(org, { q })).toEqual([
        {
          kind: "pull_request",
          name: "git.test/acme/shop/pull/4711",
          context: "shop-ci/shop-run",
          matched: "git.test/acme/shop/pull/4711",
          html_url: ofAttestation,
        },
      ]);
    expect(await found(org, "c-1")).toEqual(["control Shop review"]);
    expect(await found(org, "nothing of the kind")).toEqual([]);
  });

  it("shows the same text first, then what begins with it, then words, then parts; archived things are gone", async () => {
    const org = await app.org();
    for (const name of ["prod-eu", "prod", "eu-prod", "stage", "reprod"]) await createEnvironment(org, name);
    for (const name of ["reproducer", "prod-ci"]) await putFlow(org.member, org.name, { name });
    expect(await found(org, "prod")).toEqual([
      "environment prod",
      "environment prod-eu",
      "flow prod-ci",
      "environment eu-prod",
      "flow reproducer",
    ]);
    expect(await found(org, "prod", "flow")).toEqual(["flow prod-ci", "flow reproducer"]);
    expect(await find(org, { q: "prod", limit: "1" })).toHaveLength(1);
    await org.admin.put(`/environments/${org.name}/prod/archive`);
    await org.admin.put(`/flows/${org.name}/prod-ci/archive`);
    expect(await found(org, "prod")).toEqual([
      "environment prod-eu",
      "environment eu-prod",
      "flow reproducer",
    ]);
  });

  it("follows new names of environments, flows, policies and controls", async () => {
    const org = await app.org();
    await createEnvironment(org, "old-place");
    await putFlow(org.member, org.name, { name: "old-flow" });
    await createControl(org, "old-1", { name: "Old words" });
    expect(await found(org, "old")).toHaveLength(3);
    const renamed = [
      await org.admin.put(`/environments/${org.name}/old-place/rename`, { new_name: "new-place" }),
      await org.admin.put(`/flows/${org.name}/old-flow/rename`, { new_name: "new-flow" }),
      await org.admin.put(`/controls/${org.name}/old-1`, { name: "New words" }),
    ];
    expect(renamed.map(({ status }) => status)).not.toContain(404);
    expect(await found(org, "old")).toEqual(["control New words"]);
    expect(await found(org, "new")).toEqual(["environment new-place", "flow new-flow", "control New words"]);
  });

  it("leads to a control by all of its identifier, of which it shows the first 200 characters", async () => {
    const org = await app.org();
    const identifier = `C-${"x".repeat(254)}`;
    await createControl(org, identifier, { name: "Shop review" });
    expect(await find(org, { q: "shop review" })).toMatchObject([
      {
        kind: "control",
        context: identifier.slice(0, 200),
        html_url: `http://waybill.test/${org.name}/controls/${identifier}`,
      },
    ]);
  });

  it("finds artifacts once for each flow, by the newest build or the tag that is asked for", async () => {
    const org = await app.org();
    for (const version of ["1", "2", "3"])
      await build(org, "web-ci", {
        fingerprint: fingerprintOf(version),
        filename: `r.test/team/web:${version}`,
      });
    await build(org, "other-ci", { fingerprint: fingerprintOf("x"), filename: "r.test/team/web:9" });
    expect(await found(org, "web", "artifact")).toEqual([
      "artifact r.test/team/web:9",
      "artifact r.test/team/web:3",
    ]);
    const [, asked] = await find(org, { q: "r.test/team/web:2", kind: "artifact" });
    expect(asked).toMatchObject({ name: "r.test/team/web:2", context: "web-ci" });
    expect(asked?.html_url).toContain(fingerprintOf("2"));
  });

  it("finds what only ran by its digest, and commits that were only attested to", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await reportServer(org, "prod", ["nginx"]);
    const fingerprint = fingerprintOf("nginx");
    expect(await find(org, { q: fingerprint.slice(0, 9) })).toEqual([
      {
        kind: "artifact",
        name: "nginx",
        context: "",
        matched: fingerprint,
        html_url: `http://waybill.test/${org.name}/artifacts/${fingerprint}`,
      },
    ]);
    const commit = commitOf("attested");
    await attest(org.member, { org: org.name }, "generic", {
      attestation_name: "lint",
      is_compliant: true,
      git_commit_info: commitInfo(commit),
    });
    expect(await find(org, { q: commit, kind: "commit" })).toMatchObject([
      { name: commit, context: "web-ci" },
    ]);
  });

  it("shows a ticket once for each trail, the newest attestation of it, the newest trail first", async () => {
    const org = await app.org();
    const issue = { issue_id: "PAY-1", issue_url: "https://jira.test/PAY-1", issue_exists: true };
    for (const trail of ["a", "b", "a"])
      await attest(org.member, { org: org.name, trail }, "jira", {
        attestation_name: "issue",
        jira_results: [issue, issue],
      });
    const rows = await find(org, { q: "pay-1" });
    expect(rows.map(({ kind, context }) => `${kind} ${context}`)).toEqual([
      "ticket web-ci/a",
      "ticket web-ci/b",
    ]);
    const { json } = await org.reader.get(`/attestations/${org.name}/web-ci/trail/a/issue`);
    expect(rows[0]?.html_url).toBe(json.at(-1).html_url);
  });

  it("keeps no report out, whatever it says of tickets and pull requests", async () => {
    const org = await app.org();
    const issue = { issue_url: "https://jira.test/1", issue_exists: true };
    const texts = ["", "\u0000", "a\u0000b", "\ud800", "\\u0000", "x".repeat(5000), "ünï"];
    for (const text of texts) {
      const issues = await attest(org.member, { org: org.name }, "jira", {
        attestation_name: "issue",
        jira_results: [{ ...issue, issue_id: text }],
      });
      const pulls = await attest(org.member, { org: org.name }, "pull_request", {
        attestation_name: "review",
        git_provider: "github",
        pull_requests: [{ url: text, state: text }],
      });
      expect([text, issues.status < 500, pulls.status < 500]).toEqual([text, true, true]);
    }
    expect(await found(org, "x".repeat(128))).toEqual([
      `pull_request ${"x".repeat(256)}`,
      `ticket ${"x".repeat(256)}`,
    ]);
    expect(await found(org, "ünï", "ticket")).toEqual(["ticket ünï"]);
  });

  it("shows nothing of others, and asks three things of the database at most", async () => {
    const [mine, theirs] = [await app.org(), await app.org({ public: true })];
    await createEnvironment(theirs, "secret-place");
    await build(theirs, "secret-ci", { filename: "secret", git_commit: commitOf("secret") });
    for (const q of ["secret", commitOf("secret")]) expect(await find(mine, { q })).toEqual([]);
    expect((await mine.reader.get(`/search/${(await app.org()).name}?q=secret`)).status).toBe(403);
    const open = await app.anonymous.get(`/search/${theirs.name}?q=secret`);
    expect([open.status, open.json.length]).toEqual([200, 3]);
    const asked = await statementsOf(app, () => find(theirs, { q: commitOf("secret") }));
    expect(asked.filter((text) => text.startsWith("/* search-"))).toHaveLength(3);
  });

  it.each([
    ["", { "query.q": "Field required [input: None]" }],
    ["q=", { "query.q": "Text should have 1 to 128 characters [input: ]" }],
    ["q=%20%20", { "query.q": "Text should have 1 to 128 characters [input:   ]" }],
    ["q=a&kind=user", { "query.kind": expect.stringContaining("Input should be 'environment', 'flow'") }],
    ["q=a&limit=51", { "query.limit": "Input should be less than or equal to 50 [input: 51]" }],
  ])("refuses '%s'", async (query, errors) => {
    const org = await app.org();
    const answer = await org.reader.get(`/search/${org.name}?${query}`);
    expect([answer.status, answer.json.errors]).toEqual([400, errors]);
  });

  it("takes any text for a text", async () => {
    const org = await app.org();
    await createEnvironment(org, "a_b");
    await createEnvironment(org, "acb");
    expect(await found(org, "a_b")).toEqual(["environment a_b"]);
    for (const q of ["%", "\\", "'", "x".repeat(128), "ä", "\u{10FFFF}", "a:*&|!"])
      expect([q, await found(org, q)]).toEqual([q, []]);
  });
});
