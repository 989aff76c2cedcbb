import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createEnvironment, listedNames } from "../support/environments.ts";
import { attachPolicies, createPolicy } from "../support/policies.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function items(org: TestOrg, query: string) {
  const { status, json } = await org.reader.get(`/environments/${org.name}?${query}`);
  expect([status, json.message]).toEqual([200, undefined]);
  return Array.isArray(json) ? json : json.environments;
}

/** `bad` fails a policy, `free` has none, `idle` was never reported on, `all` groups the first two. */
async function company(): Promise<TestOrg> {
  const org = await app.org();
  for (const name of ["bad", "free", "idle"]) await createEnvironment(org, name, { type: "server" });
  await createEnvironment(org, "all", { type: "logical", included_environments: ["bad", "free"] });
  await createPolicy(org, "strict");
  await attachPolicies(org, "bad", "strict");
  await reportServer(org, "free", ["web"]);
  await reportServer(org, "bad", ["web", "db"]);
  return org;
}

const own = ["id", "space_id", "is_stale", "stale_since", "snapshot_count", "artifact_compliance_count"];

describe("include=summary", () => {
  it.each(["sort=name", "sort=name&page=1", "per_page=2&page=2", "type=server&page=1", "name=a&page=1"])(
    "adds members at the end of each item, and nothing else: %s",
    async (query) => {
      const org = await company();
      const plain = await items(org, query);
      const summed: Record<string, unknown>[] = await items(org, `${query}&include=summary`);
      expect(summed.length).toBe(plain.length);
      for (const [at, item] of summed.entries()) {
        expect(Object.keys(item).slice(-own.length)).toEqual(own);
        const rest = Object.entries(item).filter(([key]) => !own.includes(key));
        expect(JSON.stringify(Object.fromEntries(rest))).toBe(JSON.stringify(plain[at]));
      }
    },
  );

  it("counts snapshots, and artifacts of the latest one", async () => {
    const org = await company();
    await reportServer(org, "free", ["web", "db", "cache"]);
    for (const item of await items(org, "include=summary&page=1")) {
      if (item.name === "idle") {
        expect([item.snapshot_count, item.artifact_compliance_count]).toEqual([0, null]);
        continue;
      }
      const latest = await getSnapshot(org, item.name);
      expect([item.name, item.snapshot_count]).toEqual([item.name, latest.index]);
      expect(item.artifact_compliance_count).toEqual(latest.artifact_compliance_count);
    }
  });

  it("tells of one environment what the list tells, and without it nothing more", async () => {
    const org = await company();
    for (const listed of await items(org, "include=summary&page=1")) {
      const path = `/environments/${org.name}/${listed.name}`;
      const { status, json } = await org.reader.get(`${path}?include=summary`);
      expect([status, json]).toEqual([200, listed]);
      expect(Object.keys((await org.reader.get(path)).json)).not.toContain("snapshot_count");
    }
    expect((await org.reader.get(`/environments/${org.name}/free?include=all`)).status).toBe(400);
  });

  it("tells id and space as they are told elsewhere, of archived ones, too", async () => {
    const org = await company();
    const space = await org.admin.post(`/spaces/${org.name}`, { name: "shop" });
    expect(space.status).toBe(201);
    const moved = await org.admin.patch(`/environments/${org.name}/free`, { space_id: space.json.id });
    expect(moved.status).toBe(200);
    const [free] = await items(org, "include=summary&name=free");
    expect(free.space_id).toBe(space.json.id);
    const { rows } = await app.deps.db.pool.query<{ id: string }>(
      "select wire_id(id) as id from environments where org_id = $1 and name = 'free'",
      [org.id],
    );
    expect(free.id).toBe(rows[0]?.id);
    await org.member.put(`/environments/${org.name}/free/archive`);
    const [archived] = await items(org, "include=summary&archived=true&page=1");
    expect([archived.id, archived.snapshot_count, archived.is_stale]).toEqual([free.id, 1, false]);
    expect(archived.archived_at).toBeGreaterThan(0);
  });

  it("tells of silence as the environment itself does", async () => {
    const org = await company();
    await org.member.put(`/environments/${org.name}/bad/silence`, { limit_seconds: 100 });
    await org.member.put(`/environments/${org.name}/idle/silence`, { limit_seconds: 1_000_000 });
    for (let minute = 0; minute < 3; minute += 1) {
      app.clock.advance(60);
      await noticeSilence(app.deps);
    }
    for (const item of await items(org, "include=summary&per_page=50")) {
      const { json } = await org.reader.get(`/environments/${org.name}/${item.name}/silence`);
      expect([item.name, item.is_stale, item.stale_since]).toEqual([
        item.name,
        json.is_stale,
        json.stale_since,
      ]);
      expect(item.is_stale).toBe(item.name === "bad");
    }
    expect(await listedNames(org.reader, org, "?stale=true&include=summary")).toEqual(["bad"]);
  });

  it("knows no other word", async () => {
    const org = await app.org();
    const { status, json } = await org.reader.get(`/environments/${org.name}?include=everything`);
    expect([status, json.errors]).toEqual([
      400,
      { "query.include": "Input should be 'summary' [input: everything]" },
    ]);
  });
});

describe("state and policy", () => {
  it("find environments by what the latest snapshot found, and by what is attached", async () => {
    const org = await company();
    const names = (query: string) => listedNames(org.reader, org, `?page=1&${query}`);
    expect(await names("state=NON-COMPLIANT")).toEqual(["all", "bad"]);
    expect(await names("state=UNKNOWN")).toEqual(["free", "idle"]);
    expect(await names("state=NEVER-REPORTED")).toEqual(["idle"]);
    expect(await names("state=COMPLIANT")).toEqual([]);
    expect(await names("state=NEVER-REPORTED&state=NON-COMPLIANT&type=server")).toEqual(["bad", "idle"]);
    expect(await names("policy=strict")).toEqual(["bad"]);
    expect(await names("policy=strict&policy=none&state=NON-COMPLIANT")).toEqual(["bad"]);
    expect(await names("policy=none")).toEqual([]);
    expect(await names("sort=state")).toEqual(["all", "bad", "free", "idle"]);
    expect(await names("sort=last_reported_at")).toEqual(["free", "bad", "all", "idle"]);
    expect(await names("sort=last_reported_at&sort_direction=desc")).toEqual(["bad", "free", "all", "idle"]);
  });

  it("find nothing of other organizations", async () => {
    await company();
    const other = await app.org();
    await createEnvironment(other, "mine", { type: "server" });
    const names = (query: string) => listedNames(other.reader, other, `?${query}`);
    expect(await names("policy=strict")).toEqual([]);
    expect(await names("state=NON-COMPLIANT&state=NEVER-REPORTED")).toEqual(["mine"]);
  });

  it("refuse words that are no state", async () => {
    const org = await app.org();
    const { status, json } = await org.reader.get(`/environments/${org.name}?state=UNKNOWN&state=compliant`);
    expect([status, Object.values(json.errors)]).toEqual([
      400,
      ["Input should be 'COMPLIANT', 'NON-COMPLIANT', 'UNKNOWN' or 'NEVER-REPORTED' [input: compliant]"],
    ]);
  });
});
