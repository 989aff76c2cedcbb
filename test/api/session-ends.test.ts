import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { fromSite, signIn, type TestBrowser } from "../support/sessions.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let org: TestOrg;
let other: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  other = await app.org();
});
afterAll(() => app.close());

async function memberOf(...orgs: TestOrg[]): Promise<TestUser> {
  const user = await app.user();
  for (const { name, admin } of orgs) await admin.put(`/members/${name}/${user.name}`, { role: "member" });
  return user;
}

const statusesOf = (browsers: readonly TestBrowser[]): Promise<number[]> =>
  Promise.all(browsers.map(async (browser) => (await browser.get("/user")).status));

async function revokedOf(user: TestUser): Promise<unknown[]> {
  const { rows } = await app.deps.db.pool.query(
    "select resource from audit_log where org_id = $1 and action = 'session_revoked' order by seq",
    [user.org_id],
  );
  return rows.map(({ resource }: { resource: string }) => resource);
}

describe("a user's last role", () => {
  it("takes all sessions along when it goes, and is recorded; one of several roles does not", async () => {
    const user = await memberOf(org, other);
    const browsers = [await signIn(app, user.key), await signIn(app, user.key)];
    await org.admin.delete(`/members/${org.name}/${user.name}`);
    expect(await statusesOf(browsers)).toEqual([200, 200]);
    await other.admin.delete(`/members/${other.name}/${user.name}`);
    expect(await statusesOf(browsers)).toEqual([401, 401]);
    expect(new Set(await revokedOf(user))).toEqual(
      new Set(browsers.map(({ answer }) => answer.json.session.id)),
    );
    expect((await user.client.get("/user")).status).toBe(200);
  });

  it("is seen to go by one of two who take the last two away at a time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const user = await memberOf(org, other);
      const browser = await signIn(app, user.key);
      const gone = await Promise.all([
        org.admin.delete(`/members/${org.name}/${user.name}`),
        other.admin.delete(`/members/${other.name}/${user.name}`),
      ]);
      expect(gone.map(({ status }) => status)).toEqual([200, 200]);
      expect(await statusesOf([browser])).toEqual([401]);
    }
  });

  it("is not the last one of who runs the installation", async () => {
    const root = await app.user({ instance_admin: true });
    await org.admin.put(`/members/${org.name}/${root.name}`, { role: "member" });
    const browser = await signIn(app, root.key);
    await org.admin.delete(`/members/${org.name}/${root.name}`);
    expect(await statusesOf([browser])).toEqual([200]);
  });
});

describe("the caller's other sessions", () => {
  it("end all at once, and this one stays; a key ends all", async () => {
    const user = await app.user();
    const browsers = [await signIn(app, user.key), await signIn(app, user.key), await signIn(app, user.key)];
    const answer = await browsers[1]!.delete("/user/sessions");
    expect([answer.status, answer.json, answer.headers["set-cookie"]]).toEqual([200, "OK", undefined]);
    expect(await statusesOf(browsers)).toEqual([401, 200, 401]);
    expect((await browsers[1]!.delete("/user/sessions")).status).toBe(200);
    await user.client.delete("/user/sessions");
    expect(await statusesOf(browsers)).toEqual([401, 401, 401]);
    const { entries } = (await user.client.get(`/audit-log/${user.name}?action=delete_user_sessions`)).json;
    expect(entries).toHaveLength(3);
  });

  it("are nobody else's", async () => {
    const browser = await signIn(app, (await app.user()).key);
    await (await app.user()).client.delete("/user/sessions");
    expect(await statusesOf([browser])).toEqual([200]);
  });
});

describe("the sessions of a member", () => {
  it("are listed to admins in pages, and ended by them; keys stay", async () => {
    const user = await memberOf(org);
    const browsers = [await signIn(app, user.key), await signIn(app, user.key)];
    const path = `/members/${org.name}/${user.name}/sessions`;
    const list = (await org.admin.get(path)).json;
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual(
      browsers.map(({ answer }) => answer.json.session.id).toReversed(),
    );
    expect(list.data[0]).toMatchObject({ is_current: false, issuer: null, proved_at: null });
    expect((await org.admin.get(`${path}?per_page=1&page=2`)).json).toMatchObject({
      data: [{ id: browsers[0]!.answer.json.session.id }],
      pagination: { total: 2, page: 2, per_page: 1, page_count: 2 },
    });
    expect((await org.admin.delete(path)).json).toBe("OK");
    expect(await statusesOf(browsers)).toEqual([401, 401]);
    expect((await user.client.get("/user")).status).toBe(200);
    const log = (await org.admin.get(`/audit-log/${org.name}?action=delete_member_sessions`)).json;
    expect(log.entries).toHaveLength(2);
  });

  it("are those of members alone", async () => {
    const stranger = await app.user();
    const browser = await signIn(app, stranger.key);
    for (const name of [stranger.name, uniqueName("nobody")])
      for (const ask of ["get", "delete"] as const) {
        const answer = await org.admin[ask](`/members/${org.name}/${name}/sessions`);
        expect([answer.status, answer.json.message]).toEqual([
          404,
          `User '${name}' is not a member of organization '${org.name}'`,
        ]);
      }
    expect(await statusesOf([browser])).toEqual([200]);
  });
});

describe("operations on sessions", () => {
  const foreign: Record<string, string> = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
  const operations: [string, string][] = [
    ["GET", "/user/sessions"],
    ["GET", "/user/identities"],
    ["DELETE", "/user/sessions"],
    ["DELETE", "/user/sessions/current"],
    ["DELETE", "/user/sessions/{id}"],
    ["GET", "/members/{org}/{user}/sessions"],
    ["DELETE", "/members/{org}/{user}/sessions"],
  ];

  /** What is sent with a request: the cookie of one admin, the key of another, or both; from our pages or from elsewhere. */
  it.each(operations)(
    "%s %s goes by the key where there is one, and takes a cookie of our pages alone",
    async (method, path) => {
      const [one, two] = [await memberOf(org), await memberOf(org)];
      for (const { name } of [one, two])
        await org.admin.put(`/members/${org.name}/${name}`, { role: "admin" });
      const target = await memberOf(org);
      const browser = await signIn(app, one.key);
      const own = (await signIn(app, two.key)).answer.json.session.id as string;
      const fill = (id: string): string =>
        path.replace("{org}", org.name).replace("{user}", target.name).replace("{id}", id);
      const ask = (id: string, headers: Record<string, string>): Promise<{ status: number }> =>
        app.anonymous.request(method, fill(id), { headers });
      const cookie = { cookie: browser.cookie };
      const bearer = { authorization: `Bearer ${two.key}` };
      const mine = browser.answer.json.session.id as string;
      // A key has no session of its own to end.
      const byKey = path === "/user/sessions/current" ? 404 : 200;
      expect((await ask(mine, { ...cookie, ...foreign })).status).toBe(403);
      expect((await ask(mine, cookie)).status).toBe(403);
      expect((await ask(mine, fromSite)).status).toBe(401);
      expect((await ask(mine, { authorization: "Bearer worthless", ...cookie, ...fromSite })).status).toBe(
        401,
      );
      for (const headers of [bearer, { ...bearer, ...foreign }, { ...bearer, ...cookie, ...foreign }])
        if (!path.includes("{id}")) expect((await ask(own, headers)).status).toBe(byKey);
      if (path.includes("{id}")) {
        expect((await ask(mine, { ...bearer, ...cookie, ...fromSite })).status).toBe(404);
        expect((await ask(own, { ...bearer, ...cookie, ...foreign })).status).toBe(200);
      }
      expect((await browser.get("/user")).status).toBe(200);
      expect((await ask(mine, { ...cookie, ...fromSite })).status).toBe(200);
    },
  );
});
