import { readFile } from "node:fs/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { buildWeb, runningWeb } from "../support/builds-of-web.ts";
import { createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";
import { countEvents, getSnapshot, reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Item {
  index: number;
  from: number;
  to: number;
}

function list(org: TestOrg, query: Record<string, string>, environment = "prod") {
  return org.reader.get(`/snapshots/${org.name}/${environment}?${new URLSearchParams(query).toString()}`);
}

async function indexes(org: TestOrg, query: Record<string, string>): Promise<number[]> {
  const answer = await list(org, query);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  const items: Item[] = answer.json;
  return items.map(({ index }) => index);
}

/** Five snapshots, an hour apart: one artifact replaces the other in each. */
async function orgWithHistory(): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  for (const name of ["a", "b", "c", "d", "e"]) {
    await reportServer(org, "prod", [name]);
    app.clock.advance(3600);
  }
  return org;
}

/** When each snapshot was made, by its number. */
async function madeAt(org: TestOrg): Promise<Record<number, number>> {
  const items: Item[] = (await list(org, {})).json;
  return Object.fromEntries(items.map(({ index, from }) => [index, from]));
}

describe("a list of snapshots without new parameters", () => {
  it("has the keys and headers it always had", async () => {
    const org = await orgWithHistory();
    const { json, headers } = await list(org, { per_page: "2", reverse: "true" });
    expect(json.map(Object.keys)).toEqual([
      ["index", "from", "to", "compliant", "duration"],
      ["index", "from", "to", "compliant", "duration"],
    ]);
    expect(Object.keys(headers).filter((name) => /^(x-(total|per|current)|link)/.test(name))).toEqual([]);
  });
});

describe("a list of the snapshots of some time", () => {
  it("has those that were in force at some moment of it, both ends included", async () => {
    const org = await orgWithHistory();
    const at = await madeAt(org);
    const window = (start?: number, end?: number) =>
      indexes(org, {
        ...(start !== undefined && { start_ts: String(start) }),
        ...(end !== undefined && { end_ts: String(end) }),
      });
    expect(await window(at[3])).toEqual([5, 4, 3]);
    expect(await window(at[3]! - 1)).toEqual([5, 4, 3, 2]);
    expect(await window(undefined, at[3])).toEqual([3, 2, 1]);
    expect(await window(undefined, at[3]! - 1)).toEqual([2, 1]);
    expect(await window(at[2]! + 10, at[2]! + 20)).toEqual([2]);
    expect(await window(at[5]! + 7200, at[5]! + 9000)).toEqual([5]);
    expect(await window(undefined, at[1]! - 1)).toEqual([]);
    expect(await window(0)).toEqual([5, 4, 3, 2, 1]);
  });

  it("tells how many there are, page by page, and goes with an interval", async () => {
    const org = await orgWithHistory();
    const at = await madeAt(org);
    const query = { start_ts: String(at[2]), per_page: "3" };
    const first = await list(org, query);
    expect(first.json.map(({ index }: Item) => index)).toEqual([5, 4, 3]);
    expect(first.headers).toMatchObject({ "x-total-count": "4", "x-total-pages": "2", "x-per-page": "3" });
    expect(String(first.headers["link"])).toContain('rel="next"');
    expect(await indexes(org, { ...query, page: "2" })).toEqual([2]);
    expect(await indexes(org, { ...query, reverse: "true" })).toEqual([2, 3, 4]);
    expect(await indexes(org, { ...query, interval: "1..3" })).toEqual([3, 2]);
    const none = await list(org, { end_ts: String(at[1]! - 1) });
    expect([none.json, none.headers["x-total-count"]]).toEqual([[], "0"]);
  });

  it("must not end before it begins", async () => {
    const org = await orgWithHistory();
    const answer = await list(org, { start_ts: "20", end_ts: "10" });
    expect([answer.status, answer.json.errors]).toEqual([
      400,
      { "query.start_ts": "Input should be less than or equal to end_ts [input: 20]" },
    ]);
    expect((await list(org, { include: "everything" })).status).toBe(400);
  });

  it("is empty for an environment that was never reported on", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const answer = await list(org, { start_ts: "0", include: "counts" });
    expect([answer.json, answer.headers["x-total-count"]]).toEqual([[], "0"]);
  });
});

/** A history with every kind of event, policies that come, change and go, and an allow-list. */
async function orgWithEverything(): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  await createPolicy(org, "origin", policyText("provenance: {required: true}"));
  await buildWeb(org, "1");
  await reportServer(org, "prod", [runningWeb("1"), "db"]);
  await attachPolicies(org, "prod", "origin");
  await reportServer(org, "prod", [runningWeb("1")]);
  await putPolicy(org.member, org.name, { name: "origin" }, policyText("trail-compliance: {required: true}"));
  await runPendingJobs(app);
  await reportServer(org, "prod", [runningWeb("1"), "db", "cache"]);
  await org.member.delete(`/environments/${org.name}/prod/policies`, { policy_names: ["origin"] });
  return org;
}

describe("counts of a list of snapshots", () => {
  it("say what runs and what changed, as the snapshots and their events do", async () => {
    const org = await orgWithEverything();
    const { json } = await list(org, { include: "counts", reverse: "true" });
    expect(json.length).toBeGreaterThan(4);
    for (const item of json) {
      const snapshot = await getSnapshot(org, "prod", String(item.index));
      const types: string[] = snapshot.artifacts.map(
        ({ annotation }: { annotation: { type: string } }) => annotation.type,
      );
      const { true: good, false: bad, null: unknown } = snapshot.artifact_compliance_count;
      const before = item.index === 1 ? undefined : await getSnapshot(org, "prod", String(item.index - 1));
      const versions = (of: typeof snapshot): string =>
        of.applied_policies
          .map((policy: { id: string; version: number }) => [policy.id, policy.version])
          .join();
      expect([item.index, item]).toEqual([
        item.index,
        {
          index: item.index,
          from: snapshot.timestamp,
          to: snapshot.next_snapshot_timestamp ?? 0,
          compliant: snapshot.compliant,
          duration: item.duration,
          artifact_count: good + bad + unknown,
          non_compliant_count: bad,
          started: types.filter((type) => type.startsWith("started-")).length,
          exited: types.filter((type) => type === "exited").length,
          changed: types.filter((type) => !/^(started-|exited$|unchanged$)/.test(type)).length,
          has_policies: snapshot.applied_policies.length > 0,
          policies_changed: before !== undefined && versions(before) !== versions(snapshot),
        },
      ]);
    }
    const changes: boolean[] = json.map((item: { policies_changed: boolean }) => item.policies_changed);
    expect(changes.filter(Boolean).length).toBe(3);
    expect(json.map((item: { has_policies: boolean }) => item.has_policies)).toContain(true);
    await countEvents(app, org);
  });

  it("are the same for snapshots that were made before they were kept", async () => {
    const org = await orgWithEverything();
    // But for the latest, which lasts longer from one look to the next.
    const past = () => list(org, { include: "counts", interval: "..-2" });
    const told = (await past()).json;
    const file = new URL("../../migrations/0044-snapshot-changes.sql", import.meta.url);
    const filling = /^update snapshots s[^;]*;/m.exec(await readFile(file, "utf8"))![0];
    const { pool } = app.deps.db;
    const turns = () =>
      pool.query("select index, was_compliant from snapshots where org_id = $1 order by 1", [org.id]);
    const turned = (await turns()).rows;
    await pool.query("alter table snapshots disable trigger snapshots_insert_only");
    await pool.query(
      `update snapshots set started_count = -1, exited_count = -1, verdict_count = -1, changed_count = -1,
        was_compliant = null, has_policies = not has_policies, policies_changed = not policies_changed`,
    );
    await pool.query(filling);
    await pool.query("alter table snapshots enable trigger snapshots_insert_only");
    expect((await past()).json).toEqual(told);
    expect((await turns()).rows).toEqual(turned);
    expect(turned.map((row) => row.was_compliant)).toContain(true);
  });
});
