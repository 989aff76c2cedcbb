import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import { queueReevaluation } from "../../src/modules/runtime/snapshots/report/judging-jobs.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** A policy with this many rules, by aliases. */
function rules(count: number): string {
  return policyText(`attestations: [&r {name: a, type: generic}${",*r".repeat(count - 1)}]`);
}

const tooMuch = /rules times 2001 artifacts times flows are 1000500, more than the 1000000/;
const many = Array.from({ length: 2001 }, (_, at) => `artifact-${at}`);

/** `prod` with 2,001 artifacts, and policies with one rule and with as many as there may be. */
async function withMany(): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  expect((await reportServer(org, "prod", many)).status).toBe(201);
  await createPolicy(org, "short", rules(1));
  await createPolicy(org, "long", rules(500));
  return org;
}

/** What would show that anything was stored. */
async function stored(org: TestOrg, environment = "prod"): Promise<unknown> {
  const { json } = await org.reader.get(`/environments/${org.name}/${environment}`);
  const policies = await org.reader.get(`/policies/${org.name}`);
  const audit = await app.deps.db.pool.query("select count(*)::int from audit_log where org_id = $1", [
    org.id,
  ]);
  const jobs = await app.deps.db.pool.query("select count(*)::int from graphile_worker.jobs");
  return [json, policies.json, audit.rows, jobs.rows];
}

/** Refused because of its size, with nothing stored. */
async function expectRefused(org: TestOrg, act: () => Promise<Answer>, environment = "prod"): Promise<void> {
  const before = await stored(org, environment);
  const answer = await act();
  expect([answer.status, answer.json.message]).toEqual([400, expect.stringMatching(tooMuch)]);
  expect(answer.json.message).toContain(`Environment '${environment}' cannot be judged: 500 rules`);
  expect(await stored(org, environment)).toEqual(before);
}

describe("a policy with more rules than anybody means", () => {
  const errors = {
    "policy_file.artifacts.attestations[500]":
      "A policy may have at most 500 rules and exceptions together [input: None]",
  };

  it("is refused with its place, wherever policies are read", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const attack = rules(3900);
    expect(attack.length).toBeLessThan(12 * 1024);
    const put = await putPolicy(org.member, org.name, { name: "p" }, attack);
    expect([put.status, put.json.errors]).toEqual([400, errors]);
    expect((await org.reader.get(`/policies/${org.name}`)).json).toEqual([]);
    const preview = await org.member.request("POST", `/policies/${org.name}/preview`, {
      parts: { data_json: "{}", policy_file: { filename: "p.yaml", content: attack } },
    });
    expect([preview.status, preview.json.errors]).toEqual([400, errors]);
  });
});

describe("more than can be judged at once is refused before anything is stored", () => {
  it("when a policy is attached, in whatever way", async () => {
    const org = await withMany();
    const path = `/environments/${org.name}`;
    await expectRefused(org, () => org.member.post(`${path}/prod/policies`, { policy_names: ["long"] }));
    await expectRefused(org, () => org.member.patch(`${path}/prod`, { policies: ["long"] }));
    await expectRefused(org, () =>
      org.member.put(path, { name: "prod", type: "server", description: "", policies: ["long"] }),
    );
    await attachPolicies(org, "prod", "short");
    expect((await getSnapshot(org, "prod")).index).toBe(2);
  });

  it("when a policy gets a longer version, also where jobs would judge by it", async () => {
    const org = await withMany();
    await attachPolicies(org, "prod", "short");
    const lengthen = () => putPolicy(org.member, org.name, { name: "short" }, rules(500));
    await expectRefused(org, lengthen);
    for (const name of ["a", "b", "c", "d", "e", "f"]) {
      await createEnvironment(org, name, { type: "server" });
      await attachPolicies(org, name, "short");
    }
    await expectRefused(org, lengthen);
    expect((await org.reader.get(`/policies/${org.name}/short`)).json.versions).toHaveLength(1);
  });

  it("when a report meets the policies", async () => {
    const org = await withMany();
    await createEnvironment(org, "next", { type: "server" });
    await attachPolicies(org, "next", "long");
    await expectRefused(org, () => reportServer(org, "next", many), "next");
    expect((await reportServer(org, "next", many.slice(0, 20))).status).toBe(201);
  });

  it("when a logical environment gets policies or members, or a member gets more", async () => {
    const org = await withMany();
    const path = `/environments/${org.name}`;
    await createEnvironment(org, "all", { type: "logical" });
    await attachPolicies(org, "all", "long");
    await expectRefused(
      org,
      () => org.member.patch(`${path}/all`, { included_environments: ["prod"] }),
      "all",
    );
    await expectRefused(org, () => org.member.put(`${path}/all/join`, { physical_env_name: "prod" }), "all");
    await org.member.patch(`${path}/all`, { policies: [], included_environments: ["prod"] });
    await expectRefused(org, () => org.member.patch(`${path}/all`, { policies: ["long"] }), "all");
    await createEnvironment(org, "small", { type: "server" });
    expect((await reportServer(org, "small", many.slice(0, 5))).status).toBe(201);
    await createEnvironment(org, "some", { type: "logical", included_environments: ["small"] });
    await attachPolicies(org, "some", "long");
    await expectRefused(org, () => reportServer(org, "small", many), "some");
  });
});

/** Attaches a policy as was possible before there was a limit. */
async function attachUnbounded(org: TestOrg, environment: string, policy: string): Promise<void> {
  const { rowCount } = await app.deps.db.pool.query(
    `insert into environment_policies (org_id, environment_id, id, policy_id)
    select e.org_id, e.id, $4, p.id from environments e, policies p
    where e.org_id = $1 and e.name = $2 and p.org_id = $1 and p.name = $3`,
    [org.id, environment, policy, app.deps.ids.next()],
  );
  expect(rowCount).toBe(1);
}

describe("where more was stored than can be judged now", () => {
  it("an allow-list stays as it is, and jobs end with a line in the log", async () => {
    const org = await withMany();
    const entry = { artifact_name: "a", artifact_fingerprint: "ab".repeat(32), description: "" };
    expect((await org.member.put(`/allowlists/${org.name}/prod`, entry)).status).toBe(201);
    await attachUnbounded(org, "prod", "long");
    const other = { ...entry, artifact_fingerprint: "cd".repeat(32) };
    await expectRefused(org, () => org.member.put(`/allowlists/${org.name}/prod`, other));
    await expectRefused(org, () =>
      org.member.delete(`/allowlists/${org.name}/prod/${entry.artifact_fingerprint}`),
    );
    expect((await org.reader.get(`/allowlists/${org.name}`)).json).toHaveLength(1);
    const { rows } = await app.deps.db.pool.query<{ id: string }>(
      "select id from environments where org_id = $1 and name = 'prod'",
      [org.id],
    );
    const { index } = await getSnapshot(org, "prod");
    await transaction(app.deps.db, (tx) => queueReevaluation(tx, org, [rows[0]!.id]));
    await runPendingJobs(app);
    expect((await getSnapshot(org, "prod")).index).toBe(index);
    const { rows: jobs } = await app.deps.db.pool.query(
      "select from graphile_worker.jobs where task_identifier = 'reevaluate_environment'",
    );
    expect(jobs).toEqual([]);
    expect(app.logged()).toContain("environment was not judged again");
  });

  it("policies can be detached, members removed and archived, and what is left is judged", async () => {
    const org = await withMany();
    const path = `/environments/${org.name}`;
    await createEnvironment(org, "small", { type: "server" });
    expect((await reportServer(org, "small", many.slice(0, 5))).status).toBe(201);
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod", "small"] });
    for (const name of ["prod", "all"]) await attachUnbounded(org, name, "long");
    await attachUnbounded(org, "prod", "short");
    const { index } = await getSnapshot(org, "prod");
    // Still too much, but less than before.
    await detach(org, "prod", "short");
    expect((await getSnapshot(org, "prod")).index).toBe(index);
    await detach(org, "prod", "long");
    expect(await getSnapshot(org, "prod")).toMatchObject({ index: index + 1, applied_policies: [] });
    const archived = await org.admin.put(`${path}/small/archive`);
    expect([archived.status, archived.json]).toEqual([200, "OK"]);
    expect((await org.member.patch(`${path}/all`, { included_environments: [] })).status).toBe(200);
    expect(await getSnapshot(org, "all")).toMatchObject({ artifacts: expect.any(Array), compliant: true });
  });

  it("a policy of too many rules judges nobody, and can be read, detached and replaced", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await createPolicy(org, "old", rules(2));
    await attachPolicies(org, "prod", "old");
    const running = ["a", "b"];
    expect((await reportServer(org, "prod", running)).status).toBe(201);
    await app.deps.db.pool.query(
      `with v as (
        insert into policy_versions (org_id, policy_id, id, version, comment, text, created_at, created_by_name)
        select org_id, policy_id, $2, 2, '', $3, created_at, created_by_name from policy_versions where org_id = $1)
      update policies set version = 2 where org_id = $1`,
      [org.id, app.deps.ids.next(), rules(3900)],
    );
    const report = await reportServer(org, "prod", [...running, "c"]);
    expect([report.status, report.json.message]).toEqual([
      400,
      "Environment 'prod' cannot be judged: policy 'old' has 3900 rules, more than 500: detach it, or give it a shorter version",
    ]);
    expect((await org.reader.get(`/policies/${org.name}/old`)).json.versions).toHaveLength(2);
    expect((await getSnapshot(org, "prod")).index).toBe(1);
    expect((await putPolicy(org.member, org.name, { name: "old" }, rules(3))).status).toBe(200);
    expect((await getSnapshot(org, "prod")).applied_policies).toMatchObject([{ version: 3 }]);
    await detach(org, "prod", "old");
  });
});

async function detach(org: TestOrg, environment: string, policy: string): Promise<void> {
  const path = `/environments/${org.name}/${environment}/policies`;
  expect((await org.member.delete(path, { policy_names: [policy] })).status).toBe(200);
}
