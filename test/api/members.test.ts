import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Setting {
  org: TestOrg;
  user: TestUser;
  path: string;
}

async function setting(): Promise<Setting> {
  const [org, user] = [await app.org(), await app.user({ display_name: "Ann" })];
  return { org, user, path: `/members/${org.name}/${user.name}` };
}

async function nameOfAdmin(org: TestOrg): Promise<string> {
  const members = await org.admin.get(`/members/${org.name}`);
  return members.json.find((member: { role: string }) => member.role === "admin").user;
}

describe("GET /members/{org}", () => {
  it("lists members by name to every role", async () => {
    const { org } = await setting();
    const answer = await org.reader.get(`/members/${org.name}`);
    const names = answer.json.map((member: { user: string }) => member.user);
    expect(names).toEqual([...names].sort((a: string, b: string) => (a < b ? -1 : 1)));
    expect(answer.json.map((member: { role: string }) => member.role)).toEqual(
      expect.arrayContaining(["admin", "member", "snapshotter", "reader"]),
    );
  });

  it("is closed to readers of a public organization without a role", async () => {
    const org = await app.org({ public: true });
    expect((await app.anonymous.get(`/members/${org.name}`)).status).toBe(401);
    const stranger = await app.user();
    expect((await stranger.client.get(`/members/${org.name}`)).status).toBe(403);
  });
});

describe("PUT /members/{org}/{user}", () => {
  it("adds, changes and repeats; the role acts at once; the date stays", async () => {
    const { org, user, path } = await setting();
    const added = await org.admin.put(path, { role: "reader" });
    expect(added.status).toBe(201);
    expect(added.json).toMatchObject({
      user: user.name,
      display_name: "Ann",
      role: "reader",
      disabled: false,
    });
    expect((await user.client.get(`/members/${org.name}`)).status).toBe(200);
    app.clock.advance(60);
    const changed = await org.admin.put(path, { role: "admin" });
    expect(changed.status).toBe(200);
    expect(changed.json).toEqual({ ...added.json, role: "admin" });
    expect((await user.client.get(`/audit-log/${org.name}`)).status).toBe(200);
    const repeated = await org.admin.put(path, { role: "admin" });
    expect([repeated.status, repeated.json]).toEqual([200, changed.json]);
    const list = await org.admin.get(`/members/${org.name}`);
    expect(list.json).toContainEqual(changed.json);
    const events = await org.admin.get(`/membership-audit-log/${org.name}?sort_dir=asc`);
    expect(events.json.entries).toMatchObject([
      { user: user.name, event_type: "added", role: "reader", previous_role: null, source: "app" },
      { user: user.name, event_type: "changed", role: "admin", previous_role: "reader" },
    ]);
    expect(events.json.entries[1].when).toBeGreaterThan(events.json.entries[0].when);
    const log = await org.admin.get(`/audit-log/${org.name}?resource_type=member`);
    expect(log.json.total_count).toBe(2);
  });

  it("refuses an unknown user and an unknown role", async () => {
    const { org, path } = await setting();
    const nobody = await org.admin.put(`/members/${org.name}/nobody`, { role: "reader" });
    expect([nobody.status, nobody.json]).toEqual([404, { message: "User 'nobody' does not exist" }]);
    const role = await org.admin.put(path, { role: "boss" });
    expect(role.json.errors).toEqual({
      role: "Input should be 'admin', 'member', 'snapshotter' or 'reader' [input: boss]",
    });
  });

  it("adds one user many times at once only once", async () => {
    const { org, path } = await setting();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => org.admin.put(path, { role: "reader" })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 200, 200, 201]);
    const events = await org.admin.get(`/membership-audit-log/${org.name}`);
    expect(events.json.total_count).toBe(1);
  });

  it("refuses personal organizations", async () => {
    const [owner, guest] = [await app.user(), await app.user()];
    const answer = await owner.client.put(`/members/${owner.name}/${guest.name}`, { role: "reader" });
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "Members are not available in personal organizations" },
    ]);
  });
});

describe("DELETE /members/{org}/{user}", () => {
  it("removes a member at once, and only once", async () => {
    const { org, user, path } = await setting();
    await org.admin.put(path, { role: "member" });
    const removed = await org.admin.delete(path);
    expect([removed.status, removed.json]).toEqual([200, "OK"]);
    const denied = await user.client.get(`/members/${org.name}`);
    expect(denied.json).toEqual({ message: `Access denied to /api/v2/members/${org.name}` });
    const again = await org.admin.delete(path);
    expect([again.status, again.json]).toEqual([
      404,
      { message: `User '${user.name}' is not a member of organization '${org.name}'` },
    ]);
    const events = await org.admin.get(`/membership-audit-log/${org.name}`);
    expect(events.json.entries[0]).toMatchObject({
      event_type: "removed",
      role: null,
      previous_role: "member",
      user: user.name,
    });
  });
});

describe("the last admin", () => {
  it("can be neither removed nor demoted", async () => {
    const { org } = await setting();
    const admin = await nameOfAdmin(org);
    const message = `'${admin}' is the last admin of organization '${org.name}' and cannot be removed or demoted`;
    for (const answer of [
      await org.admin.delete(`/members/${org.name}/${admin}`),
      await org.admin.put(`/members/${org.name}/${admin}`, { role: "member" }),
    ])
      expect([answer.status, answer.json]).toEqual([400, { message }]);
    expect((await org.admin.get(`/audit-log/${org.name}`)).json.total_count).toBe(0);
  });

  it("is who can act: a disabled admin does not count", async () => {
    const { org, user, path } = await setting();
    const admin = await nameOfAdmin(org);
    await org.admin.put(path, { role: "admin" });
    await app.deps.db.pool.query("update users set disabled_at = now() where id = $1", [user.id]);
    expect((await org.admin.delete(`/members/${org.name}/${admin}`)).status).toBe(400);
  });

  it("survives two admins who remove each other at the same moment", async () => {
    const { org, user, path } = await setting();
    const admin = await nameOfAdmin(org);
    await org.admin.put(path, { role: "admin" });
    const answers = await Promise.all([
      user.client.delete(`/members/${org.name}/${admin}`),
      org.admin.delete(path),
      user.client.put(`/members/${org.name}/${admin}`, { role: "reader" }),
      org.admin.put(path, { role: "reader" }),
    ]);
    for (const { status } of answers) expect(status).toBeLessThan(500);
    const { rows } = await app.deps.db.pool.query(
      "select 1 from memberships where org_id = $1 and role = 'admin'",
      [org.id],
    );
    expect(rows).toHaveLength(1);
  });
});

describe("GET /membership-audit-log/{org}", () => {
  let org: TestOrg;
  let users: TestUser[];
  let start: number;
  const read = async (query: string) =>
    (await org.admin.get(`/membership-audit-log/${org.name}${query}`)).json;
  const summary = async (query: string): Promise<string[]> =>
    (await read(query)).entries.map(
      (entry: { user: string; event_type: string }) =>
        `${entry.event_type} ${users.findIndex(({ name }) => name === entry.user)}`,
    );

  beforeAll(async () => {
    org = await app.org();
    users = [await app.user(), await app.user()];
    start = app.clock.now();
    const put = async (index: number, role: string): Promise<void> => {
      app.clock.advance(10);
      await org.admin.put(`/members/${org.name}/${users[index]!.name}`, { role });
    };
    await put(0, "reader");
    await put(1, "member");
    await put(0, "snapshotter");
    app.clock.advance(10);
    await org.admin.delete(`/members/${org.name}/${users[1]!.name}`);
  });

  it("is newest first, in an envelope", async () => {
    const log = await read("");
    expect(log).toMatchObject({ page: 1, per_page: 15, total_pages: 1, total_count: 4 });
    expect(Object.keys(log._links).sort()).toEqual(["first", "last", "self"]);
    expect(await summary("")).toEqual(["removed 1", "changed 0", "added 1", "added 0"]);
  });

  it("pages without repeating or skipping", async () => {
    expect(await summary("?per_page=3")).toEqual(["removed 1", "changed 0", "added 1"]);
    expect(await summary("?per_page=3&page=2")).toEqual(["added 0"]);
    expect(await summary("?per_page=3&page=3")).toEqual([]);
    const log = await read("?per_page=3&page=2");
    expect(log.total_pages).toBe(2);
    expect(log._links.prev.href).toContain("page=1");
  });

  it.each([
    ["?event_type=added", ["added 1", "added 0"]],
    ["?role=reader", ["added 0"]],
    ["?role=reader&role=snapshotter", ["changed 0", "added 0"]],
    ["?role=unheard-of", []],
    ["?source=app", ["removed 1", "changed 0", "added 1", "added 0"]],
    ["?source=scim&source=script", []],
    ["?sort_by=when&sort_dir=asc", ["added 0", "added 1", "changed 0", "removed 1"]],
    ["?sort_by=role&sort_dir=asc", ["added 1", "added 0", "changed 0", "removed 1"]],
    ["?sort_by=role&sort_dir=desc", ["changed 0", "added 0", "added 1", "removed 1"]],
    ["?sort_by=source&sort_dir=asc", ["added 0", "added 1", "changed 0", "removed 1"]],
    ["?sort_by=changed_by&sort_dir=desc", ["removed 1", "changed 0", "added 1", "added 0"]],
  ])("answers %s", async (query, expected) => {
    expect(await summary(query)).toEqual(expected);
  });

  it("sorts by user", async () => {
    const [first, second] = users[0]!.name < users[1]!.name ? [0, 1] : [1, 0];
    const sorted = (await summary("?sort_by=user&sort_dir=asc")).map((line) => Number(line.at(-1)));
    expect(sorted).toEqual([first, first, second, second]);
  });

  it("searches affected user and actor, whatever the case, and takes wildcards literally", async () => {
    expect(await summary(`?search=${users[1]!.name.toUpperCase()}`)).toEqual(["removed 1", "added 1"]);
    const actor = (await read("")).entries[0].changed_by;
    expect(await summary(`?search=${actor}`)).toHaveLength(4);
    expect(await summary("?search=%25")).toEqual([]);
    expect(await summary("?search=%5C")).toEqual([]);
  });

  it("bounds the time on both sides, inclusively", async () => {
    const log = (await read("")).entries;
    expect(await summary(`?from_timestamp=${log[1].when}`)).toEqual(["removed 1", "changed 0"]);
    expect(await summary(`?to_timestamp=${log[2].when}`)).toEqual(["added 1", "added 0"]);
    expect(await summary(`?from_timestamp=0&to_timestamp=${Math.floor(start)}`)).toEqual([]);
  });

  it.each([
    ["?event_type=renamed", "query.event_type", "Input should be 'added', 'changed' or 'removed'"],
    ["?sort_by=age", "query.sort_by", "Input should be 'when', 'user', 'role', 'changed_by' or 'source'"],
    ["?sort_dir=up", "query.sort_dir", "Input should be 'asc' or 'desc'"],
    ["?per_page=101", "query.per_page", "Input should be less than or equal to 100"],
    ["?per_page=0", "query.per_page", "Input should be greater than or equal to 1"],
    ["?from_timestamp=soon", "query.from_timestamp", "Input should be a valid number"],
    ["?search=%00", "query.search", "Text must not contain NUL"],
  ])("refuses %s", async (query, location, reason) => {
    const answer = await org.admin.get(`/membership-audit-log/${org.name}${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors[location]).toContain(reason);
  });

  it("is for admins", async () => {
    for (const client of [org.member, org.snapshotter, org.reader])
      expect((await client.get(`/membership-audit-log/${org.name}`)).status).toBe(403);
  });
});
