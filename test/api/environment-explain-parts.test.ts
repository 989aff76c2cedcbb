import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
let org: TestOrg;

const known = ["a1", "a2"];
/** More than are read at a time. */
const unknown = Array.from({ length: 70 }, (_, index) => `b${String(index).padStart(2, "0")}`);

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  await putFlow(org.member, org.name, { name: "web-ci" });
  await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
  for (const name of known) {
    const body = artifactBody({ fingerprint: fingerprintOf(name), trail_name: "run", filename: name });
    await org.member.post(`/artifacts/${org.name}/web-ci`, body);
  }
  await createEnvironment(org, "prod", { type: "server" });
  await createPolicy(org, "origin", policyText("provenance:", "  required: true"));
  await createPolicy(
    org,
    "checks",
    policyText("attestations:", "  - {name: scan, type: snyk, if: \"artifact.name == 'b00'\"}"),
  );
  await attachPolicies(org, "prod", "origin", "checks");
  await reportServer(org, "prod", [...known, ...unknown]);
});
afterAll(() => app.close());

type Json = Answer["json"];

async function explain(query = ""): Promise<Json> {
  const answer = await org.reader.get(`/environments/${org.name}/prod/explain${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

function names({ artifacts }: Json): string[] {
  return artifacts.map(({ artifact_name }: Json) => artifact_name);
}

const fingerprint = (...wanted: string[]): string =>
  wanted.map((name) => `fingerprint=${fingerprintOf(name)}`).join("&");

describe("an explanation of some artifacts", () => {
  it("is whole, in its former shape, when nothing is chosen", async () => {
    const whole = await explain();
    expect(names(whole)).toEqual([...known, ...unknown]);
    expect(Object.keys(whole)).toEqual([
      "environment_name",
      "environment_type",
      "snapshot_index",
      "is_latest",
      "status",
      "is_compliant",
      "summary",
      "evaluated_at",
      "policies",
      "members",
      "artifacts",
      "html_url",
    ]);
    expect(Object.keys(whole.artifacts[0].requirements[0])).toEqual([
      "policy_name",
      "policy_version",
      "rule_index",
      "rule",
      "flow_name",
      "trail_name",
      "artifact_status",
      "outcome",
      "reason",
      "attestation",
      "reported_since",
      "html_url",
    ]);
  });

  it("has those of the fingerprints asked for, with the verdict of all", async () => {
    const { artifacts, ...head } = await explain();
    const some = await explain(`?${fingerprint("b07", "a2", "nowhere")}`);
    expect(names(some)).toEqual(["a2", "b07"]);
    expect(some).toEqual({ ...head, artifacts: [artifacts[1], artifacts[9]] });
    expect(names(await explain(`?${fingerprint("nowhere")}`))).toEqual([]);
    expect(names(await explain("?fingerprint="))).toEqual([]);
  });

  it("has those that do not comply", async () => {
    expect(names(await explain("?only=failing"))).toEqual(unknown);
    expect(names(await explain(`?only=failing&${fingerprint("a1", "b01")}`))).toEqual(["b01"]);
    const refused = await org.reader.get(`/environments/${org.name}/prod/explain?only=met`);
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      { "query.only": "Input should be 'failing' [input: met]" },
    ]);
  });

  it("comes in pages that are the whole together", async () => {
    const { artifacts, ...head } = await explain("?only=failing");
    const paged: Json[] = [];
    for (const page of [1, 2, 3, 4]) {
      const answer = await explain(`?only=failing&page=${page}&per_page=33`);
      const { artifacts: some, pagination, ...rest } = answer;
      expect([rest, pagination]).toEqual([head, { total: 70, page, per_page: 33, page_count: 3 }]);
      paged.push(some);
    }
    expect(paged.map(({ length }) => length)).toEqual([33, 33, 4, 0]);
    expect(paged.flat()).toEqual(artifacts);
    expect((await explain("?page=2")).pagination).toEqual({
      total: 72,
      page: 2,
      per_page: 15,
      page_count: 5,
    });
    expect((await explain("?per_page=1000")).artifacts).toHaveLength(72);
    for (const wrong of ["page=0", "per_page=0", "per_page=1001", "page=x"])
      expect((await org.reader.get(`/environments/${org.name}/prod/explain?${wrong}`)).status).toBe(400);
  });
});

describe("rules said once", () => {
  it("are found by policy and index, in an explanation", async () => {
    const whole = await explain();
    const { rules, artifacts, ...rest } = await explain("?rules=once");
    expect(
      rules.map(({ policy_name, rule_index, rule }: Json) => [policy_name, rule_index, rule.type]),
    ).toEqual([
      ["origin", 0, "provenance"],
      ["origin", 1, "trail-compliance"],
      ["checks", 0, "provenance"],
      ["checks", 1, "trail-compliance"],
      ["checks", 2, "attestation"],
    ]);
    const ruleOf = ({ policy_name, policy_version, rule_index }: Json): Json =>
      rules.find(
        (one: Json) =>
          one.policy_name === policy_name &&
          one.rule_index === rule_index &&
          one.policy_version === policy_version,
      ).rule;
    for (const { requirements } of artifacts)
      for (const requirement of requirements) {
        expect(requirement.rule).toBeUndefined();
        requirement.rule = ruleOf(requirement);
      }
    expect({ ...rest, artifacts }).toEqual(whole);
    const none = await explain(`?rules=once&${fingerprint("nowhere")}`);
    expect([none.artifacts, none.rules]).toEqual([[], []]);
  });

  it("are found by policy and index, in a snapshot", async () => {
    const path = `/snapshots/${org.name}/prod/-1`;
    const whole = (await org.reader.get(path)).json;
    const { rules, ...once } = (await org.reader.get(`${path}?rules=once`)).json;
    expect(whole.artifacts).toHaveLength(72);
    for (const { policy_decisions } of once.artifacts)
      for (const { policy_name, rule_evaluations } of policy_decisions)
        for (const evaluation of rule_evaluations) {
          const { rule_index } = evaluation;
          expect(evaluation.rule).toBeUndefined();
          delete evaluation.rule_index;
          evaluation.rule = rules.find(
            (one: Json) => one.policy_name === policy_name && one.rule_index === rule_index,
          ).rule;
        }
    expect(once).toEqual(whole);
    expect((await org.reader.get(`${path}?rules=each`)).json).toEqual(whole);
    expect((await org.reader.get(`${path}?rules=never`)).status).toBe(400);
  });
});

it("lists thousands of failing artifacts of a policy whole, which are read in parts", async () => {
  await createEnvironment(org, "many", { type: "server" });
  await attachPolicies(org, "many", "origin");
  const many = Array.from({ length: 2500 }, (_, index) => `m${String(index).padStart(4, "0")}`);
  expect((await reportServer(org, "many", many)).status).toBe(201);
  const answer = await org.reader.get(`/snapshots/${org.name}/many/-1`);
  expect(answer.json.artifacts.map(({ name }: Json) => name)).toEqual(many);
  expect(answer.json.applied_policies[0].failing_artifacts).toEqual(many.map((name) => fingerprintOf(name)));
  const { rows } = await app.deps.db.pool.query<{ bytes: number }>(
    "select pg_column_size(failing_versions) as bytes from snapshots order by cardinality(artifacts) desc limit 1",
  );
  // Of each a few bytes, and more than is read with the rest.
  expect(rows[0]!.bytes).toBeGreaterThan(4096);
  expect(rows[0]!.bytes).toBeLessThan(many.length * 8);
});

it("names the failing artifacts of snapshots that have them in the policies, as they once were", async () => {
  await createEnvironment(org, "old", { type: "server" });
  await attachPolicies(org, "old", "origin");
  await reportServer(org, "old", ["o1", "o2"]);
  const path = `/snapshots/${org.name}/old`;
  const now = (await org.reader.get(`${path}/1`)).json;
  expect(now.applied_policies[0].failing_artifacts).toEqual([fingerprintOf("o1"), fingerprintOf("o2")]);
  const { pool } = app.deps.db;
  await pool.query(
    `insert into snapshots (org_id, environment_id, index, created_at, compliant, type, cause, event_count,
      artifact_compliance_count, applied_policies, artifacts)
    select s.org_id, s.environment_id, 2, s.created_at, s.compliant, s.type, s.cause, s.event_count,
      s.artifact_compliance_count, $2, s.artifacts
    from snapshots s join environments e on e.org_id = s.org_id and e.id = s.environment_id
    where s.org_id = $1 and e.name = 'old'`,
    [org.id, JSON.stringify(now.applied_policies)],
  );
  await pool.query(
    `update environment_reports r set snapshot_count = 2 from environments e
    where e.org_id = r.org_id and e.id = r.environment_id and r.org_id = $1 and e.name = 'old'`,
    [org.id],
  );
  expect((await org.reader.get(`${path}/2`)).json.applied_policies).toEqual(now.applied_policies);
  const explained = (await org.reader.get(`/environments/${org.name}/old/explain`)).json;
  expect(explained.policies).toEqual([{ name: "origin", version: 1, failing_artifacts: 2 }]);
});
