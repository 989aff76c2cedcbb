import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attest } from "../support/attestations.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const suite = { name: "core", failures: 0, errors: 0, skipped: 1, total: 12, duration: 3.25 };
const found = { id: "SNYK-1", message: "bad", priority_score: 700, locations: [{ uri: "a.js" }] };
const counts = { low_count: 0, medium_count: 0, high_count: 0 };
const tool = { name: "Snyk Container", version: "1.1300.0" };
const sonar = {
  serverUrl: "https://sonar.acme.test",
  taskId: "AB12",
  status: "SUCCESS",
  analysedAt: "2026-08-01T10:00:00+0000",
  revision: "1111",
  project: { key: "web", name: "Web", url: "https://sonar.acme.test/dashboard?id=web", extra: 1 },
  branch: { name: "main", type: "BRANCH" },
  qualityGate: {
    status: "OK",
    conditions: [{ metric: "coverage", errorThreshold: "80", operator: "LT", value: "91", status: "OK" }],
  },
  something_newer: true,
};
const issue = { issue_id: "WEB-7", issue_url: "https://jira.acme.test/WEB-7", issue_exists: true };
const commit = {
  sha1: "2".repeat(40),
  message: "m",
  author: "Ann <a@b.c>",
  author_username: "ann",
  timestamp: 1_785_995_000,
  branch: "rework",
  verified: true,
  signature_state: "VALID",
};
const pullRequest = {
  merge_commit: "1".repeat(40),
  url: "https://github.com/acme/web/pull/7",
  state: "MERGED",
  approvers: [{ username: "bo", state: "APPROVED", timestamp: 1_786_000_100 }],
  author: "ann",
  created_at: 1_785_990_000,
  merged_at: 1_786_000_200,
  title: "Rework",
  head_ref: "rework",
  base_ref: "main",
  commits: [commit],
};
/** What clients send of a request that is neither merged nor has anything else to say. */
const barePullRequest = {
  merge_commit: "",
  url: "https://dev.azure.test/7",
  state: "active",
  approvers: null,
  author: "",
  commits: [],
};
const { locations: _, ...withoutLocations } = found;

/** Kind, what is particular to the body, the verdict, the type and the keys that reads show. */
const accepted: [string, Record<string, unknown>, boolean, string, Record<string, unknown>][] = [
  ["generic", { is_compliant: true }, true, "generic", {}],
  ["generic", { is_compliant: false }, false, "generic", {}],
  ["junit", { junit_results: [suite] }, true, "junit", { junit_results: [suite] }],
  ["junit", { junit_results: [] }, true, "junit", { junit_results: [] }],
  [
    "junit",
    { junit_results: [suite, { ...suite, failures: 1, timestamp: 1_786_000_000.5 }] },
    false,
    "junit",
    { junit_results: [suite, { ...suite, failures: 1, timestamp: 1_786_000_000.5 }] },
  ],
  ["junit", { junit_results: [{ ...suite, errors: 1, timestamp: null }] }, false, "junit", {}],
  [
    "snyk",
    { snyk_results: { schema_version: 1, tool, results: [counts] } },
    true,
    "snyk",
    { processed_snyk_results: { schema_version: 1, tool, results: [counts] } },
  ],
  ["snyk", { snyk_results: { tool, results: [] } }, true, "snyk", {}],
  [
    "snyk",
    { snyk_results: { tool, results: [{ ...counts, high_count: 1, high: [found], medium: [], low: null }] } },
    false,
    "snyk",
    {
      processed_snyk_results: {
        tool,
        results: [{ ...counts, high_count: 1, high: [found], medium: [], low: null }],
      },
    },
  ],
  ["snyk", { snyk_results: { tool, results: [{ ...counts, medium_count: 1 }] } }, false, "snyk", {}],
  [
    "snyk",
    { snyk_results: { tool, results: [{ ...counts, low_count: 1, low: [withoutLocations] }] } },
    false,
    "snyk",
    {},
  ],
  ["sonar", { sonar_results: sonar }, true, "sonar", { sonar_results: sonar }],
  [
    "sonar",
    { sonar_results: { ...sonar, qualityGate: { ...sonar.qualityGate, status: "ERROR" } } },
    false,
    "sonar",
    {},
  ],
  ["sonar", { sonar_results: { ...sonar, qualityGate: null } }, false, "sonar", {}],
  [
    "sonar",
    { sonar_results: { analysedAt: "x", revision: "y", project: { key: "k", url: "u" } } },
    false,
    "sonar",
    { sonar_results: { analysedAt: "x", revision: "y", project: { key: "k", url: "u" } } },
  ],
  ["jira", { jira_results: [issue] }, true, "jira", { jira_results: [issue] }],
  ["jira", { jira_results: [] }, false, "jira", { jira_results: [] }],
  [
    "jira",
    { jira_results: [issue, { ...issue, issue_exists: false, issue_fields: { status: "open" } }] },
    false,
    "jira",
    {},
  ],
  [
    "pull_request",
    { git_provider: "github", pull_requests: [pullRequest] },
    true,
    "pull_request",
    { git_provider: "github", pull_requests: [pullRequest] },
  ],
  ["pull_request", { git_provider: "azure", pull_requests: [barePullRequest] }, true, "pull_request", {}],
  [
    "pull_request",
    { git_provider: "gitlab", pull_requests: [{ ...barePullRequest, approvers: ["bo"] }] },
    true,
    "pull_request",
    {},
  ],
  [
    "pull_request",
    {
      git_provider: "bitbucket",
      pull_requests: [{ url: "u", state: "OPEN", merge_commit: "", approvers: ["bo"] }],
    },
    true,
    "pull_request",
    {},
  ],
  [
    "pull_request",
    { git_provider: "github", pull_requests: [] },
    false,
    "pull_request",
    { pull_requests: [] },
  ],
  [
    "system",
    { type_name: "decision", control: "CTL-7", attestation_data: { is_compliant: true }, extra: 1 },
    true,
    "system:decision",
    { attestation_data: { is_compliant: true }, control: "CTL-7", control_version: null },
  ],
  [
    "system",
    { type_name: "decision", attestation_data: '{"is_compliant":false,"note":"no"}' },
    false,
    "system:decision",
    { attestation_data: { is_compliant: false, note: "no" }, control: null },
  ],
];

async function shown(name: string): Promise<Record<string, unknown>[]> {
  return (await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/${name}`)).json;
}

describe("what each kind accepts", () => {
  it.each(accepted)("%s %j is %s", async (kind, body, verdict, type, keys) => {
    const answer = await attest(org.member, { org: org.name }, kind, { attestation_name: "one", ...body });
    expect([answer.status, answer.json]).toEqual([201, "OK"]);
    expect(await shown("one")).toEqual([
      expect.objectContaining({ attestation_type: type, is_compliant: verdict, ...keys }),
    ]);
  });
});

/** Kind, what is particular to the body, and where it is wrong and how. */
const refused: [string, Record<string, unknown>, Record<string, string>][] = [
  ["generic", {}, { is_compliant: "Field required [input: None]" }],
  ["generic", { is_compliant: "yes" }, { is_compliant: "Input should be a valid boolean [input: yes]" }],
  ["generic", { is_compliant: true, extra: 1 }, { extra: "Extra inputs are not permitted [input: 1]" }],
  ["junit", {}, { junit_results: "Field required [input: None]" }],
  [
    "junit",
    { junit_results: [{ ...suite, extra: 1, total: "3" }] },
    {
      "junit_results[0].extra": "Extra inputs are not permitted [input: 1]",
      "junit_results[0].total": "Input should be a valid integer [input: 3]",
    },
  ],
  [
    "snyk",
    { snyk_results: { tool: { ...tool, x: 1 }, results: [{ ...counts, low: [{ id: "x" }] }] } },
    {
      "snyk_results.tool.x": "Extra inputs are not permitted [input: 1]",
      "snyk_results.results[0].low[0].message": "Field required [input: None]",
    },
  ],
  [
    "sonar",
    { sonar_results: { revision: "y", project: { key: "k" } } },
    {
      "sonar_results.analysedAt": "Field required [input: None]",
      "sonar_results.project.url": "Field required [input: None]",
    },
  ],
  ["jira", { jira_results: null }, { jira_results: "Input should be a valid list [input: None]" }],
  [
    "pull_request",
    { git_provider: "github", pull_requests: null },
    { pull_requests: "Input should be a valid list [input: None]" },
  ],
  [
    "pull_request",
    { git_provider: "hg", pull_requests: [] },
    { git_provider: "Input should be 'github', 'gitlab', 'bitbucket' or 'azure' [input: hg]" },
  ],
  ["custom", { type_name: "x" }, { attestation_data: "Field required [input: None]" }],
  [
    "system",
    { type_name: "wish", attestation_data: { is_compliant: true } },
    { type_name: "Input should be 'decision' [input: wish]" },
  ],
  [
    "system",
    { type_name: "decision", attestation_data: {} },
    { "attestation_data.is_compliant": "Field required [input: None]" },
  ],
  [
    "override",
    { original_attestation_type: "junit" },
    {
      reason: "Field required [input: None]",
      new_compliance_status: "Field required [input: None]",
    },
  ],
];

describe("what each kind refuses", () => {
  it.each(refused)("%s %j", async (kind, body, errors) => {
    const answer = await attest(org.member, { org: org.name }, kind, { attestation_name: "one", ...body });
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "Input payload validation failed", errors },
    ]);
  });

  it.each([
    [{ attestation_name: "a.b" }, "attestation_name"],
    [{ target_artifacts: ["a b"] }, "target_artifacts[0]"],
    [{ artifact_fingerprint: "abc" }, "artifact_fingerprint"],
    [{ external_urls: { sbom: { href: "x", fingerprint: "7509e5bda0" } } }, "external_urls.sbom.fingerprint"],
    [{ annotations: { "a b": "c" } }, "annotations.a b"],
    [{ user_data: "text" }, "user_data"],
  ])("common fields: %j", async (wrong, location) => {
    const answer = await attest(org.member, { org: org.name }, "generic", {
      attestation_name: "one",
      is_compliant: true,
      ...wrong,
    });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual([location]);
  });

  it("an original type that there is none of", async () => {
    const body = { attestation_name: "one", reason: "r", new_compliance_status: true };
    const types = [
      ["wish", 400],
      ["pull_request", 200],
      ["custom:x", 200],
      ["system:decision", 200],
    ] as const;
    for (const [original_attestation_type, status] of types) {
      const answer = await attest(org.member, { org: org.name }, "override", {
        ...body,
        original_attestation_type,
      });
      expect(answer.status).toBe(status);
    }
  });

  it("callers who may only read", async () => {
    for (const client of [org.reader, org.snapshotter])
      expect(
        (await attest(client, { org: org.name }, "generic", { attestation_name: "a", is_compliant: true }))
          .status,
      ).toBe(403);
  });
});
