import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import { appliedPolicies } from "../../src/modules/runtime/rules/policies/applied-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function withPolicies(...names: string[]): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod");
  for (const name of names) await createPolicy(org, name);
  return org;
}

async function shown(org: TestOrg, name = "prod"): Promise<string[]> {
  const { json } = await org.reader.get(`/environments/${org.name}/${name}`);
  const { json: list } = await org.reader.get(`/environments/${org.name}?name=${name}`);
  expect(list.find((row: { name: string }) => row.name === json.name)).toEqual(json);
  return json.policies;
}

function change(org: TestOrg, method: "POST" | "DELETE", policy_names: unknown, environment = "prod") {
  return org.member.request(method, `/environments/${org.name}/${environment}/policies`, {
    json: { policy_names },
  });
}

async function idOf(org: TestOrg, name: string): Promise<string> {
  const { rows } = await app.deps.db.pool.query<{ id: string }>(
    "select id from environments where org_id = $1 and name = $2",
    [org.id, name],
  );
  return rows[0]!.id;
}

describe("POST and DELETE /environments/{org}/{env_name}/policies", () => {
  it("attach and detach, shown in order of name", async () => {
    const org = await withPolicies("b", "a", "C");
    const before = (await org.reader.get(`/environments/${org.name}/prod`)).json;
    app.clock.advance(5);
    await attachPolicies(org, "prod", "b");
    await attachPolicies(org, "prod", "a", "C", "a");
    expect(await shown(org)).toEqual(["C", "a", "b"]);
    const after = (await org.reader.get(`/environments/${org.name}/prod`)).json;
    expect(after.last_modified_at).toBeGreaterThan(before.last_modified_at);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    const gone = await change(org, "DELETE", ["a", "C"]);
    expect([gone.status, gone.text]).toEqual([200, '"OK"']);
    expect(await shown(org)).toEqual(["b"]);
    expect((await auditedResources(org, app)).slice(-3)).toEqual([
      "attach_policy_to_env environment prod",
      "attach_policy_to_env environment prod",
      "detach_policy_from_env environment prod",
    ]);
  });

  it("change and record nothing when repeated", async () => {
    const org = await withPolicies("p", "q");
    await attachPolicies(org, "prod", "p");
    const before = (await org.reader.get(`/environments/${org.name}/prod`)).json;
    app.clock.advance(5);
    await attachPolicies(org, "prod", "p");
    await attachPolicies(org, "prod");
    expect((await change(org, "DELETE", ["q"])).status).toBe(200);
    expect((await org.reader.get(`/environments/${org.name}/prod`)).json).toEqual(before);
    expect((await auditedResources(org, app)).filter((row) => row.includes("tach"))).toHaveLength(1);
  });

  it("work on logical environments and by former names", async () => {
    const org = await withPolicies("p");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    await attachPolicies(org, "all", "p");
    expect(await shown(org, "all")).toEqual(["p"]);
    expect(await shown(org)).toEqual([]);
    await org.member.put(`/environments/${org.name}/prod/rename`, { new_name: "live" });
    await attachPolicies(org, "prod", "p");
    expect(await shown(org, "live")).toEqual(["p"]);
  });

  it.each(["POST", "DELETE"] as const)(
    "%s answers 404 for unknown names, and changes nothing",
    async (method) => {
      const org = await withPolicies("p");
      const policy = await change(org, method, ["p", "nope"]);
      expect([policy.status, policy.json]).toEqual([
        404,
        { message: `Policy 'nope' does not exist in organization '${org.name}'` },
      ]);
      const environment = await change(org, method, ["p"], "x");
      expect([environment.status, environment.json]).toEqual([
        404,
        { message: `Environment named 'x' does not exist for organization '${org.name}'` },
      ]);
      expect(await shown(org)).toEqual([]);
      await org.admin.put(`/environments/${org.name}/prod/archive`);
      const archived = await change(org, method, ["p"]);
      expect([archived.status, archived.json.message]).toEqual([
        404,
        expect.stringContaining("has been archived"),
      ]);
    },
  );

  it("are for members, in their own words", async () => {
    const org = await withPolicies("p");
    const path = `/environments/${org.name}/prod/policies`;
    const attach = await org.snapshotter.post(path, { policy_names: ["p"] });
    expect([attach.status, attach.json.message]).toEqual([
      403,
      "User does not have permission to attach policy",
    ]);
    const detach = await org.snapshotter.delete(path, { policy_names: ["p"] });
    expect([detach.status, detach.json.message]).toEqual([
      403,
      "User does not have permission to detach policy",
    ]);
  });

  it.each([
    [{}, "policy_names", "Field required [input: None]"],
    [{ policy_names: "p" }, "policy_names", "Input should be a valid list [input: p]"],
    [{ policy_names: [1] }, "policy_names[0]", "Input should be a valid string [input: 1]"],
    [{ policy_names: [], more: 1 }, "more", "Extra inputs are not permitted [input: 1]"],
  ])("refuse %j", async (json, place, text) => {
    const org = await withPolicies();
    const answer = await org.member.request("DELETE", `/environments/${org.name}/prod/policies`, { json });
    expect([answer.status, answer.json.errors]).toEqual([400, { [place]: text }]);
  });

  it("lose nothing when many do it at once", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const org = await withPolicies(...names);
    const answers = await Promise.all([
      ...names.map((name) => change(org, "POST", [name])),
      ...names.map((name) => putPolicy(org.member, org.name, { name }, policyText("attestations: []"))),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await shown(org)).toEqual(names);
  });
});

describe("policies of PUT and PATCH of environments", () => {
  it("are exactly those given, null and absence leave them", async () => {
    const org = await withPolicies("a", "b", "c");
    const path = `/environments/${org.name}`;
    await org.member.put(path, { name: "prod", type: "K8S", description: "", policies: ["a", "b"] });
    expect(await shown(org)).toEqual(["a", "b"]);
    await org.member.patch(`${path}/prod`, { policies: ["c", "b"] });
    expect(await shown(org)).toEqual(["b", "c"]);
    await org.member.patch(`${path}/prod`, { policies: null, description: "x" });
    await org.snapshotter.put(path, { name: "prod", type: "K8S", description: "", policies: null });
    await org.snapshotter.put(path, { name: "prod", type: "K8S", description: "", policies: ["c", "b"] });
    expect(await shown(org)).toEqual(["b", "c"]);
    await org.member.patch(`${path}/prod`, { policies: [] });
    expect(await shown(org)).toEqual([]);
  });

  it("are not for those who may only report", async () => {
    const org = await withPolicies("p");
    await attachPolicies(org, "prod", "p");
    const path = `/environments/${org.name}`;
    for (const [name, policies] of [
      ["prod", []],
      ["new", ["p"]],
    ] as const) {
      const answer = await org.snapshotter.put(path, { name, type: "K8S", description: "", policies });
      expect([answer.status, answer.json.message]).toEqual([
        403,
        "User does not have permission to attach policy",
      ]);
    }
    expect(await shown(org)).toEqual(["p"]);
    expect((await org.reader.get(`${path}/new`)).status).toBe(404);
  });
});

describe("appliedPolicies", () => {
  it("tells the latest version of what is attached, in the order of attachment", async () => {
    const org = await withPolicies("b", "a");
    await createEnvironment(org, "bare");
    await attachPolicies(org, "prod", "b");
    await attachPolicies(org, "prod", "a");
    const ids = [await idOf(org, "prod"), await idOf(org, "bare")];
    const read = () => transaction(app.deps.db, (tx) => appliedPolicies(tx, org.id, ids));
    const first = await read();
    expect(first.get(ids[1]!)).toEqual([]);
    expect(first.get(ids[0]!)?.map(({ name, version }) => [name, version])).toEqual([
      ["b", 1],
      ["a", 1],
    ]);
    const again = await read();
    expect(again.get(ids[0]!)?.[0]?.policy).toBe(first.get(ids[0]!)?.[0]?.policy);
    await putPolicy(org.member, org.name, { name: "b" }, policyText("attestations: [{type: junit}]"));
    const [b, a] = (await read()).get(ids[0]!)!;
    expect([b?.version, b?.policy.artifacts.attestations.length, a?.version]).toEqual([2, 1, 1]);
    expect(b?.id).toMatch(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/);
    expect(b?.id).not.toBe(first.get(ids[0]!)?.[0]?.id);
  });
});

describe("a new version", () => {
  async function queued(org: TestOrg): Promise<number> {
    const { rows } = await app.deps.db.pool.query<{ count: number }>(
      `select count(*)::int as count from graphile_worker._private_jobs where payload ->> 'org_id' = $1`,
      [org.id],
    );
    return rows[0]!.count;
  }

  it("has a job for each of many environments, queued with it, recorded where something is judged", async () => {
    const org = await withPolicies("p");
    const names = [1, 2, 3, 4, 5, 6, 7].map((n) => `e${n}`);
    for (const name of names) {
      await createEnvironment(org, name, { type: "server" });
      await attachPolicies(org, name, "p");
    }
    for (const name of names.slice(0, 4)) expect((await reportServer(org, name, ["web"])).status).toBe(201);
    await org.admin.put(`/environments/${org.name}/e7/archive`);
    await putPolicy(org.member, org.name, { name: "p" }, policyText("attestations: []"));
    expect(await queued(org)).toBe(6);
    await putPolicy(org.member, org.name, { name: "p" }, policyText("attestations: [{type: junit}]"));
    expect(await queued(org)).toBe(6);
    await runPendingJobs(app);
    expect(await queued(org)).toBe(0);
    const judged = (await auditedResources(org, app)).filter((row) => row.startsWith("reevaluate"));
    expect(judged.toSorted()).toEqual(
      names.slice(0, 4).map((name) => `reevaluate_environment environment ${name}`),
    );
  });

  it("is judged in the same transaction for few, recorded for those that were ever reported on", async () => {
    const org = await withPolicies("p");
    await createEnvironment(org, "live", { type: "server" });
    await createEnvironment(org, "both", { type: "logical", included_environments: ["live"] });
    await createEnvironment(org, "none", { type: "logical", included_environments: ["prod"] });
    expect((await reportServer(org, "live", ["web"])).status).toBe(201);
    for (const name of ["prod", "live", "both", "none"]) await attachPolicies(org, name, "p");
    const before = (await auditedResources(org, app)).length;
    await putPolicy(org.member, org.name, { name: "p" }, policyText("attestations: []"));
    expect(await queued(org)).toBe(0);
    const recorded = (await auditedResources(org, app)).slice(before);
    expect(recorded.toSorted()).toEqual([
      "put_policy environment both",
      "put_policy environment live",
      "put_policy policy p",
    ]);
  });
});
