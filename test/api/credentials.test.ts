import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { connect } from "../../src/db/connect.ts";
import { trackKeyUse } from "../../src/modules/kernel/access/use-service.ts";
import { setUserDisabled } from "../../src/modules/identity/users/service.ts";
import { startTestApp, type TestApp, type TestUser } from "../support/app.ts";

let app: TestApp;
let user: TestUser;
beforeAll(async () => {
  app = await startTestApp();
  user = await app.user();
});
afterAll(() => app.close());

function withHeader(authorization: string) {
  return app.anonymous.request("GET", "/user/api-keys", { headers: { authorization } });
}

const basic = (text: string): string => Buffer.from(text).toString("base64");

describe("credentials that work", () => {
  it.each<[string, (key: string) => string]>([
    ["bearer", (key) => `Bearer ${key}`],
    ["bearer in lower case", (key) => `bearer ${key}`],
    ["bearer in upper case", (key) => `BEARER ${key}`],
    ["bearer with more blanks", (key) => `Bearer   ${key}  `],
    ["basic with an empty password", (key) => `Basic ${basic(`${key}:`)}`],
    ["basic with a password", (key) => `Basic ${basic(`${key}:any thing`)}`],
    ["basic with colons in the password", (key) => `Basic ${basic(`${key}:a:b:c`)}`],
    ["basic without a colon", (key) => `Basic ${basic(key)}`],
    ["basic in lower case", (key) => `basic ${basic(`${key}:`)}`],
  ])("%s", async (_name, header) => {
    expect((await withHeader(header(user.key))).status).toBe(200);
  });
});

describe("credentials that do not", () => {
  it.each<[string, (key: string) => string]>([
    ["no scheme", (key) => key],
    ["another scheme", (key) => `Token ${key}`],
    ["no value", () => "Bearer"],
    ["an empty basic value", () => "Basic "],
    ["basic with the key as password", (key) => `Basic ${basic(`:${key}`)}`],
    ["basic that is not base64", () => "Basic %%%"],
    ["basic with the bare key", (key) => `Basic ${key}`],
    ["two keys", (key) => `Bearer ${key} ${key}`],
    ["a key with another end", (key) => `Bearer ${key}x`],
    ["a very long one", () => `Bearer ${"x".repeat(5000)}`],
    ["a NUL inside", () => `Basic ${basic("\0\0:\0")}`],
  ])("%s", async (_name, header) => {
    const answer = await withHeader(header(user.key));
    expect([answer.status, answer.json]).toEqual([401, { message: "Invalid or missing credentials" }]);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
  });

  it("an expired key", async () => {
    const expires_at = Math.floor(app.clock.now()) + 5;
    const { key } = (await user.client.post("/user/api-keys", { description: "x", expires_at })).json;
    expect((await withHeader(`Bearer ${key}`)).status).toBe(200);
    app.clock.advance(6);
    expect((await withHeader(`Bearer ${key}`)).status).toBe(401);
  });

  it("a revoked key", async () => {
    const { id, key } = (await user.client.post("/user/api-keys", { description: "x" })).json;
    await user.client.delete(`/user/api-keys/${id}`);
    expect((await withHeader(`Bearer ${key}`)).status).toBe(401);
  });

  it("a disabled user's key, until they are let in again", async () => {
    const other = await app.user();
    const actor = {
      kind: "system",
      id: null,
      name: "test",
      api_key_id: null,
      action: "test",
      request_id: "r",
      request_digest: null,
    } as const;
    await setUserDisabled(app.deps, actor, { user: other.name, disabled: true });
    expect((await other.client.get("/user/api-keys")).status).toBe(401);
    await setUserDisabled(app.deps, actor, { user: other.name, disabled: false });
    await setUserDisabled(app.deps, actor, { user: other.name, disabled: false });
    expect((await other.client.get("/user/api-keys")).status).toBe(200);
    const log = await other.client.get(`/audit-log/${other.name}?resource_type=user`);
    expect(log.json.total_count).toBe(2);
  });

  it("a rotated key whose grace period is over, or that was revoked within it", async () => {
    const org = await app.org();
    await org.admin.post(`/service-accounts/${org.name}`, { name: "bot" });
    const keys = `/service-accounts/${org.name}/bot/api-keys`;
    const make = async () => (await org.admin.post(keys, { description: "x" })).json;
    const [graced, revoked] = [await make(), await make()];
    for (const { id } of [graced, revoked])
      await org.admin.post(`${keys}/${id}/rotate`, { grace_period_hours: 1 });
    const status = async (key: string) => (await app.as(key).get("/user/default-org")).status;
    expect(await status(graced.key)).toBe(200);
    expect(await status(revoked.key)).toBe(200);
    await org.admin.delete(`${keys}/${revoked.id}`);
    expect(await status(revoked.key)).toBe(401);
    app.clock.advance(3601);
    expect(await status(graced.key)).toBe(401);
  });
});

describe("the last use of a key", () => {
  const lastUse = async (other: TestUser): Promise<number> =>
    (await other.client.get("/user/api-keys")).json[0].last_used_at;

  it("is written down in batches, the latest wins, and never goes back", async () => {
    const other = await app.user();
    const { rows } = await app.deps.db.pool.query("select id from api_keys where user_id = $1", [other.id]);
    const use = trackKeyUse(app.deps);
    const query = vi.spyOn(app.deps.db.pool, "connect");
    const first = app.clock.now();
    for (let index = 0; index < 100; index += 1)
      use.used({ api_key_id: rows[0].id, session_id: null, address: null });
    await use.flush();
    expect(query).toHaveBeenCalledTimes(1);
    await use.flush();
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
    const written = await lastUse(other);
    expect(written).toBeGreaterThanOrEqual(first);
    app.clock.advance(-1000);
    use.used({ api_key_id: rows[0].id, session_id: null, address: null });
    await use.stop();
    app.clock.advance(1000);
    expect(await lastUse(other)).toBe(written);
  });

  it("is kept for later when the database is away", async () => {
    const other = await app.user();
    const { rows } = await app.deps.db.pool.query("select id from api_keys where user_id = $1", [other.id]);
    const away = connect({ connection: "postgres://nobody@127.0.0.1:1/none", max: 1 });
    const deps = { db: away, clock: app.clock, log: app.deps.log };
    const use = trackKeyUse(deps);
    use.used({ api_key_id: rows[0].id, session_id: null, address: null });
    await use.flush();
    deps.db = app.deps.db;
    await use.stop();
    await away.close();
    expect(await lastUse(other)).toBeGreaterThan(0);
  });
});
