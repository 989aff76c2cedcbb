import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { JsonPieces } from "../../src/contract/endpoint.ts";
import type { ProposedReport, TrailExplanation } from "../../src/contract/explanations.ts";
import { readArtifact } from "../../src/modules/process/artifacts/read-service.ts";
import { readTrailExplanation } from "../../src/modules/views/explanations/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { collect } from "../support/collect.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { attestAll, reportAll } from "../support/histories.ts";
import { leastLongestTurn } from "../support/turns.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const commit = commitOf("rework");
const template = `version: 1
trail:
  attestations:
    - {name: ticket, type: generic}
  artifacts:
    - name: api
      attestations:
        - {name: unit, type: junit}
        - {name: scan, type: '*'}
    - name: web
      attestations:
        - {name: lint, type: generic}
`;
const onApi = { artifact_fingerprint: fingerprintOf("api") };
const suite = { name: "core", failures: 0, errors: 0, skipped: 0, total: 12, duration: 3 };

async function vouch(org: TestOrg, kind: string, body: Record<string, unknown>): Promise<void> {
  const answer = await attest(org.member, { org: org.name }, kind, body);
  expect(answer.status, answer.text).toBe(kind === "override" ? 200 : 201);
}

async function report(org: TestOrg, name: string, more: Record<string, unknown> = {}): Promise<void> {
  const body = artifactBody({
    fingerprint: fingerprintOf(name),
    trail_name: "run",
    template_reference_name: name,
    git_commit: commit,
    ...more,
  });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
}

/** A trail with something of each kind on it: met, missing, failed and overridden. */
async function begin(): Promise<TestOrg> {
  const org = await app.org();
  await putFlow(org.member, org.name, { name: "web-ci" }, template);
  await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
  await report(org, "api");
  await vouch(org, "junit", {
    attestation_name: "unit",
    ...onApi,
    junit_results: [{ ...suite, failures: 1 }],
  });
  await vouch(org, "override", {
    attestation_name: "unit",
    ...onApi,
    reason: "flaky",
    original_attestation_type: "junit",
    new_compliance_status: true,
  });
  await vouch(org, "generic", { attestation_name: "size", ...onApi, is_compliant: false });
  await vouch(org, "generic", {
    attestation_name: "lint",
    is_compliant: true,
    target_artifacts: ["web"],
    git_commit_info: commitInfo(commit),
  });
  return org;
}

const explainTrail = (org: TestOrg) => org.reader.get(`/trails/${org.name}/web-ci/run/explain`);
const explainApi = (org: TestOrg, query = "") =>
  org.reader.get(`/artifacts/${org.name}/web-ci/fingerprint/${fingerprintOf("api")}/explain${query}`);

/** Does what a proposal says. */
async function carryOut(org: TestOrg, proposed: ProposedReport): Promise<void> {
  const name = proposed.artifact_name;
  if (proposed.attestation_name === null)
    return report(org, name!, proposed.git_commit === null ? {} : { git_commit: proposed.git_commit });
  const place =
    name === null ? {} : { artifact_fingerprint: proposed.artifact_fingerprint ?? fingerprintOf(name) };
  const common = { attestation_name: proposed.attestation_name, ...place };
  return proposed.attestation_type === "junit"
    ? vouch(org, "junit", { ...common, junit_results: [suite] })
    : vouch(org, "generic", { ...common, is_compliant: true });
}

describe("GET /trails/{org}/{flow_name}/{trail_name}/explain", () => {
  it("tells each requirement, where it comes from and what became of it", async () => {
    const org = await begin();
    const { status, json } = await explainTrail(org);
    const trail = (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
    const page = `http://waybill.test/${org.name}/flows/web-ci/trails/run`;
    expect(status).toBe(200);
    expect(json).toMatchObject({
      flow_name: "web-ci",
      trail_name: "run",
      status: "NON-COMPLIANT",
      is_compliant: false,
      summary: "Not compliant: api.size. Missing: ticket, api.scan, web",
      evaluated_at: trail.compliance_status.evaluated_at,
      flow_template_id: trail.compliance_status.flow_template_id,
      html_url: page,
    });
    const nothing = { artifact: null, attestation: null };
    const [unit, , size] = trail.compliance_status.artifacts_statuses.api.attestations_statuses;
    const decided = (row: { attestation_id: string }, type: string, is_compliant: boolean) => ({
      artifact: null,
      attestation: {
        attestation_id: row.attestation_id,
        attestation_type: type,
        is_compliant,
        reported_at: expect.any(Number),
        is_override: false,
        overridden_attestation_id: null,
        html_url: `${page}?attestation_id=${row.attestation_id}`,
      },
    });
    const place = (name: string | null, text: string | null = name) => ({
      artifact_name: name,
      artifact_fingerprint: text === null ? null : fingerprintOf(text),
    });
    const overridden = decided(unit, "junit", true);
    expect(json.requirements[0]).toEqual({
      kind: "attestation",
      template_path: "trail.attestations[0]",
      ...place(null),
      attestation_name: "ticket",
      attestation_type: "generic",
      outcome: "missing",
      reason: "No attestation of this name and type was reported",
      ...nothing,
    });
    expect(json.requirements[1]).toEqual({
      kind: "artifact",
      template_path: "trail.artifacts[0]",
      ...place("api"),
      attestation_name: null,
      attestation_type: null,
      outcome: "met",
      reason: "Reported",
      artifact: {
        artifact_id: trail.compliance_status.artifacts_statuses.api.artifact_id,
        fingerprint: fingerprintOf("api"),
        git_commit: commit,
        reported_at: expect.any(Number),
      },
      attestation: null,
    });
    expect(json.requirements[2]).toEqual({
      kind: "attestation",
      template_path: "trail.artifacts[0].attestations[0]",
      ...place("api"),
      attestation_name: "unit",
      attestation_type: "junit",
      outcome: "met",
      reason: "Compliant by an override",
      artifact: null,
      attestation: {
        ...overridden.attestation,
        is_override: true,
        overridden_attestation_id: unit.overridden_attestation_id,
      },
    });
    expect(json.requirements[4]).toEqual({
      kind: "attestation",
      template_path: null,
      ...place("api"),
      attestation_name: "size",
      attestation_type: "generic",
      outcome: "failed",
      reason: "Not compliant",
      ...decided(size, "generic", false),
    });
    expect(
      json.requirements.map((one: Record<string, unknown>) => [
        one["artifact_name"],
        one["attestation_name"],
        one["outcome"],
      ]),
    ).toEqual([
      [null, "ticket", "missing"],
      ["api", null, "met"],
      ["api", "unit", "met"],
      ["api", "scan", "missing"],
      ["api", "size", "failed"],
      ["web", null, "missing"],
      ["web", "lint", "met"],
    ]);
  });

  it("proposes reports that make it compliant when they are made, the last one being needed", async () => {
    const org = await begin();
    const { proposed_reports: proposed } = (await explainTrail(org)).json;
    expect(
      proposed.map((one: ProposedReport) => [
        one.kind,
        one.artifact_name,
        one.attestation_name,
        one.attestation_type,
      ]),
    ).toEqual([
      ["attestation", null, "ticket", "generic"],
      ["attestation", "api", "scan", "*"],
      ["attestation", "api", "size", "generic"],
      ["artifact", "web", null, null],
    ]);
    const size = (await explainTrail(org)).json.requirements[4].attestation.attestation_id;
    expect([
      proposed[2].replaces_attestation_id,
      proposed[2].artifact_fingerprint,
      proposed[3].git_commit,
    ]).toEqual([size, fingerprintOf("api"), commit]);
    for (const one of proposed) {
      expect((await explainTrail(org)).json.is_compliant).toBe(false);
      await carryOut(org, one);
    }
    const { json } = await explainTrail(org);
    expect([json.status, json.is_compliant, json.proposed_reports]).toEqual(["COMPLIANT", true, []]);
    expect(json.summary).toBe("Nothing is missing and nothing failed");
    expect((await org.reader.get(`/trails/${org.name}/web-ci/run`)).json.compliance_state).toBe("COMPLIANT");
  });

  it("blames reports of a wrong type and failed overrides in words", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, template);
    await vouch(org, "junit", { attestation_name: "ticket", junit_results: [{ ...suite, errors: 1 }] });
    const reason = async () => (await explainTrail(org)).json.requirements[0].reason;
    expect(await reason()).toBe("The latest report is of the type junit and not compliant");
    await vouch(org, "override", {
      attestation_name: "ticket",
      reason: "not accepted",
      original_attestation_type: "generic",
      new_compliance_status: false,
    });
    expect(await reason()).toBe("Not compliant by an override");
  });

  it("lets others in between where tens of thousands of names wait", { timeout: 60_000 }, async () => {
    const org = await app.org();
    await attestAll(
      app,
      org,
      Array.from({ length: 30 }, (_, at) => ({
        trail: "run",
        name: "unit",
        type: "junit",
        is_compliant: at % 2 === 0,
        is_override: false,
        print: null,
        commit: `c${at}`,
        targets: Array.from({ length: 1_000 }, (_value, name) => `${at}-${name}`),
      })),
    );
    const names = { flow_name: "flow", trail_name: "run" };
    let explained: TrailExplanation | undefined;
    const longest = await leastLongestTurn(50, async () => {
      explained = await readTrailExplanation(app.deps, org, names);
    });
    expect([explained?.requirements.length, explained?.proposed_reports.length]).toEqual([30_000, 15_000]);
    expect(longest).toBeLessThan(50);
  });

  it("says in the contract's words that there is no such trail, and nothing to strangers", async () => {
    const org = await begin();
    for (const [flow, trail] of [
      ["web-ci", "nope"],
      ["nope", "run"],
    ]) {
      const answer = await org.reader.get(`/trails/${org.name}/${flow}/${trail}/explain`);
      const message = `Trail with name '${trail}' does not exist for Organization '${org.name}' and Flow '${flow}'`;
      expect([answer.status, answer.json]).toEqual([404, { message }]);
    }
    const other = await app.org();
    expect((await other.admin.get(`/trails/${org.name}/web-ci/run/explain`)).status).toBe(403);
  });
});

describe("GET /artifacts/{org}/{flow_name}/fingerprint/{fingerprint}/explain", () => {
  it("explains the artifact's own state: its attestations and its trail's", async () => {
    const org = await begin();
    const { status, json } = await explainApi(org);
    const artifact = (
      await org.reader.get(`/artifacts/${org.name}/web-ci/fingerprint/${fingerprintOf("api")}`)
    ).json;
    expect(status).toBe(200);
    expect(json).toMatchObject({
      flow_name: "web-ci",
      trail_name: "run",
      artifact_id: artifact.id,
      artifact_fingerprint: fingerprintOf("api"),
      artifact_name: "api",
      status: artifact.state,
      summary: artifact.state_info,
      html_url: artifact.html_url,
    });
    expect(json.summary).toBe("Not compliant: api.size. Missing: ticket, api.scan");
    const names = json.requirements.map((one: ProposedReport) => [one.artifact_name, one.attestation_name]);
    expect(names).toEqual([
      [null, "ticket"],
      ["api", null],
      ["api", "unit"],
      ["api", "scan"],
      ["api", "size"],
    ]);
    for (const one of json.proposed_reports) {
      expect((await explainApi(org)).json.is_compliant).toBe(false);
      await carryOut(org, one);
    }
    expect((await explainApi(org)).json).toMatchObject({ status: "COMPLIANT", proposed_reports: [] });
    // The trail still waits for another artifact.
    expect((await explainTrail(org)).json.status).toBe("INCOMPLETE");
  });

  it("lets others in between where an artifact is shown that has tens of thousands of attestations", async () => {
    const org = await app.org();
    await reportAll(app, org, [{ trail: "run", name: "api", print: "api", commit: "c" }]);
    const names = Array.from({ length: 30_000 }, (_, at) => ({
      trail: "run",
      name: `check-${at}`,
      type: "generic",
      is_compliant: true,
      is_override: false,
      print: "api",
      commit: null,
      targets: null,
    }));
    await attestAll(app, org, names);
    const asked = { flow_name: "flow", fingerprint: fingerprintOf("api") };
    let body: JsonPieces | undefined;
    const longest = await leastLongestTurn(50, async () => {
      body = (await readArtifact(app.deps, org, asked)) as JsonPieces;
    });
    const shown = JSON.parse((await collect(body!.pieces as AsyncIterable<string>)).join(""));
    expect(shown).toMatchObject({ state: "COMPLIANT", state_info: "Nothing is missing and nothing failed" });
    expect([Object.keys(shown.evidence).length, shown.history.length]).toEqual([30_000, 30_001]);
    expect(longest).toBeLessThan(50);
  }, 60_000);

  it("means the same report as the artifact itself, and has its errors", async () => {
    const org = await begin();
    await report(org, "api", { trail_name: "free" });
    expect((await explainApi(org)).json).toMatchObject({ trail_name: "free" });
    expect((await explainApi(org, "?trail=run")).json.trail_name).toBe("run");
    const none = await explainApi(org, "?trail=nope");
    const message = `Artifact with fingerprint '${fingerprintOf("api")}' does not exist in flow 'web-ci' belonging to organization '${org.name}'`;
    expect([none.status, none.json]).toEqual([404, { message }]);
    const short = await org.reader.get(`/artifacts/${org.name}/web-ci/fingerprint/abcd/explain`);
    expect([short.status, Object.keys(short.json.errors)]).toEqual([400, ["path.fingerprint"]]);
  });
});
