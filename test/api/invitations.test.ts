import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { switchUser } from "../../src/cli/admin-identity.ts";
import { print } from "../../src/cli/output.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer, Client } from "../support/client.ts";
import { browserOf, fromSite } from "../support/sessions.ts";
import { uniqueName } from "../support/unique-name.ts";

const day = 24 * 3600;
const refused = { message: "Invalid or missing credentials" };

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  vi.spyOn(print, "line").mockImplementation(() => {});
});
beforeEach(async () => {
  // What failed before is forgotten.
  app.clock.advance(61);
  org = await app.org();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await app.close();
});

const path = (): string => `/members/${org.name}/invitations`;

function invite(input: Record<string, unknown> = {}, client: Client = org.admin): Promise<Answer> {
  return client.post(path(), { user: uniqueName("guest"), role: "member", ...input });
}

function accept(token: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return app.anonymous.request("POST", "/invitations/accept", {
    json: { token, ...more },
    headers: fromSite,
  });
}

async function open(): Promise<string[]> {
  return (await org.admin.get(path())).json.data.map(({ user }: { user: string }) => user);
}

describe("POST /members/{org}/invitations", () => {
  it("answers a link that works for seven days, whose token is kept nowhere", async () => {
    const user = uniqueName("guest");
    const answer = await invite({ user, email: `${user}@example.org`, role: "snapshotter" });
    expect(answer.status).toBe(201);
    const { token, link, ...shown } = answer.json;
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(link).toBe(`http://waybill.test/-/invitation#token=${token}`);
    expect(shown).toMatchObject({ user, email: `${user}@example.org`, role: "snapshotter" });
    expect(shown.expires_at).toBeCloseTo(shown.created_at + 7 * day, 3);
    expect((await org.admin.get(path())).json).toEqual({
      data: [shown],
      pagination: { total: 1, page: 1, per_page: 20, page_count: 1 },
    });
    const { rows } = await app.deps.db.pool.query("select i::text as row from invitations i");
    expect(JSON.stringify(rows)).not.toContain(token);
    const { entries } = (await org.admin.get(`/audit-log/${org.name}?resource_type=invitation`)).json;
    expect(entries).toMatchObject([{ action: "create_invitation", resource: user }]);
    expect(app.logged()).not.toContain(token);
  });

  it("is for those alone who are no users: a link never lets anybody act as somebody who is there", async () => {
    const there = await app.user();
    const answer = await invite({ user: there.name });
    expect([answer.status, answer.json]).toEqual([400, { message: `User '${there.name}' exists already` }]);
    const taken = await invite({ user: org.name });
    expect([taken.status, taken.json]).toEqual([400, { message: `The name '${org.name}' is already taken` }]);
    const reserved = await invite({ user: "api" });
    expect([reserved.status, reserved.json]).toEqual([400, { message: "The name 'api' is reserved" }]);
    expect(await open()).toEqual([]);
  });

  it.each([{ user: "-x" }, { user: "" }, { user: "x".repeat(129) }, { email: "nobody" }, { role: "root" }])(
    "refuses %j",
    async (input) => {
      const answer = await invite(input);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.json.errors)).toEqual(Object.keys(input));
    },
  );

  it("is not for personal organizations", async () => {
    const user = await app.user();
    const answer = await user.client.post(`/members/${user.name}/invitations`, { user: "x", role: "reader" });
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "Members are not available in personal organizations" },
    ]);
  });

  it("takes the place of an earlier one for the same name", async () => {
    const user = uniqueName("guest");
    const first = (await invite({ user, role: "admin" })).json;
    const second = (await invite({ user, role: "reader" })).json;
    expect(await open()).toEqual([user]);
    expect((await accept(first.token)).status).toBe(401);
    expect((await accept(second.token)).status).toBe(201);
    const members = (await org.admin.get(`/members/${org.name}`)).json;
    expect(members.find((one: { user: string }) => one.user === user).role).toBe("reader");
  });

  it("leaves at most a hundred open", async () => {
    for (let index = 0; index < 100; index += 1) expect((await invite()).status).toBe(201);
    const answer = await invite();
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "An organization has at most 100 open invitations" },
    ]);
    const names = await open();
    expect(names).toHaveLength(20);
    expect((await invite({ user: names[0] })).status).toBe(201);
    const last = (await org.admin.get(`${path()}?page=2&per_page=60`)).json;
    expect([last.data.length, last.pagination]).toEqual([
      40,
      { total: 100, page: 2, per_page: 60, page_count: 2 },
    ]);
    app.clock.advance(7 * day);
    expect((await invite()).status).toBe(201);
  });
});

describe("DELETE /members/{org}/invitations/{invitation_id}", () => {
  it("takes one back", async () => {
    const { id, token, user } = (await invite()).json;
    expect((await org.admin.delete(`${path()}/${id}`)).json).toBe("OK");
    expect(await open()).toEqual([]);
    expect((await accept(token)).status).toBe(401);
    for (const gone of [id, "nothing"]) {
      const answer = await org.admin.delete(`${path()}/${gone}`);
      expect([answer.status, answer.json]).toEqual([404, { message: "Invitation not found" }]);
    }
    const { entries } = (await org.admin.get(`/audit-log/${org.name}?action=delete_invitation`)).json;
    expect(entries).toMatchObject([{ resource_type: "invitation", resource: user }]);
  });

  it("is not for those of others", async () => {
    const { id, token } = (await invite()).json;
    const other = await app.org();
    expect((await other.admin.get(`/members/${other.name}/invitations`)).json.data).toEqual([]);
    expect((await other.admin.delete(`/members/${other.name}/invitations/${id}`)).status).toBe(404);
    expect((await accept(token)).status).toBe(201);
  });
});

describe("POST /invitations/accept", () => {
  it("makes the user and the membership, and signs them in", async () => {
    const user = uniqueName("guest");
    const { token, invited_by } = (await invite({ user, email: `${user}@example.org` })).json;
    const browser = browserOf(app, await accept(token, { display_name: "Gus Guest" }));
    expect(browser.answer.json).toMatchObject({
      kind: "user",
      name: user,
      display_name: "Gus Guest",
      // An administrator said so, not the owner of the mailbox.
      email: "",
      is_instance_admin: false,
      default_org_name: org.name,
      session: { api_key_id: null, is_current: true },
    });
    const own = (await browser.get("/organizations")).json;
    expect(own.map(({ name, role }: { name: string; role: string }) => [name, role])).toEqual(
      expect.arrayContaining([
        [user, "admin"],
        [org.name, "member"],
      ]),
    );
    const events = (await org.admin.get(`/membership-audit-log/${org.name}?search=${user}`)).json.entries;
    expect(events).toMatchObject([
      { user, role: "member", event_type: "added", changed_by: invited_by, source: "app" },
    ]);
    const { entries } = (await org.admin.get(`/audit-log/${org.name}?action=accept_invitation`)).json;
    expect(entries).toMatchObject([
      {
        actor: "Gus Guest",
        actor_kind: "user",
        resource_type: "member",
        resource: user,
        request_digest: null,
      },
    ]);
    const personal = (await browser.get(`/audit-log/${user}?sort_direction=asc`)).json.entries;
    expect(personal.map((entry: { resource_type: string }) => entry.resource_type)).toEqual([
      "session",
      "user",
    ]);
    const made = await browser.request("POST", "/user/api-keys", { json: { description: "first" } });
    expect((await app.as(made.json.key).get(`/environments/${org.name}`)).status).toBe(200);
    expect(app.logged()).not.toContain(token);
  });

  it("works once, also when it is sent twice at a time", async () => {
    const { token } = (await invite()).json;
    const answers = await Promise.all([1, 2, 3].map(() => accept(token)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401, 401]);
    expect(answers.find(({ status }) => status === 401)?.json).toEqual(refused);
    expect(await open()).toEqual([]);
  });

  it("is refused after seven days", async () => {
    const { token } = (await invite()).json;
    app.clock.advance(7 * day + 1);
    expect(await open()).toEqual([]);
    expect((await accept(token)).status).toBe(401);
  });

  it("is refused once who invited is no admin any more, or may not act", async () => {
    const [second, third] = [await app.user(), await app.user()];
    for (const { name } of [second, third])
      await org.admin.put(`/members/${org.name}/${name}`, { role: "admin" });
    const demoted = (await invite({}, second.client)).json;
    const disabled = (await invite({}, third.client)).json;
    await org.admin.put(`/members/${org.name}/${second.name}`, { role: "member" });
    await switchUser(app.deps, third.name, { disabled: true });
    expect(await open()).toEqual([]);
    for (const { token } of [demoted, disabled]) expect((await accept(token)).status).toBe(401);
  });

  it("takes the invitation of a service account that is admin, while it is there", async () => {
    const account = `/service-accounts/${org.name}`;
    await org.admin.post(account, { name: "robot", privilege: "admin" });
    const { key } = (await org.admin.post(`${account}/robot/api-keys`, { description: "x" })).json;
    const [first, second] = [await invite({}, app.as(key)), await invite({}, app.as(key))];
    expect((await accept(first.json.token)).status).toBe(201);
    await org.admin.delete(`${account}/robot`);
    expect((await accept(second.json.token)).status).toBe(401);
  });

  it("changes nothing when the name was taken meanwhile, and works when it is free again", async () => {
    const user = uniqueName("guest");
    const other = await app.org();
    const mine = (await invite({ user })).json;
    const theirs = await other.admin.post(`/members/${other.name}/invitations`, { user, role: "reader" });
    expect((await accept(theirs.json.token)).status).toBe(201);
    const answer = await accept(mine.token);
    expect([answer.status, answer.json]).toEqual([400, { message: `The name '${user}' is already taken` }]);
    expect(answer.headers["set-cookie"]).toBeUndefined();
    const members = (await org.admin.get(`/members/${org.name}`)).json;
    expect(members.map((one: { user: string }) => one.user)).not.toContain(user);
    expect(await open()).toEqual([user]);
  });

  it("is counted as a failure to sign in", async () => {
    const answers = await Promise.all(Array.from({ length: 11 }, () => accept("no-such-token")));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  });

  it.each([{}, { token: "" }, { token: "x".repeat(513) }, { token: 1 }])(
    "refuses the body %j",
    async (json) => {
      const answer = await app.anonymous.request("POST", "/invitations/accept", { json, headers: fromSite });
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain("xxxx");
    },
  );
});
