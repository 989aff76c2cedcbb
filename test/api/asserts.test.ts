import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { findEnvironmentCase, findPolicyCase } from "../../src/modules/views/asserts/store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText, samplePolicy } from "../support/policies.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const template = `version: 1
trail:
  attestations:
    - name: review
      type: generic
  artifacts:
    - name: web
      attestations:
        - name: unit
          type: generic
`;

const web = fingerprintOf("web");

async function reportTo(org: TestOrg, flow: string, fingerprint = web): Promise<void> {
  await putFlow(org.member, org.name, { name: flow }, template);
  await putTrail(org.member, `${org.name}/${flow}`, { name: "run" });
  const body = artifactBody({ fingerprint, trail_name: "run", template_reference_name: "web" });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
}

async function attestAll(org: TestOrg, flow: string, is_compliant = true, fingerprint = web): Promise<void> {
  const place = { org: org.name, flow };
  await attest(org.member, place, "generic", { attestation_name: "review", is_compliant: true });
  await attest(org.member, place, "generic", {
    attestation_name: "unit",
    is_compliant,
    artifact_fingerprint: fingerprint,
  });
}

/** An organization where flow `web-ci` knows `web`, which complies. */
async function withArtifact(): Promise<TestOrg> {
  const org = await app.org();
  await reportTo(org, "web-ci");
  await attestAll(org, "web-ci");
  return org;
}

function ask(org: TestOrg, query = "", fingerprint = web) {
  return org.reader.get(`/asserts/${org.name}/fingerprint/${fingerprint}${query}`);
}

async function verdict(org: TestOrg, query = "", fingerprint = web) {
  const answer = await ask(org, query, fingerprint);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

const scanPolicy = policyText("attestations:", "  - name: scan", "    type: generic");

it("is refused where one rule would take long for the name of the artifact", async () => {
  const org = await app.org();
  await putFlow(org.member, org.name, { name: "web-ci" }, template);
  await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
  // Any length is accepted as a name, and one match cannot be interrupted.
  const body = artifactBody({
    fingerprint: web,
    trail_name: "run",
    template_reference_name: "web",
    filename: "ab".repeat(200_000),
  });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
  const condition = "matches(artifact.name, '(?:.*a.{0,900})[^a-z]')";
  await createPolicy(org, "dear", policyText("attestations:", `  - if: "${condition}"`, "    type: junit"));
  const { status, json } = await ask(org, "?policy_name=dear");
  expect([status, json.message]).toEqual([
    400,
    expect.stringMatching(
      /^Artifact with fingerprint '\w+' cannot be judged: the regular expressions of one of its rules times the longest name/,
    ),
  ]);
});

describe("by the templates of flows", () => {
  it("tells the verdict with everything it rests on", async () => {
    const org = await withArtifact();
    const shown = await verdict(org);
    const row = (attestation_name: string) => ({
      attestation_name,
      attestation_type: "generic",
      status: "COMPLETE",
      is_compliant: true,
      unexpected: false,
    });
    const compliance_status = {
      artifact_fingerprint: web,
      status: "COMPLIANT",
      is_compliant: true,
      attestations_statuses: [row("review"), row("unit")],
      evaluated_at: expect.any(Number),
      unexpected: false,
    };
    const html_url = expect.stringMatching(
      new RegExp(
        `^http://waybill.test/${org.name}/flows/web-ci/artifacts/${web}\\?artifact_id=[0-9a-f-]{32}$`,
      ),
    );
    expect(shown).toEqual({
      fingerprint: web,
      flow: "web-ci",
      trail: "run",
      compliant: true,
      compliance_status,
      html_url,
      flows: [{ flow: "web-ci", trail: "run", compliant: true, compliance_status, html_url }],
      scope: "flow",
      environment: null,
      policy_evaluations: null,
      allow_listing: null,
    });
  });

  it("fails with any flow, and looks at one alone when asked", async () => {
    const org = await withArtifact();
    await reportTo(org, "api-ci");
    await attestAll(org, "api-ci", false);
    const both = await verdict(org);
    expect([both.compliant, both.flow, both.flows.map(({ flow }: { flow: string }) => flow)]).toEqual([
      false,
      "web-ci",
      ["web-ci", "api-ci"],
    ]);
    expect((await verdict(org, "?flow_name=web-ci")).compliant).toBe(true);
    const failed = await verdict(org, "?flow_name=api-ci&environment_name=&policy_name=");
    expect([failed.compliant, failed.flow, failed.compliance_status.status]).toEqual([
      false,
      "api-ci",
      "NON-COMPLIANT",
    ]);
    await org.member.put(`/flows/${org.name}/api-ci/rename`, { new_name: "api" });
    expect((await verdict(org, "?flow_name=api-ci")).flow).toBe("api");
  });

  it("says incomplete, also of what made way for another", async () => {
    const org = await app.org();
    await reportTo(org, "web-ci");
    expect((await verdict(org)).compliance_status).toMatchObject({
      status: "INCOMPLETE",
      is_compliant: false,
    });
    await reportTo(org, "web-ci", fingerprintOf("next"));
    expect(await verdict(org)).toMatchObject({
      compliant: false,
      compliance_status: {
        status: "INCOMPLETE",
        is_compliant: false,
        artifact_fingerprint: fingerprintOf("web"),
      },
    });
  });
});

describe("by the policies of an environment", () => {
  it("leaves it to the flows without any", async () => {
    const org = await withArtifact();
    await createEnvironment(org, "prod", { type: "server" });
    expect(await verdict(org, "?environment_name=prod")).toMatchObject({
      compliant: true,
      scope: "environment",
      environment: "prod",
      policy_evaluations: [],
      allow_listing: null,
    });
    await attestAll(org, "web-ci", false);
    expect((await verdict(org, "?environment_name=prod")).compliant).toBe(false);
  });

  it("applies what is attached now, in the latest version", async () => {
    const org = await withArtifact();
    await createEnvironment(org, "prod", { type: "server" });
    await createPolicy(org, "known");
    await createPolicy(org, "scanned", scanPolicy);
    await attachPolicies(org, "prod", "known");
    expect((await verdict(org, "?environment_name=prod")).compliant).toBe(true);
    await attachPolicies(org, "prod", "scanned");
    const shown = await verdict(org, "?environment_name=prod");
    expect(shown.compliant).toBe(false);
    expect(shown.policy_evaluations.map((one: { policy_name: string }) => one.policy_name)).toEqual([
      "known",
      "scanned",
    ]);
    expect(shown.policy_evaluations[1].rule_evaluations[2]).toEqual({
      rule: {
        type: "attestation",
        definition: { if: null, name: "scan", type: "generic", must_be_compliant: true, for_control: null },
      },
      satisfied: false,
      ignored: false,
      resolutions: [
        {
          type: "missing_attestation",
          context: { flow_name: "web-ci", trail_name: "run", artifact_status: null },
        },
      ],
    });
    await attest(org.member, { org: org.name }, "generic", { attestation_name: "scan", is_compliant: true });
    expect((await verdict(org, "?environment_name=prod")).compliant).toBe(true);
  });

  it("exempts what is on the allow-list, known to a flow or not", async () => {
    const org = await withArtifact();
    await createEnvironment(org, "prod", { type: "server" });
    await createPolicy(org, "scanned", scanPolicy);
    await attachPolicies(org, "prod", "scanned");
    const bought = fingerprintOf("bought");
    expect((await ask(org, "?environment_name=prod", bought)).status).toBe(404);
    for (const artifact_fingerprint of [web, bought])
      await org.member.put(`/allowlists/${org.name}/prod`, {
        artifact_name: "x",
        artifact_fingerprint,
        description: "trusted",
      });
    const id = expect.stringMatching(/^[0-9a-f-]{32}$/);
    const allow_listing = {
      allowlist_id: id,
      allowed_by_user_id: id,
      timestamp: expect.any(Number),
      description: "trusted",
    };
    expect(await verdict(org, "?environment_name=prod")).toMatchObject({ compliant: true, allow_listing });
    expect(await verdict(org, "?environment_name=prod", bought)).toMatchObject({
      compliant: true,
      flow: "",
      flows: [],
      compliance_status: null,
      allow_listing,
    });
    expect((await ask(org, "?environment_name=prod&flow_name=web-ci", bought)).status).toBe(404);
  });
});

describe("by named policies", () => {
  it("keeps their order, whether they are attached or not", async () => {
    const org = await withArtifact();
    await createPolicy(org, "a-scanned", scanPolicy);
    await createPolicy(org, "b-known", samplePolicy);
    const shown = await verdict(org, "?policy_name=b-known&policy_name=a-scanned&policy_name=b-known");
    expect([shown.scope, shown.compliant, shown.environment]).toEqual(["policy", false, null]);
    expect(
      shown.policy_evaluations.map((one: { policy_name: string; status: string }) => [
        one.policy_name,
        one.status,
      ]),
    ).toEqual([
      ["b-known", "COMPLIANT"],
      ["a-scanned", "NON-COMPLIANT"],
    ]);
    expect((await verdict(org, "?policy_name=b-known")).compliant).toBe(true);
  });

  it("tells the control of a decision that is missing or failed", async () => {
    const org = await withArtifact();
    await org.admin.post(`/controls/${org.name}`, { identifier: "C-1", name: "one" });
    await createPolicy(
      org,
      "decided",
      policyText("attestations:", "  - type: decision", "    for_control: C-1"),
    );
    const resolution = async () =>
      (await verdict(org, "?policy_name=decided")).policy_evaluations[0].rule_evaluations[2].resolutions[0];
    expect(await resolution()).toMatchObject({
      type: "missing_attestation",
      context: { for_control: "C-1" },
    });
    const answer = await attest(org.member, { org: org.name }, "system", {
      attestation_name: "ok",
      type_name: "decision",
      control: "C-1",
      attestation_data: { is_compliant: false },
    });
    expect(answer.status).toBe(201);
    expect(await resolution()).toMatchObject({
      type: "non_compliant_attestation",
      context: { for_control: "C-1", trail_name: "run" },
    });
  });
});

it("reads the last of those attestations that no rule tells apart, however many a trail has", async () => {
  const org = await withArtifact();
  await createEnvironment(org, "prod", { type: "server" });
  for (const is_compliant of [false, true, false, true]) await attestAll(org, "web-ci", is_compliant);
  await attest(org.member, { org: org.name }, "junit", {
    attestation_name: "unit",
    artifact_fingerprint: web,
    junit_results: [],
  });
  const subject = { fingerprint: web, flow_name: null };
  const { db } = app.deps;
  for (const { facts } of [
    await findEnvironmentCase(db, org.id, subject, "prod"),
    await findPolicyCase(db, org.id, subject, []),
  ])
    expect(facts?.map(({ attestations }) => attestations)).toEqual([
      [
        { name: "review", type: "generic", is_compliant: true, control: null },
        { name: "unit", type: "generic", is_compliant: true, control: null },
        { name: "unit", type: "junit", is_compliant: true, control: null },
      ],
    ]);
});

describe("refusals", () => {
  it("are worded as clients know them", async () => {
    const org = await withArtifact();
    await createEnvironment(org, "prod", { type: "server" });
    await createPolicy(org, "p");
    const other = fingerprintOf("other");
    const belonging = `belonging to organization '${org.name}'`;
    const refusal = async (query: string, fingerprint = web) => {
      const { status, json } = await ask(org, query, fingerprint);
      return [status, json.message];
    };
    expect(await refusal("?environment_name=prod&policy_name=p")).toEqual([
      400,
      "Cannot specify both 'environment_name' and 'policy_name' at the same time",
    ]);
    expect(await refusal("?flow_name=nope")).toEqual([
      404,
      `Artifact with fingerprint '${web}' does not exist in flow 'nope' ${belonging}`,
    ]);
    for (const query of ["", "?environment_name=prod", "?policy_name=p"])
      expect(await refusal(query, other)).toEqual([
        404,
        `Artifact with fingerprint '${other}' does not exist in any flow ${belonging}`,
      ]);
    expect(await refusal("?environment_name=nope")).toEqual([
      404,
      `Environment named 'nope' does not exist for organization '${org.name}'`,
    ]);
    expect(await refusal("?policy_name=p&policy_name=nope")).toEqual([
      404,
      `Policy 'nope' does not exist in organization '${org.name}'`,
    ]);
    await org.member.put(`/environments/${org.name}/prod/archive`);
    expect(await refusal("?environment_name=prod")).toEqual([
      404,
      `Environment named 'prod' has been archived for organization '${org.name}'`,
    ]);
    const stranger = await app.org();
    expect((await ask(stranger)).status).toBe(404);
  });
});
