import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unknownKey = [404, { message: "API key not found" }];
const hour = 3600;

interface Setting {
  org: TestOrg;
  /** Path of the account's keys. */
  keys: string;
}

async function setting(): Promise<Setting> {
  const org = await app.org();
  await org.admin.post(`/service-accounts/${org.name}`, { name: "bot", privilege: "member" });
  return { org, keys: `/service-accounts/${org.name}/bot/api-keys` };
}

async function statusWith({ org }: Setting, key: string): Promise<number> {
  return (await app.as(key).get(`/organizations/${org.name}`)).status;
}

describe("POST …/api-keys", () => {
  it("answers 201 with the value, which works and is stored as its SHA-256 only", async () => {
    const here = await setting();
    const answer = await here.org.admin.post(here.keys, { description: "deploy", expires_at: null });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.json).sort()).toEqual(["created_at", "description", "expires_at", "id", "key"]);
    expect(answer.json).toMatchObject({ description: "deploy", expires_at: 0 });
    expect(answer.json.key).toMatch(/^[A-Za-z0-9_-]{43,}$/);
    expect(await statusWith(here, answer.json.key)).toBe(200);
    const { rows } = await app.deps.db.pool.query("select * from api_keys where key_hash = $1", [
      sha256(answer.json.key),
    ]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(answer.json.key);
  });

  it("makes a new key each time, also when fifty are asked for at once", async () => {
    const { org, keys } = await setting();
    const made = await Promise.all(
      Array.from({ length: 50 }, () => org.admin.post(keys, { description: "same" })),
    );
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
    expect(new Set(made.map(({ json }) => json.id)).size).toBe(50);
    expect(new Set(made.map(({ json }) => json.key)).size).toBe(50);
    expect((await org.admin.get(keys)).json).toHaveLength(50);
  });

  it("keeps the expiry, and ends the key then", async () => {
    const here = await setting();
    const expires_at = Math.floor(app.clock.now()) + hour;
    const { json } = await here.org.admin.post(here.keys, { description: "x", expires_at });
    expect(json.expires_at).toBe(expires_at);
    expect((await here.org.admin.get(`${here.keys}/${json.id}`)).json.expires_at).toBe(expires_at);
    app.clock.advance(hour + 1);
    expect(await statusWith(here, json.key)).toBe(401);
    expect((await here.org.admin.get(here.keys)).json).toEqual([]);
    for (const answer of [
      await here.org.admin.get(`${here.keys}/${json.id}`),
      await here.org.admin.post(`${here.keys}/${json.id}/rotate`, {}),
      await here.org.admin.delete(`${here.keys}/${json.id}`),
    ])
      expect([answer.status, answer.json]).toEqual(unknownKey);
  });

  it("takes 0 and the last second of the century's first day, not one more", async () => {
    const { org, keys } = await setting();
    expect((await org.admin.post(keys, { description: "x", expires_at: 0 })).json.expires_at).toBe(0);
    const latest = await org.admin.post(keys, { description: "x", expires_at: 4_102_444_800 });
    expect(latest.json.expires_at).toBe(4_102_444_800);
    const later = await org.admin.post(keys, { description: "x", expires_at: 4_102_444_801 });
    expect(later.json.errors.expires_at).toBe(
      "Input should be less than or equal to 4102444800 [input: 4102444801]",
    );
  });

  it.each([
    [{ description: "x", expires_at: 1 }, "expires_at", "Input should be a time in the future [input: 1]"],
    [{ description: "x", expires_at: -5 }, "expires_at", "Input should be a time in the future [input: -5]"],
    [{ description: "x", expires_at: 1.5 }, "expires_at", "Input should be a valid integer [input: 1.5]"],
    [{ description: "x", expires_at: "1" }, "expires_at", "Input should be a valid integer [input: 1]"],
    [{}, "description", "Field required [input: None]"],
    [{ description: "" }, "description", "String should have at least 1 character [input: ]"],
    [{ description: "x".repeat(257) }, "description", "String should have at most 256 characters"],
  ])("refuses %j", async (body, location, reason) => {
    const { org, keys } = await setting();
    const answer = await org.admin.post(keys, body);
    expect([answer.status, answer.json.message]).toEqual([400, "Input payload validation failed"]);
    expect(answer.json.errors[location]).toContain(reason);
    expect((await org.admin.get(keys)).json).toEqual([]);
  });
});

describe("GET …/api-keys and …/api-keys/{key_id}", () => {
  it("show what was made, without the value", async () => {
    const { org, keys } = await setting();
    const { key, ...shown } = (await org.admin.post(keys, { description: "x" })).json;
    const expected = { ...shown, last_used_at: 0 };
    const list = await org.admin.get(keys);
    const single = await org.admin.get(`${keys}/${shown.id}`);
    expect(list.json).toEqual([expected]);
    expect(single.json).toEqual(expected);
    expect(list.text + single.text).not.toContain(key);
  });

  it("show the last use, once it was written down", async () => {
    const here = await setting();
    const { id, key } = (await here.org.admin.post(here.keys, { description: "x" })).json;
    await app.deps.db.pool.query(
      "update api_keys set last_used_at = to_timestamp(1700000000.25) where key_hash = $1",
      [sha256(key)],
    );
    expect((await here.org.admin.get(`${here.keys}/${id}`)).json.last_used_at).toBe(1_700_000_000.25);
  });

  it("answer 404 for what is no key of this account that works", async () => {
    const { org, keys } = await setting();
    await org.admin.post(`/service-accounts/${org.name}`, { name: "other" });
    const other = await org.admin.post(`/service-accounts/${org.name}/other/api-keys`, { description: "x" });
    const revoked = await org.admin.post(keys, { description: "x" });
    await org.admin.delete(`${keys}/${revoked.json.id}`);
    const ids = [other.json.id, revoked.json.id, "no-id", "00000000-0000-0000-0000-00000000", "'%20or%201=1"];
    for (const id of ids) {
      const answer = await org.admin.get(`${keys}/${id}`);
      expect([answer.status, answer.json]).toEqual(unknownKey);
    }
  });
});

describe("DELETE …/api-keys/{key_id}", () => {
  it("answers revoked, ends the key at once, and is 404 the second time", async () => {
    const here = await setting();
    const { id, key } = (await here.org.admin.post(here.keys, { description: "x" })).json;
    const answers = await Promise.all([1, 2, 3].map(() => here.org.admin.delete(`${here.keys}/${id}`)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 404, 404]);
    expect(answers.find(({ status }) => status === 200)?.json).toBe("revoked");
    expect(answers.find(({ status }) => status === 404)?.json).toEqual(unknownKey[1]);
    expect(await statusWith(here, key)).toBe(401);
    const log = await here.org.admin.get(`/audit-log/${here.org.name}?action=delete_service_account_api_key`);
    expect(log.json.entries).toMatchObject([{ resource_type: "api_key", resource: `bot/${id}` }]);
  });
});

describe("secrets", () => {
  it("appear in no log line and no audit row", async () => {
    const { org, keys } = await setting();
    const made = (await org.admin.post(keys, { description: "x" })).json;
    const rotated = (await org.admin.post(`${keys}/${made.id}/rotate`, {})).json;
    await app.as(made.key).get("/no/such/path");
    await app.as(made.key).post(keys, { description: 1 });
    await app.as(made.key).request("GET", `/organizations/${org.name}`, {
      headers: { authorization: `Basic ${Buffer.from(`${made.key}:`).toString("base64")}` },
    });
    const log = await org.admin.get(`/audit-log/${org.name}`);
    expect(app.logged().length).toBeGreaterThan(0);
    for (const secret of [made.key, rotated.key, Buffer.from(`${made.key}:`).toString("base64")]) {
      expect(app.logged()).not.toContain(secret);
      expect(log.text).not.toContain(secret);
    }
  });
});
