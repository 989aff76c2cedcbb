import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";
import { annotations, getSnapshot, reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** `built` was built by a flow and `bought` by nobody knows whom; both run in `prod`. */
async function withRunning(): Promise<TestOrg> {
  const org = await app.org();
  await putFlow(org.member, org.name, { name: "web-ci" });
  await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
  const body = artifactBody({ fingerprint: fingerprintOf("built"), filename: "built", trail_name: "run" });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
  await createEnvironment(org, "prod", { type: "server" });
  expect((await reportServer(org, "prod", ["built", "bought"])).status).toBe(201);
  return org;
}

async function stateOf(org: TestOrg, name = "prod"): Promise<boolean | null> {
  return (await org.reader.get(`/environments/${org.name}/${name}`)).json.state;
}

const nothing = policyText("attestations: []");

describe("what runs is judged again at once", () => {
  it("when a policy is attached or detached", async () => {
    const org = await withRunning();
    expect(await stateOf(org)).toBeNull();
    await createPolicy(org, "p");
    await attachPolicies(org, "prod", "p");
    expect(await stateOf(org)).toBe(false);
    const snapshot = await getSnapshot(org, "prod");
    expect([snapshot.index, snapshot.compliant]).toEqual([2, false]);
    expect(annotations(snapshot).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "bought: became-non-compliant 1>1",
      "built: became-compliant 1>1",
    ]);
    expect(snapshot.applied_policies).toEqual([
      expect.objectContaining({ name: "p", version: 1, failing_artifacts: [fingerprintOf("bought")] }),
    ]);
    await attachPolicies(org, "prod", "p");
    expect((await getSnapshot(org, "prod")).index).toBe(2);
    await org.member.delete(`/environments/${org.name}/prod/policies`, { policy_names: ["p"] });
    expect(await stateOf(org)).toBeNull();
    expect(await getSnapshot(org, "prod")).toMatchObject({ index: 3, applied_policies: [] });
  });

  it("when a policy gets another version, and not when it stays", async () => {
    const org = await withRunning();
    await createPolicy(org, "p");
    await attachPolicies(org, "prod", "p");
    await putPolicy(org.member, org.name, { name: "p" }, nothing);
    expect(await stateOf(org)).toBe(true);
    const snapshot = await getSnapshot(org, "prod");
    expect([snapshot.index, snapshot.applied_policies[0].version]).toEqual([3, 2]);
    await putPolicy(org.member, org.name, { name: "p", description: "same" }, nothing);
    expect((await getSnapshot(org, "prod")).index).toBe(3);
    expect((await getSnapshot(org, "prod", "2")).applied_policies[0].version).toBe(1);
  });

  it("by jobs where the policy is attached to many", async () => {
    const org = await withRunning();
    await createPolicy(org, "p");
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    for (const name of names) {
      await createEnvironment(org, name, { type: "server" });
      await attachPolicies(org, name, "p");
      await reportServer(org, name, ["bought"]);
    }
    expect(await stateOf(org, "g")).toBe(false);
    await putPolicy(org.member, org.name, { name: "p" }, nothing);
    await runPendingJobs(app);
    for (const name of names) {
      expect(await stateOf(org, name)).toBe(true);
      expect((await getSnapshot(org, name)).index).toBe(2);
    }
  });

  it("by the latest version when a report comes before the job that applies it", async () => {
    const org = await withRunning();
    await createPolicy(org, "p");
    for (const name of ["prod", "a", "b", "c", "d", "e", "f"]) {
      if (name !== "prod") await createEnvironment(org, name, { type: "server" });
      await attachPolicies(org, name, "p");
      await reportServer(org, name, ["built", "bought"]);
    }
    await putPolicy(org.member, org.name, { name: "p" }, nothing);
    const { index } = await getSnapshot(org, "prod");
    expect((await reportServer(org, "prod", ["built", "bought", "new"])).status).toBe(201);
    const snapshot = await getSnapshot(org, "prod");
    expect([snapshot.index, snapshot.compliant]).toEqual([index + 1, true]);
    expect(snapshot.applied_policies).toMatchObject([{ version: 2, failing_artifacts: [] }]);
    expect(annotations(snapshot)).toContain("bought: became-compliant 1>1");
    await runPendingJobs(app);
    expect(annotations(await getSnapshot(org, "prod"))).toEqual(
      expect.arrayContaining(["bought: unchanged 1>1", "new: unchanged 1>1"]),
    );
  });

  it("when an artifact is allowed or disallowed", async () => {
    const org = await withRunning();
    await createPolicy(org, "p");
    await attachPolicies(org, "prod", "p");
    const fingerprint = fingerprintOf("bought");
    const entry = { artifact_name: "bought", artifact_fingerprint: fingerprint, description: "trusted" };
    expect((await org.member.put(`/allowlists/${org.name}/prod`, entry)).status).toBe(201);
    expect(await stateOf(org)).toBe(true);
    const snapshot = await getSnapshot(org, "prod");
    expect([snapshot.index, snapshot.compliant]).toEqual([3, true]);
    const bought = snapshot.artifacts.find(({ name }: { name: string }) => name === "bought");
    expect(bought).toMatchObject({ compliant: true, allow_listed: true });
    await org.member.put(`/allowlists/${org.name}/prod`, { ...entry, description: "still" });
    expect((await getSnapshot(org, "prod")).index).toBe(3);
    await org.member.delete(`/allowlists/${org.name}/prod/${fingerprint}`);
    expect([await stateOf(org), (await getSnapshot(org, "prod")).index]).toEqual([false, 4]);
  });

  it("in the logical environments around, and by policies of their own", async () => {
    const org = await withRunning();
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    await createPolicy(org, "p");
    await attachPolicies(org, "prod", "p");
    expect(await stateOf(org, "all")).toBe(false);
    await org.member.delete(`/environments/${org.name}/prod/policies`, { policy_names: ["p"] });
    expect(await stateOf(org, "all")).toBeNull();
    await attachPolicies(org, "all", "p");
    expect([await stateOf(org, "all"), await stateOf(org)]).toEqual([false, null]);
    await putPolicy(org.member, org.name, { name: "p" }, nothing);
    expect(await stateOf(org, "all")).not.toBe(false);
  });

  it("by every policy, with the control a decision is about", async () => {
    const org = await withRunning();
    await org.admin.post(`/controls/${org.name}`, { identifier: "C-1", name: "Review" });
    const asking = policyText(
      "attestations:",
      "  - type: decision",
      "    for_control: C-1",
      "    if: ${{ exists(flow) }}",
    );
    await createPolicy(org, "p", asking);
    await createPolicy(org, "q", nothing);
    await attachPolicies(org, "prod", "q", "p");
    expect(await stateOf(org)).toBe(false);
    const decision = {
      attestation_name: "review",
      type_name: "decision",
      control: "C-1",
      attestation_data: { is_compliant: true },
    };
    const answer = await attest(org.member, { org: org.name }, "system", decision);
    expect([answer.status, answer.json?.message]).toEqual([201, undefined]);
    await reportServer(org, "prod", ["built", "bought"]);
    expect(await stateOf(org)).toBe(true);
    expect(
      (await getSnapshot(org, "prod")).applied_policies.map(({ name }: { name: string }) => name),
    ).toEqual(["q", "p"]);
  });

  it("by the latest version, whatever happens at the same time", async () => {
    const orgs = await Promise.all([1, 2, 3, 4, 5, 6].map(() => withRunning()));
    const raced = await Promise.all(
      orgs.map(async (org) => {
        await createPolicy(org, "p");
        const answers = await Promise.all([
          org.member.post(`/environments/${org.name}/prod/policies`, { policy_names: ["p"] }),
          putPolicy(org.member, org.name, { name: "p" }, nothing),
          reportServer(org, "prod", ["bought"]),
        ]);
        return answers.map(({ status }) => status < 300);
      }),
    );
    expect(raced).toEqual(orgs.map(() => [true, true, true]));
    // Where the policy was attached while its version was on the way, a job of that version judges.
    await runPendingJobs(app);
    for (const org of orgs) {
      const { applied_policies, compliant } = await getSnapshot(org, "prod");
      expect([applied_policies[0].version, compliant]).toEqual([2, true]);
    }
  });
});

describe("what runs is judged again by the next report", () => {
  it("whatever its verdict rests on has changed, and by nothing else (R6)", async () => {
    const org = await withRunning();
    const tagged = [
      "attestations:",
      "  - name: scan",
      "    if: ${{ flow.tags.env == 'prod' }}",
      "    type: generic",
    ];
    await createPolicy(org, "tagged", policyText(...tagged));
    await createPolicy(org, "whole", policyText("trail-compliance:", "  required: true", "  exceptions: []"));
    await attachPolicies(org, "prod", "tagged", "whole");
    await reportServer(org, "prod", ["built"]);
    const place = { org: org.name };
    const scan = { attestation_name: "scan", artifact_fingerprint: fingerprintOf("built") };
    const tag = (change: object) => org.member.patch(`/tags/${org.name}/flow/web-ci`, change);
    const template = "version: 1\ntrail:\n  attestations:\n    - name: review\n      type: generic\n";
    const override = { reason: "r", new_compliance_status: true, original_attestation_type: "generic" };
    const steps: [what: string, change: () => Promise<{ status: number }>, status: number, state: boolean][] =
      [
        ["a tag", () => tag({ set_tags: { env: "prod" } }), 201, false],
        [
          "a failure",
          () => attest(org.member, place, "generic", { ...scan, is_compliant: false }),
          201,
          false,
        ],
        ["an override", () => attest(org.member, place, "override", { ...scan, ...override }), 201, true],
        [
          "a template",
          () => putTrail(org.member, `${org.name}/web-ci`, { name: "run" }, template),
          201,
          false,
        ],
        [
          "a report on the trail",
          () => attest(org.member, place, "generic", { attestation_name: "review", is_compliant: true }),
          201,
          true,
        ],
        ["a tag that goes", () => tag({ remove_tags: ["env"] }), 201, true],
        ["a tag nobody asks for", () => tag({ set_tags: { team: "shop" } }), 200, true],
        [
          "another name",
          () => org.member.put(`/flows/${org.name}/web-ci/rename`, { new_name: "web" }),
          200,
          true,
        ],
      ];
    for (const [what, change, status, state] of steps) {
      expect([what, (await change()).status < 300]).toEqual([what, true]);
      expect([what, (await reportServer(org, "prod", ["built"])).status]).toEqual([what, status]);
      expect([what, await stateOf(org)]).toEqual([what, state]);
      expect((await reportServer(org, "prod", ["built"])).status).toBe(200);
    }
  });
});
