import { afterAll, beforeAll, expect, it } from "vitest";

import { few } from "../../src/modules/views/asserts/store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";
import { attestAll, reportAll } from "../support/histories.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";

/** What is read at most in one: less than all these flows say together, or one of them at length. */
const largestRow = 2_000_000;
const flows = few.flows + 2;
const web = fingerprintOf("web");

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({}, { largestRow });
  org = await app.org();
  const asked = Array.from({ length: 200 }, (_, at) => `    - {name: "check-${at}", type: "*"}\n`);
  const template = `version: 1\ntrail:\n  attestations:\n${asked.join("")}  artifacts:\n    - {name: web, attestations: [{name: unit, type: generic}]}\n`;
  for (let at = 0; at < flows; at += 1) {
    await putFlow(org.member, org.name, { name: nameOf(at) }, template);
    await report(at, web);
  }
  // Of one it is the name's artifact no more; to another it was reported without being asked for.
  await report(1, fingerprintOf("other"));
  await report(2, web, "extra");
  await attest(org.member, { org: org.name, flow: nameOf(3) }, "generic", {
    attestation_name: "unit",
    is_compliant: false,
    artifact_fingerprint: web,
  });
}, 120_000);
afterAll(() => app.close());

const nameOf = (at: number): string => `ci-${at}`;

async function report(at: number, fingerprint: string, template_reference_name = "web"): Promise<void> {
  const body = artifactBody({ fingerprint, trail_name: "run", template_reference_name });
  expect((await org.member.post(`/artifacts/${org.name}/${nameOf(at)}`, body)).status).toBe(201);
}

async function ask(query: string, of = org, print = web): Promise<Answer> {
  const answer = await of.reader.get(`/asserts/${of.name}/fingerprint/${print}${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer;
}

it("asserts what very many flows know as it does what each of them knows", async () => {
  const whole = await ask("");
  const single = [];
  for (let at = 0; at < flows; at += 1) single.push((await ask(`?flow_name=${nameOf(at)}`)).json);
  const expected = { ...single[0], compliant: false, flows: single.map((one) => one.flows[0]) };
  expect(whole.text === JSON.stringify(expected)).toBe(true);
  const states = single.map((one) => one.compliance_status.status);
  expect([states[0], states[3]]).toEqual(["INCOMPLETE", "NON-COMPLIANT"]);
}, 120_000);

it("judges by policies what very many flows know", async () => {
  await createEnvironment(org, "prod", { type: "server" });
  await createPolicy(org, "unit", policyText("attestations:", "  - {name: unit, type: generic}"));
  await attachPolicies(org, "prod", "unit");
  const found = Array.from({ length: flows }, (_, at) =>
    at === 3 ? "non_compliant_attestation" : "missing_attestation",
  );
  for (const query of ["?environment_name=prod", "?policy_name=unit"]) {
    const { json } = await ask(query);
    const { rule_evaluations } = json.policy_evaluations[0];
    const { resolutions } = rule_evaluations.at(-1);
    expect([json.compliant, json.flows.length]).toEqual([false, flows]);
    expect(resolutions.map(({ type }: { type: string }) => type)).toEqual(found);
    expect(resolutions.map(({ context }: { context: { flow_name: string } }) => context.flow_name)).toEqual(
      json.flows.map(({ flow }: { flow: string }) => flow),
    );
  }
  await org.member.put(`/allowlists/${org.name}/prod`, {
    artifact_name: "x",
    artifact_fingerprint: web,
    description: "y",
  });
  const { json } = await ask("?environment_name=prod");
  expect([json.allow_listing.description, json.scope, json.environment, json.flows.length]).toEqual([
    "y",
    "environment",
    "prod",
    flows,
  ]);
}, 120_000);

it("asserts what a flow says at length", async () => {
  const own = await app.org();
  await reportAll(app, own, [{ trail: "run", name: "web", print: "web", commit: null }]);
  const names = Array.from({ length: 6000 }, (_, at) => `check-${at}`);
  const plain = {
    trail: "run",
    type: "generic",
    is_compliant: true,
    is_override: false,
    commit: null,
    targets: null,
  };
  await attestAll(
    app,
    own,
    names.map((name, at) => ({ ...plain, name, print: at % 2 === 0 ? null : "web" })),
  );
  const { json } = await ask("", own);
  const row = (attestation_name: string | undefined) => ({
    attestation_name,
    attestation_type: "generic",
    status: "COMPLETE",
    is_compliant: true,
    unexpected: true,
  });
  const parts = [0, 1].map((odd) => names.filter((_, at) => at % 2 === odd));
  expect(json.compliant).toBe(true);
  expect(json.flows).toEqual([
    expect.objectContaining({ flow: "flow", compliance_status: json.compliance_status }),
  ]);
  expect(json.compliance_status.attestations_statuses).toEqual(parts.flat().map(row));
}, 60_000);
