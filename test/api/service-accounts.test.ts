import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { roleAllows, roles } from "../../src/domain/roles.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const denied = [403, { message: "You don't have permission to access this resource" }];
const unknown = [404, { message: "Service account not found" }];
const creators = ["admin", "member", "snapshotter"] as const;

/** Changes the role of whoever this client is. */
async function setRole(org: TestOrg, from: string, to: string): Promise<void> {
  await app.deps.db.pool.query("update memberships set role = $3 where org_id = $1 and role = $2", [
    org.id,
    from,
    to,
  ]);
}

describe("POST /service-accounts/{org}", () => {
  it("makes an account without keys, with defaults", async () => {
    const org = await app.org();
    const before = app.clock.now();
    const answer = await org.admin.post(`/service-accounts/${org.name}`, { name: "ci-bot", extra: 1 });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      name: "ci-bot",
      display_name: "ci-bot",
      description: "",
      privilege: "reader",
      for_webhook: false,
    });
    expect(answer.json.created_at).toBeGreaterThanOrEqual(before);
    expect(answer.json.creating_user_id).toMatch(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/);
    const path = `/service-accounts/${org.name}/ci-bot`;
    expect((await org.reader.get(path)).json).toEqual(answer.json);
    expect((await org.admin.get(`${path}/api-keys`)).json).toEqual([]);
    const log = await org.admin.get(`/audit-log/${org.name}`);
    expect(log.json.entries).toMatchObject([
      { action: "create_service_account", resource_type: "service_account", resource: "ci-bot" },
    ]);
  });

  it.each(creators.flatMap((caller) => roles.map((privilege) => [caller, privilege] as const)))(
    "lets a %s make a %s only up to the own role",
    async (caller, privilege) => {
      const org = await app.org();
      const answer = await org[caller].post(`/service-accounts/${org.name}`, { name: "bot", privilege });
      if (roleAllows(caller, privilege)) expect(answer.status).toBe(201);
      else expect([answer.status, answer.json]).toEqual(denied);
    },
  );

  it("refuses readers", async () => {
    const org = await app.org();
    const answer = await org.reader.post(`/service-accounts/${org.name}`, { name: "bot" });
    expect([answer.status, answer.json]).toEqual(denied);
  });

  it("refuses personal organizations, whose list is empty", async () => {
    const user = await app.user();
    const answer = await user.client.post(`/service-accounts/${user.name}`, { name: "bot" });
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "Service accounts are not available in personal organizations" },
    ]);
    expect((await user.client.get(`/service-accounts/${user.name}`)).json).toEqual([]);
  });

  it("refuses a name in use, also when asked many times at once; another organization may use it", async () => {
    const [org, other] = [await app.org(), await app.org()];
    const post = () => org.admin.post(`/service-accounts/${org.name}`, { name: "bot" });
    const answers = await Promise.all(Array.from({ length: 5 }, post));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 400, 400, 400, 400]);
    expect((await post()).json).toEqual({
      message: `A service account named 'bot' already exists in organization '${org.name}'`,
    });
    expect((await other.admin.post(`/service-accounts/${other.name}`, { name: "bot" })).status).toBe(201);
  });

  it.each([
    [{}, "name", "Field required [input: None]"],
    [{ name: "a b" }, "name", "String should match pattern '^[a-zA-Z0-9\\-]+$' [input: a b]"],
    [{ name: "" }, "name", "String should have at least 1 character [input: ]"],
    [
      { name: "x", privilege: "boss" },
      "privilege",
      "Input should be 'admin', 'member', 'snapshotter' or 'reader'",
    ],
    [{ name: "x", description: "d".repeat(513) }, "description", "String should have at most 512 characters"],
    [{ name: "x".repeat(65) }, "name", "String should have at most 64 characters"],
  ])("refuses %j", async (body, location, reason) => {
    const org = await app.org();
    const answer = await org.admin.post(`/service-accounts/${org.name}`, body);
    expect([answer.status, answer.json.message]).toEqual([400, "Input payload validation failed"]);
    expect(answer.json.errors[location]).toContain(reason);
  });

  it("lets a service account make others, and manage those alone", async () => {
    const org = await app.org();
    const base = `/service-accounts/${org.name}`;
    await org.admin.post(base, { name: "maker", privilege: "member" });
    const key = await org.admin.post(`${base}/maker/api-keys`, { description: "x" });
    const maker = app.as(key.json.key);
    expect((await maker.post(base, { name: "made", privilege: "member" })).status).toBe(201);
    expect((await maker.post(base, { name: "more", privilege: "admin" })).status).toBe(403);
    expect((await maker.post(`${base}/made/api-keys`, { description: "x" })).status).toBe(201);
    expect((await maker.post(`${base}/maker/api-keys`, { description: "x" })).status).toBe(403);
  });
});

describe("GET /service-accounts/{org}", () => {
  it("is a plain array by name, [] when there are none", async () => {
    const org = await app.org();
    const base = `/service-accounts/${org.name}`;
    expect((await org.reader.get(base)).json).toEqual([]);
    for (const name of ["b", "a", "C"]) await org.admin.post(base, { name });
    const names = (await org.reader.get(base)).json.map((account: { name: string }) => account.name);
    expect(names).toEqual(["C", "a", "b"]);
  });

  it("is closed to who has no role, also in a public organization", async () => {
    const org = await app.org({ public: true });
    const stranger = await app.user();
    expect((await app.anonymous.get(`/service-accounts/${org.name}`)).status).toBe(401);
    expect((await stranger.client.get(`/service-accounts/${org.name}`)).status).toBe(403);
  });
});

describe("one account that does not exist", () => {
  it("is 404 to every call, and a malformed name is 400 where the path says so", async () => {
    const org = await app.org();
    const path = `/service-accounts/${org.name}/ghost`;
    const keyPath = `${path}/api-keys/00000000-0000-0000-0000-00000000`;
    const answers = [
      await org.admin.get(path),
      await org.admin.patch(path, {}),
      await org.admin.delete(path),
      await org.admin.get(`${path}/api-keys`),
      await org.admin.post(`${path}/api-keys`, { description: "x" }),
      await org.admin.get(keyPath),
      await org.admin.post(`${keyPath}/rotate`, {}),
      await org.admin.delete(keyPath),
      await org.admin.get(`/service-accounts/${org.name}/a%20b/api-keys`),
    ];
    for (const answer of answers) expect([answer.status, answer.json]).toEqual(unknown);
    const malformed = await org.admin.get(`/service-accounts/${org.name}/a%20b`);
    expect(malformed.json.errors).toEqual({
      "path.name": "String should match pattern '^[a-zA-Z0-9\\-]+$' [input: a b]",
    });
  });

  it("is nobody's of another organization", async () => {
    const [org, other] = [await app.org(), await app.org()];
    await other.admin.post(`/service-accounts/${other.name}`, { name: "bot" });
    const answer = await org.admin.get(`/service-accounts/${org.name}/bot`);
    expect([answer.status, answer.json]).toEqual(unknown);
  });
});

describe("PATCH /service-accounts/{org}/{name}", () => {
  async function account(privilege = "reader") {
    const org = await app.org();
    const base = `/service-accounts/${org.name}`;
    await org.member.post(base, { name: "bot", description: "d", privilege });
    return { org, path: `${base}/bot` };
  }

  it("changes what is given; null clears the description and keeps the privilege", async () => {
    const { org, path } = await account();
    const before = (await org.admin.get(path)).json;
    const promoted = await org.admin.patch(path, { privilege: "admin" });
    expect(promoted.json).toEqual({ ...before, privilege: "admin" });
    const cleared = await org.admin.patch(path, { description: null, privilege: null });
    expect(cleared.json).toEqual({ ...before, privilege: "admin", description: "" });
    expect((await org.admin.patch(path, {})).json).toEqual(cleared.json);
    const log = await org.admin.get(`/audit-log/${org.name}?action=update_service_account`);
    expect(log.json.total_count).toBe(2);
  });

  it("gives the account's keys the new privilege at once", async () => {
    const { org, path } = await account();
    const { key } = (await org.admin.post(`${path}/api-keys`, { description: "x" })).json;
    const bot = app.as(key);
    expect((await bot.get(`/audit-log/${org.name}`)).status).toBe(403);
    await org.admin.patch(path, { privilege: "admin" });
    expect((await bot.get(`/audit-log/${org.name}`)).status).toBe(200);
  });

  it("lets the creator change the description and not the privilege", async () => {
    const { org, path } = await account();
    expect((await org.member.patch(path, { description: "new", privilege: "reader" })).status).toBe(200);
    const answer = await org.member.patch(path, { description: "other", privilege: "snapshotter" });
    expect([answer.status, answer.json]).toEqual(denied);
    expect((await org.admin.get(path)).json).toMatchObject({ description: "new", privilege: "reader" });
  });

  it("refuses others", async () => {
    const { org, path } = await account();
    for (const client of [org.snapshotter, org.reader]) {
      const answer = await client.patch(path, { description: "x" });
      expect([answer.status, answer.json]).toEqual(denied);
    }
  });

  it("refuses a creator who is only a reader by now", async () => {
    const { org, path } = await account();
    await setRole(org, "member", "reader");
    expect((await org.member.patch(path, { description: "x" })).status).toBe(403);
  });
});

describe("DELETE /service-accounts/{org}/{name}", () => {
  it("ends the account and its keys at once, only once, and frees the name", async () => {
    const org = await app.org();
    const base = `/service-accounts/${org.name}`;
    await org.snapshotter.post(base, { name: "bot", privilege: "snapshotter" });
    const { key } = (await org.snapshotter.post(`${base}/bot/api-keys`, { description: "x" })).json;
    expect((await app.as(key).get(base)).status).toBe(200);
    expect((await org.member.delete(`${base}/bot`)).status).toBe(403);
    const removed = await org.snapshotter.request("DELETE", `${base}/bot`, {
      payload: "null",
      headers: { "content-type": "application/json; charset=utf-8" },
    });
    expect([removed.status, removed.json]).toEqual([200, "OK"]);
    expect((await app.as(key).get(base)).status).toBe(401);
    const again = await org.snapshotter.delete(`${base}/bot`);
    expect([again.status, again.json]).toEqual(unknown);
    expect((await org.reader.get(base)).json).toEqual([]);
    expect((await org.admin.post(base, { name: "bot" })).status).toBe(201);
    expect((await org.admin.get(`${base}/bot/api-keys`)).json).toEqual([]);
    expect((await app.as(key).get(base)).status).toBe(401);
  });
});

describe("whose keys an account's are", () => {
  it("only its creator and admins see and make them", async () => {
    const org = await app.org();
    const base = `/service-accounts/${org.name}/bot`;
    await org.snapshotter.post(`/service-accounts/${org.name}`, { name: "bot", privilege: "reader" });
    const { id } = (await org.snapshotter.post(`${base}/api-keys`, { description: "x" })).json;
    for (const client of [org.member, org.reader])
      for (const answer of [
        await client.get(`${base}/api-keys`),
        await client.get(`${base}/api-keys/${id}`),
        await client.post(`${base}/api-keys`, { description: "x" }),
        await client.post(`${base}/api-keys/${id}/rotate`, {}),
        await client.delete(`${base}/api-keys/${id}`),
      ])
        expect([answer.status, answer.json]).toEqual(denied);
    for (const client of [org.admin, org.snapshotter]) {
      expect((await client.get(`${base}/api-keys`)).json).toHaveLength(1);
      expect((await client.get(`${base}/api-keys/${id}`)).status).toBe(200);
    }
  });

  it("a creator weaker than the account sees and ends its keys, but makes none", async () => {
    const org = await app.org();
    const base = `/service-accounts/${org.name}/bot`;
    await org.member.post(`/service-accounts/${org.name}`, { name: "bot", privilege: "member" });
    const { id } = (await org.member.post(`${base}/api-keys`, { description: "x" })).json;
    await org.admin.patch(base, { privilege: "admin" });
    expect((await org.member.post(`${base}/api-keys`, { description: "x" })).status).toBe(403);
    expect((await org.member.post(`${base}/api-keys/${id}/rotate`, {})).status).toBe(403);
    expect((await org.member.get(`${base}/api-keys`)).json).toHaveLength(1);
    expect((await org.member.delete(`${base}/api-keys/${id}`)).status).toBe(200);
  });
});
