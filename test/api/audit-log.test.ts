import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

let app: TestApp;
let org: TestOrg;
let adminName: string;
const read = async (query = "") => (await org.admin.get(`/audit-log/${org.name}${query}`)).json;
const numbers = async (query: string): Promise<number[]> =>
  (await read(query)).entries.map((entry: { seq: number }) => entry.seq);

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  const base = `/service-accounts/${org.name}`;
  for (const name of ["a", "b", "c"]) {
    app.clock.advance(10);
    await org.admin.post(base, { name });
  }
  app.clock.advance(10);
  await org.member.post(base, { name: "d" });
  await org.admin.patch(`${base}/a`, { description: "x" });
  await org.admin.delete(`${base}/b`);
  adminName = (await read("?action=delete_service_account")).entries[0].actor;
});
afterAll(() => app.close());

describe("GET /audit-log/{org}", () => {
  it("is newest first, numbered without gaps, in an envelope", async () => {
    const log = await read();
    expect(log).toMatchObject({ page: 1, per_page: 15, total_pages: 1, total_count: 6 });
    expect(await numbers("")).toEqual([6, 5, 4, 3, 2, 1]);
    expect(await numbers("?sort_direction=asc")).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("says who did what to which resource, when, by which key and request", async () => {
    const before = app.clock.now();
    const body = { name: "e" };
    await org.admin.request("POST", `/service-accounts/${org.name}`, {
      json: body,
      headers: { "x-request-id": "request-7" },
    });
    const [entry] = (await read()).entries;
    expect(entry).toMatchObject({
      seq: 7,
      actor: adminName,
      actor_kind: "user",
      action: "create_service_account",
      resource_type: "service_account",
      resource: "e",
      request_id: "request-7",
      request_digest: sha256(JSON.stringify(body)).toString("hex"),
    });
    expect(entry.occurred_at).toBeGreaterThanOrEqual(before);
    expect(entry.actor_id).toMatch(/^[a-f0-9-]{32}$/);
    expect(entry.api_key_id).toMatch(/^[a-f0-9-]{32}$/);
  });

  it("names a service account as actor", async () => {
    const own = await app.org();
    const base = `/service-accounts/${own.name}`;
    await own.admin.post(base, { name: "robot", privilege: "admin" });
    const { key } = (await own.admin.post(`${base}/robot/api-keys`, { description: "x" })).json;
    await app.as(key).post(base, { name: "made-by-robot" });
    const { entries } = (await own.admin.get(`/audit-log/${own.name}?actor=robot`)).json;
    expect(entries).toMatchObject([{ actor_kind: "service_account", resource: "made-by-robot" }]);
  });

  it("pages in both directions, with and without a filter", async () => {
    const own = await app.org();
    for (let index = 0; index < 7; index += 1)
      await own.admin.post(`/service-accounts/${own.name}`, { name: `n${index}` });
    const page = async (query: string) => {
      const { json } = await own.admin.get(`/audit-log/${own.name}?per_page=3${query}`);
      expect(json).toMatchObject({ total_count: 7, total_pages: 3 });
      return json.entries.map((entry: { seq: number }) => entry.seq);
    };
    for (const filter of ["", "&action=create_service_account"]) {
      expect(await page(filter)).toEqual([7, 6, 5]);
      expect(await page(`${filter}&page=2`)).toEqual([4, 3, 2]);
      expect(await page(`${filter}&page=3`)).toEqual([1]);
      expect(await page(`${filter}&page=4`)).toEqual([]);
      expect(await page(`${filter}&page=1000000`)).toEqual([]);
      expect(await page(`${filter}&sort_direction=asc`)).toEqual([1, 2, 3]);
      expect(await page(`${filter}&sort_direction=asc&page=3`)).toEqual([7]);
    }
  });

  it("filters by each property, and combines them", async () => {
    expect(await numbers("?action=update_service_account")).toEqual([5]);
    expect(await numbers("?resource=a")).toEqual([5, 1]);
    expect(await numbers("?resource_type=service_account&resource=b")).toEqual([6, 2]);
    expect(await numbers("?resource_type=flow")).toEqual([]);
    expect(await numbers(`?actor=${adminName}&action=create_service_account&sort_direction=asc`)).toEqual(
      expect.arrayContaining([1, 2, 3]),
    );
    expect(await numbers(`?actor=${adminName}`)).not.toContain(4);
  });

  it("bounds the time on both sides, inclusively", async () => {
    const entries = (await read("?sort_direction=asc")).entries;
    expect(await numbers(`?to_timestamp=${entries[1].occurred_at}`)).toEqual([2, 1]);
    expect(await numbers(`?from_timestamp=${entries[2].occurred_at}&resource=c`)).toEqual([3]);
    expect(
      await numbers(
        `?from_timestamp=${entries[1].occurred_at}&to_timestamp=${entries[2].occurred_at}&sort_direction=asc`,
      ),
    ).toEqual([2, 3]);
  });

  it.each([
    ["?sort_direction=up", "query.sort_direction"],
    ["?per_page=0", "query.per_page"],
    ["?per_page=101", "query.per_page"],
    ["?from_timestamp=x", "query.from_timestamp"],
    ["?to_timestamp=-1", "query.to_timestamp"],
    ["?actor=%00", "query.actor"],
  ])("refuses %s", async (query, location) => {
    const answer = await org.admin.get(`/audit-log/${org.name}${query}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual([location]);
  });

  it("is for admins, and empty where nothing happened", async () => {
    const own = await app.org();
    for (const client of [own.member, own.snapshotter, own.reader])
      expect((await client.get(`/audit-log/${own.name}`)).status).toBe(403);
    expect((await own.admin.get(`/audit-log/${own.name}`)).json).toMatchObject({
      total_count: 0,
      total_pages: 0,
      entries: [],
    });
  });

  it("stays without gaps and repeats when many write at once, and failed writes leave none", async () => {
    const own = await app.org();
    const names = [...Array(12).keys()].map((index) => `n${index % 8}`);
    await Promise.all(names.map((name) => own.admin.post(`/service-accounts/${own.name}`, { name })));
    const { entries } = (await own.admin.get(`/audit-log/${own.name}?sort_direction=asc`)).json;
    expect(entries.map((entry: { seq: number }) => entry.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe("the tables of record", () => {
  it.each([
    "update audit_log set actor_name = 'nobody'",
    "delete from audit_log",
    "truncate audit_log",
    "truncate audit_log, organizations cascade",
    "update membership_events set user_name = 'nobody'",
    "delete from membership_events",
    "truncate membership_events",
  ])("refuse: %s", async (statement) => {
    const own = await app.org();
    const user = await app.user();
    await own.admin.put(`/members/${own.name}/${user.name}`, { role: "reader" });
    await expect(app.deps.db.pool.query(statement)).rejects.toThrow(/insert-only/);
    expect((await own.admin.get(`/audit-log/${own.name}`)).json.total_count).toBe(1);
  });
});
