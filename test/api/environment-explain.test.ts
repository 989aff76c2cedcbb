import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const policy = policyText(
  "provenance:",
  "  required: true",
  "attestations:",
  "  - name: scan",
  "    type: generic",
);

/** `built` comes from a flow, `bought` from nowhere; both run in `prod`, where policy `p` wants a scan. */
async function withRunning(): Promise<TestOrg> {
  const org = await app.org();
  await putFlow(org.member, org.name, { name: "web-ci" });
  await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
  const body = artifactBody({ fingerprint: fingerprintOf("built"), trail_name: "run" });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
  await createEnvironment(org, "prod", { type: "server" });
  await createPolicy(org, "p", policy);
  await attachPolicies(org, "prod", "p");
  expect((await reportServer(org, "prod", ["built", "bought"])).status).toBe(201);
  return org;
}

function scan(org: TestOrg, is_compliant: boolean) {
  return attest(org.member, { org: org.name }, "generic", { attestation_name: "scan", is_compliant });
}

async function explain(org: TestOrg, query = "", name = "prod") {
  const answer = await org.reader.get(`/environments/${org.name}/${name}/explain${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

type Json = Answer["json"];

function artifactIn(explanation: Json, name: string): Json {
  return explanation.artifacts.find((artifact: Json) => artifact.artifact_name === name);
}

describe("why an environment does not comply", () => {
  it("is told rule by rule, with the fewest reports that would help", async () => {
    const org = await withRunning();
    const shown = await explain(org);
    expect(shown).toMatchObject({
      environment_name: "prod",
      environment_type: "server",
      snapshot_index: 1,
      is_latest: true,
      status: "NON-COMPLIANT",
      is_compliant: false,
      summary: "2 of 2 artifacts do not comply",
      policies: [{ name: "p", version: 1, failing_artifacts: 2 }],
      members: null,
      html_url: `http://waybill.test/${org.name}/environments/prod/snapshots/1`,
    });
    const built = artifactIn(shown, "built");
    expect([built.status, built.summary, built.allow_listed]).toEqual([
      "NON-COMPLIANT",
      "It does not meet 1 of 1 policy",
      false,
    ]);
    expect(built.requirements.map(({ rule, outcome, reason }: Json) => [rule.type, outcome, reason])).toEqual(
      [
        ["provenance", "met", "The artifact is known in trail 'run' of flow 'web-ci'"],
        ["trail-compliance", "not_applicable", "The rule does not apply here"],
        [
          "attestation",
          "missing",
          "There is no attestation 'scan' of type 'generic' in trail 'run' of flow 'web-ci'",
        ],
      ],
    );
    expect(built.proposed_reports).toEqual([
      {
        kind: "attestation",
        flow_name: "web-ci",
        trail_name: "run",
        artifact_fingerprint: fingerprintOf("built"),
        artifact_status: null,
        attestation_name: "scan",
        attestation_type: "generic",
        for_control: null,
        rules: [{ policy_name: "p", rule_index: 2 }],
      },
    ]);
    const bought = artifactIn(shown, "bought");
    expect(bought.requirements.map(({ outcome }: Json) => outcome)).toEqual([
      "missing",
      "not_applicable",
      "missing",
    ]);
    expect(bought.proposed_reports.map(({ kind, flow_name }: Json) => [kind, flow_name])).toEqual([
      ["artifact", null],
      ["attestation", null],
    ]);
  });

  it("names the record that decided, and what was reported since", async () => {
    const org = await withRunning();
    app.clock.advance(10);
    await scan(org, false);
    const early = artifactIn(await explain(org), "built").requirements[2];
    expect([early.outcome, early.attestation, early.reported_since.is_compliant]).toEqual([
      "missing",
      null,
      false,
    ]);
    app.clock.advance(10);
    await reportServer(org, "prod", ["built", "bought"]);
    await reportServer(org, "prod", ["built"]);
    const failed = artifactIn(await explain(org), "built").requirements[2];
    expect(failed).toMatchObject({
      outcome: "failed",
      reported_since: null,
      attestation: {
        attestation_name: "scan",
        attestation_type: "generic",
        is_compliant: false,
        is_override: false,
        html_url: `${failed.html_url}?attestation_id=${failed.attestation.attestation_id}`,
      },
    });
    app.clock.advance(10);
    await scan(org, true);
    app.clock.advance(10);
    await reportServer(org, "prod", ["built"]);
    const met = await explain(org);
    expect([met.status, met.summary]).toEqual(["COMPLIANT", "Everything that runs here complies"]);
    expect(artifactIn(met, "built")).toMatchObject({
      summary: "It meets every policy",
      proposed_reports: [],
    });
    expect(artifactIn(met, "built").requirements[2].attestation.is_compliant).toBe(true);
    // What was decided before stays explained as it was.
    const past = await explain(org, "?snapshot=1");
    expect([past.snapshot_index, past.is_latest, past.status]).toEqual([1, false, "NON-COMPLIANT"]);
    expect(artifactIn(past, "built").requirements[2]).toMatchObject({
      outcome: "missing",
      attestation: null,
      reported_since: { is_compliant: true },
    });
  });

  it("says when nothing is judged, and what is trusted", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await reportServer(org, "prod", ["web"]);
    expect(await explain(org)).toMatchObject({
      status: "UNKNOWN",
      is_compliant: false,
      summary: "No policy is attached, so nothing is judged",
      artifacts: [{ status: "UNKNOWN", requirements: [], proposed_reports: [] }],
    });
    await createPolicy(org, "p", policy);
    await attachPolicies(org, "prod", "p");
    const entry = { artifact_name: "web", artifact_fingerprint: fingerprintOf("web"), description: "" };
    await org.member.put(`/allowlists/${org.name}/prod`, entry);
    const artifact = artifactIn(await explain(org), "web");
    expect(artifact).toMatchObject({ allow_listed: true, status: "COMPLIANT", proposed_reports: [] });
    expect(new Set(artifact.requirements.map(({ reason }: Json) => reason))).toEqual(
      new Set(["The artifact is on the allow-list"]),
    );
  });

  it("leads to the members of a logical environment", async () => {
    const org = await withRunning();
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    expect(await explain(org, "", "all")).toMatchObject({
      environment_type: "logical",
      status: "NON-COMPLIANT",
      members: [{ name: "prod", status: "NON-COMPLIANT" }],
      artifacts: [
        { summary: "It does not comply in a member" },
        { summary: "It does not comply in a member" },
      ],
    });
  });

  it("is refused for what there is not", async () => {
    const org = await withRunning();
    await createEnvironment(org, "empty", { type: "server" });
    const refusal = async (path: string) => {
      const { status, json } = await org.reader.get(`/environments/${org.name}/${path}`);
      return [status, json.message];
    };
    expect(await refusal("nope/explain")).toEqual([
      404,
      `Environment named 'nope' does not exist for organization '${org.name}'`,
    ]);
    expect((await refusal("empty/explain"))[0]).toBe(404);
    expect(await refusal("prod/explain?snapshot=zzz")).toEqual([400, "Bad snappish zzz"]);
    expect((await refusal("prod/explain?snapshot=9"))[0]).toBe(404);
  });
});
