import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { switchUser } from "../../src/cli/admin-identity.ts";
import { print } from "../../src/cli/output.ts";
import { integer } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { trackKeyUse } from "../../src/modules/kernel/access/use-service.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { signIn, trySignIn } from "../support/sessions.ts";
import { uniqueName } from "../support/unique-name.ts";

const hour = 3600;
const refused = { message: "Invalid or missing credentials" };

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

/** Counts the statements of a read, also those that requests share. */
async function countReads(work: () => Promise<unknown>): Promise<number> {
  const spies = (["all", "first", "one", "run"] as const).map((how) => vi.spyOn(app.deps.db, how));
  await work();
  const count = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  for (const spy of spies) spy.mockRestore();
  return count;
}

/** Somebody who never signed in before, from an address that never failed. */
const newcomer = (): Promise<TestUser> => app.user({ display_name: "Ann Newcomer" });

async function accountKey(): Promise<{ name: string; key: string; id: string }> {
  const name = uniqueName("robot");
  await org.admin.post(`/service-accounts/${org.name}`, { name, privilege: "member" });
  const made = await org.admin.post(`/service-accounts/${org.name}/${name}/api-keys`, { description: "x" });
  return { name, key: made.json.key, id: made.json.id };
}

describe("GET /user", () => {
  it("tells a user about themselves, in two statements", async () => {
    const user = await newcomer();
    await user.client.get("/user");
    const statements = await countReads(() => user.client.get("/user"));
    const answer = await user.client.get("/user");
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        kind: "user",
        id: user.id.slice(0, 32),
        name: user.name,
        display_name: "Ann Newcomer",
        email: "",
        is_instance_admin: false,
        default_org_name: "",
        session: null,
      },
    ]);
    expect(statements).toBe(2);
    await user.client.put(`/user/${user.name}`);
    await app.deps.db.pool.query("update users set email = 'ann@example.org' where id = $1", [user.id]);
    expect((await user.client.get("/user")).json).toMatchObject({
      default_org_name: user.name,
      email: "ann@example.org",
    });
    const root = await app.user({ instance_admin: true });
    expect((await root.client.get("/user")).json).toMatchObject({
      is_instance_admin: true,
      display_name: "",
    });
  });

  it("tells a service account about itself", async () => {
    const { name, key } = await accountKey();
    expect((await app.as(key).get("/user")).json).toMatchObject({
      kind: "service_account",
      name,
      display_name: name,
      email: "",
      is_instance_admin: false,
      default_org_name: org.name,
      session: null,
    });
  });

  it("needs credentials", async () => {
    expect((await app.anonymous.get("/user")).status).toBe(401);
  });
});

describe("GET /sign-in/methods", () => {
  it("is for anybody", async () => {
    const answer = await app.anonymous.get("/sign-in/methods");
    expect([answer.status, answer.json]).toEqual([
      200,
      { methods: [{ kind: "api_key", name: "api_key", display_name: "API key", address: null }] },
    ]);
  });
});

describe("signing in with a key", () => {
  it("answers who it is and sets the cookie, which acts as the key's owner", async () => {
    const user = await newcomer();
    const now = app.clock.now();
    const answer = await trySignIn(app, { api_key: user.key }, { "user-agent": "Test/1.0" });
    expect(answer.status).toBe(201);
    const [key] = (await user.client.get("/user/api-keys")).json;
    expect(answer.json).toMatchObject({
      kind: "user",
      name: user.name,
      session: {
        is_current: true,
        api_key_id: key.id,
        user_agent: "Test/1.0",
        address: "127.0.0.1",
        expires_at: answer.json.session.created_at + 30 * 24 * hour,
        idle_expires_at: answer.json.session.created_at + 12 * hour,
      },
    });
    expect(answer.json.session.created_at).toBeGreaterThanOrEqual(now);
    expect(answer.headers["set-cookie"]).toMatch(
      /^waybill-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    );

    const browser = await signIn(app, user.key);
    expect((await browser.get("/user")).json).toEqual(browser.answer.json);
    expect((await browser.get("/organizations")).json).toEqual(
      (await user.client.get("/organizations")).json,
    );
    const made = await browser.request("POST", "/user/api-keys", { json: { description: "from a page" } });
    expect(made.status).toBe(201);
    const { entries } = (await user.client.get(`/audit-log/${user.name}?action=create_user_api_key`)).json;
    expect(entries).toMatchObject([{ actor_kind: "user", actor: "Ann Newcomer", api_key_id: key.id }]);
  });

  it("lets a service account in, too", async () => {
    const { name, key } = await accountKey();
    const browser = await signIn(app, key);
    expect((await browser.get("/user")).json).toMatchObject({ kind: "service_account", name });
    expect((await browser.get(`/environments/${org.name}`)).status).toBe(200);
    expect((await browser.get("/user/sessions")).json.data).toHaveLength(1);
    expect((await browser.delete("/user/sessions/current")).status).toBe(200);
    const { entries } = (await org.admin.get(`/audit-log/${org.name}?resource_type=session`)).json;
    expect(entries.map((entry: { action: string }) => entry.action).slice(0, 2)).toEqual([
      "delete_current_user_session",
      "create_user_session",
    ]);
  });

  it("keeps no more than a hash of what the cookie holds", async () => {
    const user = await newcomer();
    const { cookie } = await signIn(app, user.key);
    const secret = cookie.split("=")[1]!;
    const rows = await app.deps.db.pool.query("select s::text as row from sessions s where user_id = $1", [
      user.id,
    ]);
    expect(rows.rows).toHaveLength(1);
    expect(JSON.stringify(rows.rows)).not.toContain(secret);
  });

  it.each([
    [{}, "Either api_key or token is required"],
    [{ api_key: "a", token: "b" }, "Either api_key or token is required"],
    [{ api_key: "" }, "at least 1 character"],
    [{ api_key: "x".repeat(513) }, "at most 512 characters"],
    [{ api_key: 7 }, "valid string"],
  ])("refuses the body %j", async (json, told) => {
    const answer = await trySignIn(app, json as { api_key: string });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.json)).toContain(told);
    expect(JSON.stringify(answer.json)).not.toContain("xxxx");
  });

  it("adds no statement to a request", async () => {
    const user = await newcomer();
    const browser = await signIn(app, user.key);
    const path = `/members/${user.name}`;
    for (const ask of [() => user.client.get(path), () => browser.get(path)]) await ask();
    // Whoever writes elsewhere on this PostgreSQL meanwhile has callers looked up anew.
    const fewestReads = async (work: () => Promise<unknown>): Promise<number> => {
      const counts = [];
      for (let time = 0; time < 10; time += 1) counts.push(await countReads(work));
      return Math.min(...counts);
    };
    const byKey = await fewestReads(() => user.client.get(path));
    expect(byKey).toBe(2);
    expect(await fewestReads(() => browser.get(path))).toBe(byKey);
    expect((await browser.get(path)).status).toBe(200);
  });
});

describe("the cookie", () => {
  it.each([
    [
      "https://waybill.test",
      /^__Host-waybill-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; /,
    ],
    [
      "https://waybill.test/way",
      /^__Secure-waybill-session=[\w-]{43}; Path=\/way; HttpOnly; SameSite=Strict; Secure; /,
    ],
    ["http://waybill.test/way", /^waybill-session=[\w-]{43}; Path=\/way; HttpOnly; SameSite=Strict; Max/],
  ])("of a server at %s", async (publicUrl, pattern) => {
    const other = await startTestApp({ WAYBILL_PUBLIC_URL: publicUrl });
    try {
      const user = await other.user();
      const browser = await signIn(other, user.key);
      expect(browser.answer.headers["set-cookie"]).toMatch(pattern);
      expect((await browser.get("/user")).json.name).toBe(user.name);
      const value = browser.cookie.split("=")[1]!;
      const plain = await browser.request("GET", "/user", { headers: { cookie: `other=${value}` } });
      expect(plain.status).toBe(401);
      const out = await browser.delete("/user/sessions/current");
      expect(out.headers["set-cookie"]).toMatch(/^[\w-]*waybill-session=; Path=.*Max-Age=0$/);
    } finally {
      await other.close();
    }
  });

  it("is found among others", async () => {
    const browser = await signIn(app, (await newcomer()).key);
    const cookie = `a=b; xwaybill-session=1;${browser.cookie}; c="d"`;
    expect((await browser.request("GET", "/user", { headers: { cookie } })).status).toBe(200);
  });

  it("counts for nothing beside an authorization", async () => {
    const [user, other] = [await newcomer(), await newcomer()];
    const browser = await signIn(app, user.key);
    const ask = (authorization: string): Promise<Answer> =>
      browser.request("GET", "/user", { headers: { authorization } });
    expect((await ask(`Bearer ${other.key}`)).json.name).toBe(other.name);
    for (const nothing of ["Bearer no-such-key", "Digest x", "", "Bearer"])
      expect((await ask(nothing)).status, nothing).toBe(401);
  });
});

describe("a session ends", () => {
  it("after 12 hours without use, and not while it is used", async () => {
    const browser = await signIn(app, (await newcomer()).key);
    const use = trackKeyUse(app.deps);
    const [{ id }] = (
      await app.deps.db.pool.query("select id from sessions order by created_at desc limit 1")
    ).rows;
    for (let round = 0; round < 3; round += 1) {
      app.clock.advance(11 * hour);
      const { status, json } = await browser.get("/user");
      expect(status).toBe(200);
      use.used({ api_key_id: null, session_id: id, address: null });
      await use.flush();
      expect((await browser.get("/user")).json.session.last_used_at).toBeCloseTo(app.clock.now(), -1);
      expect(json.session.last_used_at).toBeLessThan(app.clock.now() - 10 * hour);
    }
    await use.stop();
    app.clock.advance(12 * hour);
    const answer = await browser.get("/user");
    expect([answer.status, answer.json]).toEqual([401, refused]);
  });

  it("after 30 days, however much it is used", async () => {
    const browser = await signIn(app, (await newcomer()).key);
    const keepInUse = (): Promise<unknown> =>
      app.deps.db.pool.query("update sessions set last_used_at = to_timestamp($1)", [app.clock.now()]);
    app.clock.advance(30 * 24 * hour - 60);
    await keepInUse();
    expect((await browser.get("/user")).status).toBe(200);
    app.clock.advance(61);
    await keepInUse();
    expect((await browser.get("/user")).status).toBe(401);
  });

  it("when its key is revoked, and no other session with it", async () => {
    const user = await newcomer();
    const made = (await user.client.post("/user/api-keys", { description: "second" })).json;
    const [first, second] = [await signIn(app, user.key), await signIn(app, made.key)];
    await user.client.delete(`/user/api-keys/${made.id}`);
    expect([(await first.get("/user")).status, (await second.get("/user")).status]).toEqual([200, 401]);
    expect((await first.get("/user/sessions")).json.data).toHaveLength(1);
  });

  it("when its key expires", async () => {
    const user = await newcomer();
    const expires_at = Math.ceil(app.clock.now()) + 100;
    const made = (await user.client.post("/user/api-keys", { description: "short", expires_at })).json;
    const browser = await signIn(app, made.key);
    expect((await browser.get("/user")).status).toBe(200);
    app.clock.advance(102);
    expect((await browser.get("/user")).status).toBe(401);
  });

  it("with the secret it was begun with, when the key is given another", async () => {
    const { name, key, id } = await accountKey();
    const browser = await signIn(app, key);
    const rotated = await org.admin.post(`/service-accounts/${org.name}/${name}/api-keys/${id}/rotate`, {
      grace_period_hours: 1,
    });
    const later = await signIn(app, rotated.json.key);
    const { session } = (await browser.get("/user")).json;
    expect(session.expires_at).toBeCloseTo(rotated.json.grace_period_expires_at, 3);
    app.clock.advance(hour + 1);
    expect([(await browser.get("/user")).status, (await later.get("/user")).status]).toEqual([401, 200]);
  });

  it("when its user is disabled, for good: keys alone work again afterwards", async () => {
    const user = await newcomer();
    const browser = await signIn(app, user.key);
    vi.spyOn(print, "line").mockImplementation(() => {});
    await switchUser(app.deps, user.name, { disabled: true });
    expect((await browser.get("/user")).status).toBe(401);
    await switchUser(app.deps, user.name, { disabled: false });
    expect([(await browser.get("/user")).status, (await user.client.get("/user")).status]).toEqual([
      401, 200,
    ]);
  });

  it("when its service account is removed", async () => {
    const { name, key } = await accountKey();
    const browser = await signIn(app, key);
    await org.admin.delete(`/service-accounts/${org.name}/${name}`);
    expect((await browser.get("/user")).status).toBe(401);
  });

  it("never lets a changed role go unnoticed, nor that one was taken away", async () => {
    const user = await newcomer();
    const other = await app.org();
    await other.admin.put(`/members/${other.name}/${user.name}`, { role: "reader" });
    const browser = await signIn(app, user.key);
    const path = `/environments/${org.name}`;
    expect((await browser.get(path)).status).toBe(403);
    await org.admin.put(`/members/${org.name}/${user.name}`, { role: "reader" });
    expect((await browser.get(path)).status).toBe(200);
    await org.admin.delete(`/members/${org.name}/${user.name}`);
    expect((await browser.get(path)).status).toBe(403);
  });
});

describe("the caller's own sessions", () => {
  it("are listed in pages, the latest first, and ended one by one or by signing out", async () => {
    const user = await newcomer();
    const browsers = [await signIn(app, user.key), await signIn(app, user.key), await signIn(app, user.key)];
    const ids = browsers.map(({ answer }) => answer.json.session.id as string).toReversed();
    const list = (await browsers[0]!.get("/user/sessions")).json;
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(list.data.map((one: { is_current: boolean }) => one.is_current)).toEqual([false, false, true]);
    expect(list.pagination).toEqual({ total: 3, page: 1, per_page: 20, page_count: 1 });
    const second = (await user.client.get("/user/sessions?page=2&per_page=2")).json;
    expect(second.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
    expect(second.pagination).toEqual({ total: 3, page: 2, per_page: 2, page_count: 2 });
    expect((await user.client.get("/user/sessions?page=9")).json.pagination.total).toBe(3);
    for (const query of ["per_page=101", "per_page=0", "page=0"])
      expect((await user.client.get(`/user/sessions?${query}`)).status).toBe(400);

    const ended = await browsers[0]!.delete(`/user/sessions/${ids[0]}`);
    expect([ended.status, ended.json, ended.headers["set-cookie"]]).toEqual([200, "OK", undefined]);
    expect((await browsers[2]!.get("/user")).status).toBe(401);
    const out = await browsers[0]!.delete("/user/sessions/current");
    expect([out.status, out.json]).toEqual([200, "OK"]);
    expect(out.headers["set-cookie"]).toMatch(/^waybill-session=; Path=\/; .*Max-Age=0$/);
    expect((await browsers[0]!.get("/user")).status).toBe(401);
    const own = await browsers[1]!.delete(`/user/sessions/${ids[1]}`);
    expect(own.headers["set-cookie"]).toContain("Max-Age=0");
    expect((await user.client.get("/user/sessions")).json.data).toEqual([]);
    const { entries } = (await user.client.get(`/audit-log/${user.name}?resource_type=session`)).json;
    expect(entries.map((entry: { action: string }) => entry.action)).toEqual([
      "delete_user_session",
      "delete_current_user_session",
      "delete_user_session",
      ...Array.from({ length: 3 }, () => "create_user_session"),
    ]);
    expect(entries[0].resource).toBe(ids[1]);
  });

  it("are nobody else's to see or to end", async () => {
    const [user, other] = [await newcomer(), await newcomer()];
    const browser = await signIn(app, user.key);
    const { id } = browser.answer.json.session;
    expect((await other.client.get("/user/sessions")).json.data).toEqual([]);
    for (const path of [`/user/sessions/${id}`, "/user/sessions/nothing", "/user/sessions/current"]) {
      const answer = await other.client.delete(path);
      expect([answer.status, answer.json]).toEqual([404, { message: "Session not found" }]);
    }
    expect((await browser.get("/user")).status).toBe(200);
  });

  it("are a hundred at most: one more ends the one used longest ago", async () => {
    const user = await newcomer();
    const first = await signIn(app, user.key);
    for (let index = 0; index < 100; index += 1) {
      app.clock.advance(1);
      await signIn(app, user.key);
    }
    expect((await user.client.get("/user/sessions?per_page=100")).json.pagination.total).toBe(100);
    expect((await first.get("/user")).status).toBe(401);
    app.clock.advance(13 * hour);
    await signIn(app, user.key);
    const { n } = await app.deps.db.one(query({ n: integer })`
      select count(*)::integer as n from sessions where user_id = ${user.id}`);
    expect(n).toBe(1);
  });
});
