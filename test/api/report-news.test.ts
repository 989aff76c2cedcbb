import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { appendRecord, recorded } from "../../src/modules/kernel/audit/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Who has the audit log say something. */
const actor = {
  kind: "system",
  id: null,
  name: "test",
  api_key_id: null,
  action: "test",
  request_id: "test",
  request_digest: null,
} as const;

const template = "version: 1\ntrail:\n  attestations: [{name: unit, type: '*'}]\n";

async function reportArtifact(org: TestOrg, name: string, place: { flow: string; trail: string }) {
  const body = artifactBody({ fingerprint: fingerprintOf(name), trail_name: place.trail });
  const named = { ...body, template_reference_name: name };
  expect((await org.member.post(`/artifacts/${org.name}/${place.flow}`, named)).status).toBe(201);
}

async function attestTrail(org: TestOrg, trail: string): Promise<void> {
  const place = { org: org.name, flow: "ci", trail };
  const body = { attestation_name: "unit", is_compliant: true };
  expect((await attest(org.member, place, "generic", body)).status).toBe(201);
}

/** `web` runs in `prod`, built on the trail `run` of `ci`; on the trail `other` something else was built. */
async function withRunning(): Promise<TestOrg> {
  const org = await app.org();
  for (const name of ["ci", "cd"]) await putFlow(org.member, org.name, { name }, template);
  await reportArtifact(org, "web", { flow: "ci", trail: "run" });
  await reportArtifact(org, "lib", { flow: "ci", trail: "other" });
  await createEnvironment(org, "prod", { type: "server" });
  await createEnvironment(org, "test", { type: "server" });
  expect((await reportServer(org, "prod", ["web", "bought"])).status).toBe(201);
  return org;
}

/** Reports the same again. @returns whether what runs had to be looked at. */
async function looks(org: TestOrg): Promise<boolean> {
  const statements = await statementsOf(app, () => reportServer(org, "prod", ["web", "bought"]));
  expect(statements.some((text) => text.includes("reported-record"))).toBe(true);
  return statements.some((text) => text.includes("version-summaries"));
}

/** What flows learn of what runs. */
const news: Record<string, (org: TestOrg) => Promise<unknown>> = {
  "a report of it": (org) => reportArtifact(org, "web", { flow: "ci", trail: "new" }),
  "a report of it elsewhere": (org) => reportArtifact(org, "web", { flow: "cd", trail: "run" }),
  "the first report of it": (org) => reportArtifact(org, "bought", { flow: "cd", trail: "run" }),
  "another artifact on its trail": (org) => reportArtifact(org, "more", { flow: "ci", trail: "run" }),
  "an attestation on its trail": (org) => attestTrail(org, "run"),
  "an override on its trail": (org) =>
    attest(org.member, { org: org.name, flow: "ci", trail: "run" }, "override", {
      attestation_name: "unit",
      reason: "agreed",
      new_compliance_status: true,
      original_attestation_type: "generic",
    }),
  "another template of its trail": (org) =>
    putTrail(org.member, `${org.name}/ci`, { name: "run" }, "version: 1\n"),
  "a tag of its flow": (org) =>
    org.member.patch(`/tags/${org.name}/flow/ci`, { set_tags: { team: "payments" } }),
  "another name of its flow": (org) =>
    org.member.put(`/flows/${org.name}/ci/rename`, { new_name: "renamed" }),
  "a report on its trail by the flow's former name": async (org) => {
    await org.member.put(`/flows/${org.name}/ci/rename`, { new_name: "renamed" });
    await putTrail(org.member, `${org.name}/ci`, { name: "run" }, "version: 1\n");
  },
  "an archived flow": (org) => org.member.put(`/flows/${org.name}/ci/archive`),
  "more than is worth following": async (org) => {
    await recorded(app.deps, { org, actor }, async (_tx, record) => {
      for (let entry = 0; entry < 101; entry += 1) record("environment", "test");
    });
  },
};

describe("an unchanged report", () => {
  it.each(Object.entries(news))("looks at what runs after %s, once", async (_, happen) => {
    const org = await withRunning();
    expect(await looks(org)).toBe(false);
    await happen(org);
    expect(await looks(org)).toBe(true);
    expect(await looks(org)).toBe(false);
  });

  it("does not when nothing was said of what runs", async () => {
    const org = await withRunning();
    await attestTrail(org, "other");
    await reportArtifact(org, "lib", { flow: "cd", trail: "run" });
    await putTrail(org.member, `${org.name}/ci`, { name: "other", description: "d" });
    await putTrail(org.member, `${org.name}/ci`, { name: "with/slash" });
    await reportServer(org, "test", ["lib"]);
    await createPolicy(org, "p", policyText("provenance: {required: true}"));
    await attachPolicies(org, "test", "p");
    expect(await looks(org)).toBe(false);
  });

  it("does when what was said is not what it looks like", async () => {
    const org = await withRunning();
    for (const [type, resource] of [
      ["artifact", "5000 artifacts"],
      ["attestation", "many"],
      ["attestation", "0199c6ff-1415-7cd1-88d0-a0dfcbcb"],
      ["trail", "nowhere/run"],
      ["unheard_of", "x"],
    ] as const) {
      await recorded(app.deps, { org, actor }, (_tx, record) => Promise.resolve(record(type, resource)));
      expect(await looks(org), `${type} ${resource}`).toBe(true);
    }
  });

  it("takes into account what was not committed yet when the last one came", async () => {
    const org = await withRunning();
    let commit = (): void => {};
    const held = new Promise<void>((resolve) => (commit = resolve));
    let wrote = (): void => {};
    const written = new Promise<void>((resolve) => (wrote = resolve));
    const late = transaction(app.deps.db, async (tx) => {
      const { rows } = await app.deps.db.pool.query<{ id: string }>(
        "select id from flows where org_id = $1 and name = 'ci'",
        [org.id],
      );
      await tx.run(sql`update flows set name = 'late' where org_id = ${org.id} and id = ${rows[0]!.id}`);
      wrote();
      await held;
      appendRecord(app.deps, tx, { org, actor }, { resource_type: "flow", resource: "ci" });
    });
    await written;
    expect(await looks(org)).toBe(false);
    commit();
    await late;
    expect(await looks(org)).toBe(true);
  });
});

describe("a report that came before, byte for byte", () => {
  it("is answered as it was, wherever it goes", async () => {
    const org = await app.org();
    await createEnvironment(org, "a", { type: "server" });
    await createEnvironment(org, "b", { type: "server" });
    await createEnvironment(org, "c", { type: "lambda" });
    expect((await reportServer(org, "a", ["web"])).status).toBe(201);
    expect((await reportServer(org, "b", ["web"])).status).toBe(201);
    expect((await reportServer(org, "a", ["web"])).status).toBe(200);
    expect((await reportServer(org, "c", ["web"])).json).toEqual({
      message: "Environment 'c' is of type 'lambda' and cannot take a report of type 'server'",
    });
    expect((await reportServer(org, "d", ["web"])).status).toBe(404);
    expect((await reportServer(org, "a", ["db"])).status).toBe(201);
    expect((await reportServer(org, "a", ["web"])).status).toBe(201);
  });

  it("is refused as it was", async () => {
    const org = await app.org();
    await createEnvironment(org, "a", { type: "server" });
    const path = `/environments/${org.name}/a/report/server`;
    const bodies = [
      { artifacts: [{ digests: { web: "x" }, creationTimestamp: 1 }] },
      { artifacts: [], more: 1 },
      { type: "lambda", artifacts: [] },
    ];
    for (const body of bodies) {
      const answers = [await org.snapshotter.put(path, body), await org.snapshotter.put(path, body)];
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
      expect(answers[1]!.json).toEqual(answers[0]!.json);
    }
    const empty = [await org.snapshotter.put(path), await org.snapshotter.put(path)];
    expect(empty.map(({ status }) => status)).toEqual([400, 400]);
    const elsewhere = `/environments/${org.name}/a/report/ECS`;
    const valid = { artifacts: [{ digests: { web: fingerprintOf("web") }, creationTimestamp: 1 }] };
    expect((await org.snapshotter.put(path, valid)).status).toBe(201);
    expect((await org.snapshotter.put(elsewhere, valid)).json.errors).toMatchObject({
      "artifacts[0].taskArn": expect.any(String),
    });
  });
});
