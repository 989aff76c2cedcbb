import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestUser } from "../support/app.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let root: TestUser;
beforeAll(async () => {
  app = await startTestApp();
  root = await app.user({ instance_admin: true });
});
afterAll(() => app.close());

describe("GET /organizations/{org}", () => {
  it("shows a shared organization to every member", async () => {
    const org = await app.org();
    const answer = await org.reader.get(`/organizations/${org.name}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      name: org.name,
      kind: "shared",
      experimental_features_enabled: false,
    });
  });

  it("shows a public organization to anybody, with no or bogus credentials", async () => {
    const org = await app.org({ public: true });
    expect((await app.anonymous.get(`/organizations/${org.name}`)).status).toBe(200);
    expect((await app.as("bogus").get(`/organizations/${org.name}`)).status).toBe(200);
  });

  it("denies a foreign organization and one that does not exist alike", async () => {
    const org = await app.org();
    const stranger = await app.user();
    for (const name of [org.name, "no-such-org"]) {
      const answer = await stranger.client.get(`/organizations/${name}`);
      expect(answer.status).toBe(403);
      expect(answer.json).toEqual({ message: `Access denied to /api/v2/organizations/${name}` });
    }
  });

  it("asks for credentials", async () => {
    const org = await app.org();
    const answer = await app.anonymous.get(`/organizations/${org.name}`);
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.json).toEqual({ message: "Invalid or missing credentials" });
  });
});

describe("GET /organizations", () => {
  it("lists the caller's own, by name, with the role", async () => {
    const user = await app.user();
    const name = uniqueName("zz");
    await root.client.post("/organizations", { name });
    await root.client.put(`/members/${name}/${user.name}`, { role: "reader" });
    await app.org({ public: true });
    const answer = await user.client.get("/organizations");
    expect(answer.json.map((org: { name: string; role: string }) => [org.name, org.role])).toEqual([
      [user.name, "admin"],
      [name, "reader"],
    ]);
  });

  it("lists the one organization of a service account", async () => {
    const org = await app.org();
    await org.admin.post(`/service-accounts/${org.name}`, { name: "ci", privilege: "member" });
    const key = await org.admin.post(`/service-accounts/${org.name}/ci/api-keys`, { description: "x" });
    const answer = await app.as(key.json.key).get("/organizations");
    expect(answer.json).toMatchObject([{ name: org.name, role: "member" }]);
  });
});

describe("POST /organizations", () => {
  it("makes a shared organization with the caller as admin", async () => {
    const name = uniqueName("fresh");
    const answer = await root.client.post("/organizations", {
      name,
      display_name: "Fresh",
      description: "Bread",
      public: true,
    });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      name,
      kind: "shared",
      display_name: "Fresh",
      description: "Bread",
      public: true,
    });
    expect((await root.client.get(`/organizations/${name}`)).json).toEqual(answer.json);
    const members = await root.client.get(`/members/${name}`);
    expect(members.json).toMatchObject([{ user: root.name, role: "admin" }]);
    const events = await root.client.get(`/membership-audit-log/${name}`);
    expect(events.json.entries).toMatchObject([
      { user: root.name, role: "admin", previous_role: null, event_type: "added", source: "app" },
    ]);
    const log = await root.client.get(`/audit-log/${name}`);
    expect(log.json.entries).toMatchObject([
      { seq: 1, action: "create_organization", resource_type: "organization", resource: name },
    ]);
  });

  it("makes another user its admin, and the caller nothing", async () => {
    const owner = await app.user();
    const name = uniqueName("fresh");
    const answer = await root.client.post("/organizations", { name, owner: owner.name });
    expect(answer.status).toBe(201);
    expect((await owner.client.get(`/members/${name}`)).json).toMatchObject([{ user: owner.name }]);
    expect((await root.client.get(`/organizations/${name}`)).status).toBe(403);
  });

  it("refuses an unknown owner and leaves nothing", async () => {
    const name = uniqueName("fresh");
    const answer = await root.client.post("/organizations", { name, owner: "nobody-here" });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual({
      owner: "User 'nobody-here' does not exist [input: nobody-here]",
    });
    expect((await root.client.post("/organizations", { name })).status).toBe(201);
  });

  it("is for instance administrators", async () => {
    const user = await app.user();
    const answer = await user.client.post("/organizations", { name: uniqueName("fresh") });
    expect(answer.status).toBe(403);
    expect(answer.json.message).toBe("You don't have permission to access this resource");
  });

  it("refuses a name that an organization or a user has", async () => {
    const user = await app.user();
    const org = await app.org();
    for (const name of [user.name, org.name]) {
      const answer = await root.client.post("/organizations", { name });
      expect([answer.status, answer.json]).toEqual([400, { message: `The name '${name}' is already taken` }]);
    }
  });

  it.each(["api", "live", "ready", "metrics", "favicon.ico", "robots.txt"])(
    "refuses '%s', where pages of an organization would be in the way; one that has the name keeps it",
    async (name) => {
      const answer = await root.client.post("/organizations", { name });
      expect([answer.status, answer.json]).toEqual([400, { message: `The name '${name}' is reserved` }]);
      const org = await app.org();
      await app.deps.db.pool.query("update organizations set name = $1 where id = $2", [name, org.id]);
      expect((await org.admin.get(`/organizations/${name}`)).json.name).toBe(name);
      const changed = await org.admin.patch(`/organizations/${name}`, { description: "still here" });
      expect(changed.status).toBe(200);
    },
  );

  it("makes one of many asked for at once, and refuses the others", async () => {
    const name = uniqueName("race");
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => root.client.post("/organizations", { name })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 400, 400, 400, 400, 400]);
  });

  it.each([
    ["-x", "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.]*$' [input: -x]"],
    ["", "String should have at least 1 character [input: ]"],
  ])("refuses the name %j", async (name, reason) => {
    const answer = await root.client.post("/organizations", { name });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual({ name: reason });
  });

  it("limits the length of the name", async () => {
    const long = "a".repeat(129);
    const answer = await root.client.post("/organizations", { name: long });
    expect(answer.json.errors.name).toBe(`String should have at most 128 characters [input: ${long}]`);
  });
});

describe("PATCH /organizations/{org}", () => {
  it("changes what is given, keeps the rest, and acts at once", async () => {
    const org = await app.org();
    const path = `/organizations/${org.name}`;
    const first = await org.admin.patch(path, { description: "d", display_name: "D" });
    expect(first.json).toMatchObject({ description: "d", display_name: "D", public: false });
    const second = await org.admin.patch(path, { public: true, description: null });
    expect(second.json).toMatchObject({ description: "", display_name: "D", public: true });
    expect((await app.anonymous.get(path)).status).toBe(200);
  });

  it("changes and records nothing when all is so already", async () => {
    const org = await app.org();
    const path = `/organizations/${org.name}`;
    const first = await org.admin.patch(path, { description: "d" });
    const again = await org.admin.patch(path, { description: "d" });
    expect(again.json).toEqual(first.json);
    expect((await org.admin.get(`/audit-log/${org.name}`)).json.total_count).toBe(1);
  });

  it("refuses texts that are too long", async () => {
    const org = await app.org();
    const answer = await org.admin.patch(`/organizations/${org.name}`, { display_name: "x".repeat(257) });
    expect(answer.status).toBe(400);
    expect(answer.json.errors.display_name).toContain("String should have at most 256 characters");
  });
});

describe("PUT /organizations/{org}/experimental_features", () => {
  it("is harmless", async () => {
    const org = await app.org();
    const path = `/organizations/${org.name}/experimental_features`;
    const answer = await org.admin.put(path, { experimental_features_enabled: true });
    expect([answer.status, answer.json]).toEqual([200, "OK"]);
    const after = await org.admin.get(`/organizations/${org.name}`);
    expect(after.json.experimental_features_enabled).toBe(false);
  });
});
