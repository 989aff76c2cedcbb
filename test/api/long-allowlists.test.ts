import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { allowListed } from "../../src/modules/runtime/rules/allowlists/service.ts";
import { transaction } from "../../src/db/transaction.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";
import { statementsOf } from "../support/statements.ts";
import { leastLongestTurn } from "../support/turns.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const policy = policyText("provenance: {required: true}");

async function environmentId(org: TestOrg): Promise<string> {
  const { rows } = await app.deps.db.pool.query<{ id: string }>(
    "select id from environments where org_id = $1 and name = 'prod'",
    [org.id],
  );
  return rows[0]!.id;
}

/** What the latest snapshot of `prod` was judged by. */
async function judgedBy(org: TestOrg): Promise<string> {
  const { rows } = await app.deps.db.pool.query<{ judged_by: string }>(
    "select judged_by from environment_reports where org_id = $1 and environment_id = $2",
    [org.id, await environmentId(org)],
  );
  return rows[0]!.judged_by;
}

/** Environment `prod` under a policy that asks for provenance, with `web`, `db` and so many that do not run on its list. */
async function withList(entries: number): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  await createPolicy(org, "known", policy);
  await attachPolicies(org, "prod", "known");
  const others = Array.from({ length: entries }, (_, at) => fingerprintOf(`other ${at}`));
  const prints = ["web", "db"].map(fingerprintOf).concat(others);
  await app.deps.db.pool.query(
    `insert into allowlist_entries (org_id, id, environment_id, fingerprint, artifact_name, description, created_at, created_by_name)
     select $1, gen_random_uuid(), $2, fingerprint, 'some', '', now(), 'somebody' from unnest($3::text[]) fingerprint`,
    [org.id, await environmentId(org), prints],
  );
  return org;
}

/** `name: compliant allow_listed` of what runs, by the latest snapshot, in order. */
async function verdicts(org: TestOrg): Promise<string[]> {
  const { artifacts } = await getSnapshot(org, "prod");
  return artifacts
    .filter(({ annotation }: Answer["json"]) => annotation.now > 0)
    .map(({ name, compliant, allow_listed }: Answer["json"]) => `${name}: ${compliant} ${allow_listed}`)
    .toSorted();
}

describe("a long allow-list", () => {
  it("keeps nobody waiting, in reports, in what is judged again, and in what a policy is tried on", async () => {
    const org = await withList(50_000);
    const path = `/allowlists/${org.name}/prod`;
    let times = 0;
    const longest = await leastLongestTurn(50, async () => {
      times += 1;
      const running = ["web", "api", `job-${times}`];
      expect((await reportServer(org, "prod", running)).status).toBe(201);
      const entry = {
        artifact_name: "job",
        artifact_fingerprint: fingerprintOf(`job-${times}`),
        description: "",
      };
      expect((await org.member.put(path, entry)).status).toBe(201);
      const { status, json } = await org.reader.request("POST", `/policies/${org.name}/preview`, {
        parts: {
          data_json: JSON.stringify({ environments: ["prod"] }),
          policy_file: { filename: "policy.yaml", content: policy },
        },
      });
      expect([status, json.environments[0].snapshots.at(-1).non_compliant_count]).toEqual([200, 1]);
    });
    expect(await verdicts(org)).toEqual([
      "api: false undefined",
      `job-${times}: true true`,
      "web: true true",
    ]);
    expect((await judgedBy(org)).length).toBeLessThan(500);
    expect(longest).toBeLessThan(50);
  }, 60_000);

  it("is what verdicts rest on for what runs only", async () => {
    const org = await withList(10);
    expect((await reportServer(org, "prod", ["web", "db"])).status).toBe(201);
    const before = await judgedBy(org);
    // What does not run is of no account, and what runs is.
    await org.member.delete(`/allowlists/${org.name}/prod/${fingerprintOf("other 7")}`);
    expect(await judgedBy(org)).toBe(before);
    expect((await org.member.delete(`/allowlists/${org.name}/prod/${fingerprintOf("db")}`)).status).toBe(200);
    expect(await verdicts(org)).toEqual(["db: false undefined", "web: true true"]);
    expect(await judgedBy(org)).not.toBe(before);
  }, 60_000);

  it("was written whole into what snapshots were judged by: they are judged again once", async () => {
    const org = await withList(10);
    expect((await reportServer(org, "prod", ["db", "web"])).status).toBe(201);
    const [format, versions] = JSON.parse(await judgedBy(org)) as unknown[];
    const former = JSON.stringify([format, versions, ["web", "db"].map(fingerprintOf).toSorted()]);
    await app.deps.db.pool.query(
      "update environment_reports set judged_by = $3 where org_id = $1 and environment_id = $2",
      [org.id, await environmentId(org), former],
    );
    /** How many versions are read to be compared with what is judged anew. */
    const readFor = async (running: string[]): Promise<boolean> =>
      (
        await statementsOf(app, async () => {
          expect((await reportServer(org, "prod", running)).status).toBe(201);
        })
      ).some((text) => text.includes("/* some-versions */"));
    expect(await readFor(["db", "web", "api"])).toBe(true);
    expect(await verdicts(org)).toEqual(["api: false undefined", "db: true true", "web: true true"]);
    expect(await judgedBy(org)).not.toBe(former);
    expect(await readFor(["db", "web", "api", "job"])).toBe(false);
  }, 60_000);

  it("is looked into for thousands of artifacts in several environments", async () => {
    const org = await withList(12_000);
    const [prod, none] = [await environmentId(org), randomUUID()];
    const others = Array.from({ length: 12_000 }, (_, at) => fingerprintOf(`other ${at}`));
    const missing = Array.from({ length: 12_000 }, (_, at) => fingerprintOf(`missing ${at}`));
    const wanted = new Map([
      [none, others],
      [prod, [...others, "", ...missing, ...others]],
    ]);
    const allowed = await transaction(app.deps.db, (tx) => allowListed(tx, org.id, wanted));
    expect([...allowed.keys()]).toEqual([none, prod]);
    expect(allowed.get(none)!.size).toBe(0);
    expect([...allowed.get(prod)!].toSorted()).toEqual(others.toSorted());
  }, 60_000);
});
