import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf, fingerprintOf } from "../support/artifacts.ts";
import type { Answer, Client, Parts } from "../support/client.ts";
import { sampleTemplate } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  org = await app.org();
});
afterAll(() => app.close());

const sent = { "content-type": "application/json; charset=utf-8" };

type Body = Record<string, unknown> | Parts;

function isForm(body: Body): body is Parts {
  return "data_json" in body || "payload" in body;
}

/** A call as the client makes it: reads claim a JSON body they do not have, writes without a payload send `null`. */
function call(method: string, path: string, body?: Body, client: Client = org.member): Promise<Answer> {
  if (method === "GET") return client.request(method, path, { headers: sent });
  if (body === undefined) return client.request(method, path, { headers: sent, payload: "null" });
  if (isForm(body)) return client.request(method, path, { parts: body });
  return client.request(method, path, { headers: sent, payload: JSON.stringify(body) });
}

/** A call that the client takes for a success, which only 200 and 201 are. */
async function ok(method: string, path: string, body?: Body, client?: Client) {
  const answer = await call(method, path, body, client);
  expect([path, [200, 201].includes(answer.status), answer.text]).toEqual([path, true, answer.text]);
  expect(answer.json, `${path} has a JSON body`).toBeDefined();
  return answer.json;
}

const file = (filename: string, content: string) => ({ filename, content });
const form = (data: unknown, files: Parts = {}): Parts => ({ data_json: JSON.stringify(data), ...files });

const sha1 = commitOf("head");
const fingerprint = fingerprintOf("cli");
const commit = {
  sha1,
  message: "fix",
  author: "Ann <ann@acme.test>",
  timestamp: 1_786_000_000,
  branch: "",
  url: `https://github.com/acme/cli/commit/${sha1}`,
};
const repo = { url: "https://github.com/acme/cli", name: "acme/cli", id: "42", provider: "github" };

async function beginTrail(): Promise<void> {
  const flow = form(
    { name: "cli-ci", description: "" },
    { template_file: file("template.yml", sampleTemplate) },
  );
  await ok("PUT", `/flows/${org.name}/template_file`, flow);
  await ok(
    "PUT",
    `/trails/${org.name}/cli-ci`,
    form({ name: "run", git_commit_info: commit, repo_info: repo }),
  );
}

function attest(kind: string, data: Record<string, unknown>, files?: Parts) {
  const path = `/attestations/${org.name}/cli-ci/trail/run/${kind}`;
  return ok("POST", path, form({ user_data: {}, git_commit_info: commit, ...data }, files));
}

function reportArtifact() {
  return ok("POST", `/artifacts/${org.name}/cli-ci`, {
    fingerprint,
    filename: "cli:1",
    git_commit: sha1,
    git_commit_info: commit,
    repo_info: repo,
    build_url: "https://ci.test/7",
    commit_url: commit.url,
    repo_url: repo.url,
    template_reference_name: "cli",
    trail_name: "run",
  });
}

describe("the process side", () => {
  it("tells created from updated by 201 and 200", async () => {
    const flow = form(
      { name: "cli-ci", description: "[]" },
      { template_file: file("template.yml", "version: 1") },
    );
    const statuses: number[] = [];
    for (const [path, body] of [
      [`/flows/${org.name}/template_file`, flow],
      [`/trails/${org.name}/cli-ci`, form({ name: "run" })],
      [
        `/flows/${org.name}`,
        { name: "older", description: "", visibility: "private", template: ["artifact", "unit"] },
      ],
    ] as const)
      for (let round = 0; round < 2; round += 1) {
        const answer = await call("PUT", path, body);
        expect(answer.json).toBe("OK");
        statuses.push(answer.status);
      }
    expect(statuses).toEqual([201, 200, 201, 200, 201, 200]);
  });

  it("reports a build from its beginning to a compliant trail", async () => {
    await beginTrail();
    const state = async () => (await ok("GET", `/trails/${org.name}/cli-ci/run`)).compliance_status;
    expect(await state()).toMatchObject({ status: "INCOMPLETE", is_compliant: false });
    await attest("junit", {
      attestation_name: "bar",
      junit_results: [{ name: "core", failures: 0, errors: 0, skipped: 1, total: 12, duration: 3.25 }],
    });
    await attest("generic", { attestation_name: "foo", target_artifacts: ["cli"], is_compliant: true });
    await reportArtifact();
    expect(await state()).toMatchObject({
      status: "COMPLIANT",
      attestations_statuses: [{ attestation_name: "bar", status: "COMPLETE", is_compliant: true }],
      artifacts_statuses: { cli: { status: "COMPLIANT", artifact_fingerprint: fingerprint } },
    });
    const artifact = await ok("GET", `/artifacts/${org.name}/cli-ci/fingerprint/${fingerprint}`);
    expect(artifact).toMatchObject({ state: "COMPLIANT", running: [], exited: [], git_commit: sha1 });
    expect(artifact.history.at(-1)).toEqual({ event: "cli reported", timestamp: artifact.created_at });
    expect(await ok("GET", `/artifacts/${org.name}/cli-ci/commit_sha/${sha1.slice(0, 7)}`)).toHaveLength(1);
  });

  it("reports every kind of attestation the way it is sent", async () => {
    await beginTrail();
    await reportArtifact();
    const pull = {
      merge_commit: "",
      url: "https://github.com/acme/cli/pull/7",
      state: "OPEN",
      approvers: null,
      author: "",
      commits: [{ ...commit, author_username: "ann", verified: true, signature_state: "VALID" }],
    };
    const finding = { id: "SNYK-1", message: "bad", locations: [{ uri: "go.mod" }], priority_score: 700 };
    const scanned = { high_count: 1, medium_count: 0, low_count: 0, high: [finding] };
    await ok("POST", `/custom-attestation-types/${org.name}`, form({ name: "coverage" }));
    await attest(
      "generic",
      { attestation_name: "a", is_compliant: true },
      {
        attachment_file: file("evidence.tgz", "bytes"),
      },
    );
    await attest("snyk", {
      attestation_name: "b",
      artifact_fingerprint: fingerprint,
      snyk_results: { schema_version: 1, tool: { name: "Snyk", version: "1" }, results: [scanned] },
    });
    await attest("jira", {
      attestation_name: "c",
      jira_results: [{ issue_id: "X-1", issue_url: "https://jira.test/X-1", issue_exists: false }],
    });
    await attest("pull_request", { attestation_name: "d", git_provider: "github", pull_requests: [pull] });
    await attest("sonar", {
      attestation_name: "e",
      sonar_results: {
        serverUrl: "https://sonar.test",
        taskId: "AB12",
        status: "SUCCESS",
        analysedAt: "2026-08-01T10:00:00+0000",
        revision: sha1,
        project: { key: "web", name: "Web", url: "https://sonar.test/web" },
        branch: { name: "main", type: "BRANCH" },
        qualityGate: { status: "OK", conditions: [] },
      },
    });
    await attest("custom", { attestation_name: "f", type_name: "coverage", attestation_data: { line: 92 } });
    await attest("system", {
      attestation_name: "g",
      type_name: "decision",
      control: "CTL-7",
      attestation_data: { is_compliant: true },
    });
    await ok("POST", `/attestations/${org.name}/cli-ci/trail/run/override`, {
      attestation_name: "c",
      user_data: {},
      reason: "no ticket needed",
      new_compliance_status: true,
      original_attestation_type: "jira",
    });
    const { compliance_status: status } = await ok("GET", `/trails/${org.name}/cli-ci/run`);
    const rows = status.attestations_statuses.slice(1);
    expect(
      rows.map((row: { attestation_type: string; is_compliant: boolean }) => [
        row.attestation_type,
        row.is_compliant,
      ]),
    ).toEqual([
      ["generic", true],
      ["jira", true],
      ["pull_request", true],
      ["sonar", true],
      ["custom:coverage", true],
      ["system:decision", true],
    ]);
    // What the client's evaluation of trails merges into each row.
    const onArtifact = status.artifacts_statuses.cli.attestations_statuses;
    for (const row of [...rows, ...onArtifact])
      if (row.attestation_id !== null) {
        const { data } = await ok("GET", `/attestations/${org.name}?attestation_id=${row.attestation_id}`);
        expect(data).toMatchObject([
          { attestation_name: row.attestation_name, html_url: expect.any(String) },
        ]);
      }
    const [evidence] = await ok("GET", `/attestations/${org.name}/cli-ci/trail/run/a`);
    expect(evidence).toMatchObject({
      has_audit_package: true,
      evidence_archive_path: expect.stringMatching(/\/evidence\.tgz$/),
      evidence_archive_fingerprint: fingerprintOf("bytes"),
      artifact_fingerprint: null,
    });
    const [scan] = await ok("GET", `/attestations/${org.name}/cli-ci/artifact/${fingerprint}/b`);
    expect(scan).toMatchObject({ target_artifacts: ["cli"], processed_snyk_results: { results: [scanned] } });
  });

  it("reports artifacts without a trail, after asking for the commit before", async () => {
    const older = { fingerprint, filename: "cli", build_url: "b", commit_url: "c", repo_url: "" };
    const latest = `/artifacts/${org.name}/cli-ci/${fingerprint}/latest_commit`;
    expect(await ok("GET", `${latest}?branch=feature/x`)).toEqual({ latest_commit: null });
    await ok("POST", `/artifacts/${org.name}/cli-ci`, { ...older, git_commit: sha1, commits_list: [] });
    const next = `/artifacts/${org.name}/cli-ci/${fingerprintOf("next")}/latest_commit`;
    expect(await ok("GET", next)).toEqual({ latest_commit: sha1 });
    for (const item of await ok("GET", `/artifacts/${org.name}?page=1&per_page=15&flow_name=cli-ci`))
      expect(item).toMatchObject({
        git_commit: sha1,
        filename: "cli",
        fingerprint,
        state: expect.any(String),
        created_at: expect.any(Number),
      });
  });

  it("lists flows and trails with what the tables print", async () => {
    await beginTrail();
    const flows = await ok(
      "GET",
      `/flows/${org.name}?page=1&per_page=20&search_by_name=CLI&case_sensitive=false`,
    );
    expect(flows).toMatchObject({
      data: [{ name: "cli-ci", tags: {} }],
      pagination: { page: 1, page_count: 1, total: 1 },
    });
    const none = await ok("GET", `/flows/${org.name}?page=99&per_page=20`);
    expect(none).toMatchObject({ data: [], pagination: { page: 99, total: 1 } });
    const trails = await ok("GET", `/trails/${org.name}?page=1&per_page=20&flow=cli-ci`);
    expect(trails.data).toMatchObject([{ name: "run", description: "", compliance_state: "INCOMPLETE" }]);
    await ok("PUT", `/flows/${org.name}/cli-ci/rename`, { new_name: "cli" });
    expect(await ok("GET", `/flows/${org.name}/cli-ci`)).toMatchObject({
      name: "cli",
      template: sampleTemplate,
    });
    await ok("PUT", `/flows/${org.name}/cli/archive`);
  });

  it("tags a repo by the id that its name leads to", async () => {
    await beginTrail();
    const found = await ok("GET", `/repos/${org.name}/acme/cli?provider=github`);
    const change = { set_tags: { team: "shop" }, remove_tags: ["none"] };
    expect(await ok("PATCH", `/tags/${org.name}/repo/${found.id}`, change)).toBe("OK");
    expect(await ok("GET", `/repos/${org.name}/${found.id}?id=${found.id}`)).toMatchObject({
      name: "acme/cli",
      provider: "github",
      tags: { team: "shop" },
    });
    const list = await ok("GET", `/repos/${org.name}?page=1&per_page=15&name=acme/cli`);
    expect(list).toMatchObject({ repos: [{ id: found.id }], page: 1, total_pages: 1, total_count: 1 });
  });
});

describe("what administrators do", () => {
  it("lives through a control, a service account and its keys", async () => {
    const controls = `/controls/${org.name}`;
    await ok("POST", controls, { identifier: "CTL-7", name: "Review", description: "" }, org.admin);
    for (const step of ["archive", "unarchive", "archive"])
      await ok("POST", `${controls}/CTL-7/${step}`, undefined, org.admin);
    expect(await ok("GET", `${controls}?page=1&per_page=15&archived=true`)).toMatchObject({
      controls: [{ identifier: "CTL-7", archived: true, tags: {}, links: {} }],
      page: 1,
      per_page: 15,
    });
    const accounts = `/service-accounts/${org.name}`;
    await ok("POST", accounts, { name: "bot", privilege: "member" }, org.admin);
    const key = await ok("POST", `${accounts}/bot/api-keys`, { description: "ci" }, org.admin);
    expect(await ok("GET", `/user/default-org`, undefined, app.as(key.key))).toHaveProperty(
      "default_org_name",
    );
    const rotated = await ok("POST", `${accounts}/bot/api-keys/${key.id}/rotate`, {}, org.admin);
    expect(rotated.id).toBe(key.id);
    expect(await ok("DELETE", `${accounts}/bot/api-keys/${key.id}`, undefined, org.admin)).toBe("revoked");
    expect(await ok("DELETE", `${accounts}/bot`, undefined, org.admin)).toBe("OK");
    const beta = { experimental_features_enabled: true };
    await ok("PUT", `/organizations/${org.name}/experimental_features`, beta, org.admin);
    await ok("PUT", `/user/${org.name}`);
    expect(await ok("GET", "/user/default-org")).toEqual({ default_org_name: org.name });
  });
});

describe("the runtime side", () => {
  const snapshot = () => ok("GET", `/snapshots/${org.name}/prod/-1`);

  it("creates an environment that is missing, reports on it and reads all of it", async () => {
    await beginTrail();
    await reportArtifact();
    // Exactly this status means that it is missing.
    expect((await call("GET", `/environments/${org.name}/prod`)).status).toBe(404);
    const description = "Auto-created by a reporter";
    await ok("PUT", `/environments/${org.name}`, { name: "prod", type: "K8S", description });
    const pod = (podName: string, digests: object) => ({
      podName,
      namespace: "shop",
      digests,
      creationTimestamp: 1_755_600_000,
      owners: null,
    });
    const running = [pod("cli-1", { "registry.test/cli:1": fingerprint }), pod("pending", {})];
    const report = `/environments/${org.name}/prod/report/K8S`;
    expect([
      (await call("PUT", report, { artifacts: running })).status,
      (await call("PUT", report, { artifacts: running })).status,
    ]).toEqual([201, 200]);
    expect(await snapshot()).toMatchObject({
      type: "K8S",
      compliant: false,
      artifacts: [{ name: "registry.test/cli:1", creationTimestamp: [1_755_600_000], flow_name: "cli-ci" }],
    });
    const paging = "page=1&per_page=15&interval=&reverse=false";
    expect(await ok("GET", `/snapshots/${org.name}/prod?${paging}`)).toMatchObject([
      { index: 1, to: 0, compliant: false, from: expect.any(Number), duration: expect.any(Number) },
    ]);
    expect(await ok("GET", `/environments/${org.name}/prod/events?${paging}`)).toMatchObject([
      { snapshot_index: 1, artifact_name: "registry.test/cli:1", sha256: fingerprint, pipeline: "cli-ci" },
    ]);
    await ok("PUT", report, { artifacts: [] });
    const diff = await ok("GET", `/env-diff/${org.name}?snappish1=prod~1&snappish2=prod`);
    expect(diff.snappish1).toMatchObject({
      snapshot_id: "prod#1",
      artifacts: [{ fingerprint, flow: "cli-ci" }],
    });
    const found = await ok("GET", `/search/${org.name}/sha/${fingerprint.slice(0, 7)}`);
    expect(found).toMatchObject({
      resolved_to: { type: "fingerprint" },
      artifacts: [{ exited_from: ["prod"] }],
    });
    expect(await ok("GET", `/artifacts/${org.name}/cli-ci/fingerprint/${fingerprint}`)).toMatchObject({
      running: [],
      exited: [{ environment_name: "prod", snapshot_index: 2 }],
    });
  });

  it("asserts with a verdict in the body, and enforces policies", async () => {
    await beginTrail();
    await reportArtifact();
    await ok("PUT", `/environments/${org.name}`, { name: "prod", type: "server", description: "" });
    const yaml =
      "_schema: https://kosli.com/schemas/policy/environment/v1\nartifacts:\n  trail-compliance:\n    required: true\n";
    const policy = await ok("PUT", `/policies/${org.name}`, {
      payload: JSON.stringify({ name: "strict", description: "", comment: "", type: "env" }),
      policy_file: file("policy.yml", yaml),
    });
    expect(policy).toMatchObject({ versions: [{ version: 1, policy_yaml: yaml }], consuming_envs: [] });
    const policies = `/environments/${org.name}/prod/policies`;
    await ok("POST", policies, { policy_names: ["strict"] });
    const assert = (query: string) => ok("GET", `/asserts/${org.name}/fingerprint/${fingerprint}${query}`);
    const judged = { compliant: false, flows: [{ flow: "cli-ci", html_url: expect.any(String) }] };
    expect(await assert("?flow_name=cli-ci")).toMatchObject({ ...judged, scope: "flow" });
    expect(await assert("?environment_name=prod")).toMatchObject({
      ...judged,
      scope: "environment",
      environment: "prod",
      policy_evaluations: [{ policy_name: "strict", status: "NON-COMPLIANT" }],
    });
    expect(await assert("?policy_name=strict")).toMatchObject({ ...judged, scope: "policy" });
    const entry = { artifact_fingerprint: fingerprint, artifact_name: "cli", description: "trusted" };
    expect(await ok("PUT", `/allowlists/${org.name}/prod`, entry)).toEqual(entry);
    expect(await assert("?environment_name=prod")).toMatchObject({ compliant: true, allow_listing: {} });
    await ok("DELETE", policies, { policy_names: ["strict"] });
    await ok("PUT", `/environments/${org.name}/prod/rename`, { new_name: "production" });
    await ok("PUT", `/environments/${org.name}/prod/archive`);
  });
});
