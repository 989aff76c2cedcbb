import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { createOrg, createUserCommand, setRole, switchUser } from "../../src/cli/admin-identity.ts";
import { createKey, importKey } from "../../src/cli/admin-keys.ts";
import { list, table } from "../../src/cli/admin-lists.ts";
import { print } from "../../src/cli/output.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let lines: string[];
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(() => {
  lines = [];
  vi.spyOn(print, "line").mockImplementation((text = "") => void lines.push(text));
});
afterEach(() => vi.restoreAllMocks());

async function keyOf(user: string): Promise<string> {
  await createKey(app.deps, { user, description: "x" });
  return lines.at(-1)!;
}

async function orgOf(user: TestUser): Promise<string> {
  const name = uniqueName("org");
  await createOrg(app.deps, name, { owner: user.name });
  return name;
}

describe("waybill admin create-user", () => {
  it("makes a user who works with a key, and records it", async () => {
    const name = uniqueName("ann");
    await createUserCommand(app.deps, name, { email: `${name}@example.com`, displayName: "Ann" });
    expect(lines).toEqual([
      `Created user ${name}. Create a key with: waybill admin create-key --user ${name}`,
    ]);
    const client = app.as(await keyOf(name));
    expect((await client.get(`/organizations/${name}`)).json.kind).toBe("personal");
    const log = (await client.get(`/audit-log/${name}?sort_direction=asc`)).json;
    expect(log.entries).toMatchObject([
      { actor_kind: "system", actor: "waybill admin", action: "admin create-user", resource: name },
      { actor_kind: "system", actor: "waybill admin", action: "admin create-key", resource_type: "api_key" },
    ]);
    const events = (await client.get(`/membership-audit-log/${name}`)).json.entries;
    expect(events).toMatchObject([{ user: name, changed_by: "waybill admin", source: "script" }]);
  });

  it("makes instance administrators on demand only", async () => {
    for (const instanceAdmin of [true, false]) {
      const name = uniqueName("root");
      await createUserCommand(app.deps, name, { instanceAdmin });
      const answer = await app.as(await keyOf(name)).post("/organizations", { name: uniqueName("o") });
      expect(answer.status).toBe(instanceAdmin ? 201 : 403);
    }
  });

  it.each([
    ["-x", {}, "'-x' is not a valid name"],
    ["a".repeat(129), {}, "is not a valid name"],
    ["fine", { email: "nonsense" }, "'nonsense' is not a valid mail address"],
    ["fine", { displayName: "x".repeat(257) }, "A display name has at most 256 characters"],
  ])("refuses %j %j", async (name, options, reason) => {
    await expect(createUserCommand(app.deps, name, options)).rejects.toThrow(reason);
  });
});

describe("waybill admin create-org and set-role", () => {
  it("makes a shared organization and gives roles in it", async () => {
    const [owner, guest] = [await app.user(), await app.user()];
    const name = await orgOf(owner);
    await setRole(app.deps, name, { user: guest.name, role: "member" });
    await setRole(app.deps, name, { user: guest.name, role: "admin" });
    const members = (await guest.client.get(`/members/${name}`)).json;
    expect(members.map((member: { role: string }) => member.role)).toEqual(["admin", "admin"]);
    const log = (await owner.client.get(`/audit-log/${name}?actor=waybill%20admin`)).json;
    expect(log.total_count).toBe(3);
  });

  it("refuses unknown owners, organizations, users and roles, and the last admin", async () => {
    const owner = await app.user();
    const name = await orgOf(owner);
    const role = "reader";
    await expect(createOrg(app.deps, uniqueName("o"), { owner: "nobody" })).rejects.toThrow(
      "Input payload validation failed",
    );
    await expect(createOrg(app.deps, name, { owner: owner.name })).rejects.toThrow("is already taken");
    await expect(setRole(app.deps, "no-org", { user: owner.name, role })).rejects.toThrow("does not exist");
    await expect(setRole(app.deps, name, { user: "nobody", role })).rejects.toThrow("does not exist");
    await expect(setRole(app.deps, name, { user: owner.name, role: "x" })).rejects.toThrow("not a role");
    await expect(setRole(app.deps, name, { user: owner.name, role })).rejects.toThrow("last admin");
  });
});

describe("waybill admin disable-user and enable-user", () => {
  it("shuts a user out and lets them in", async () => {
    const user = await app.user();
    await switchUser(app.deps, user.name, { disabled: true });
    expect((await user.client.get("/organizations")).status).toBe(401);
    await switchUser(app.deps, user.name, { disabled: false });
    expect((await user.client.get("/organizations")).status).toBe(200);
    await expect(switchUser(app.deps, "nobody", { disabled: true })).rejects.toThrow("does not exist");
  });
});

describe("waybill admin create-key and import-key", () => {
  it("prints the new key alone", async () => {
    const user = await app.user();
    const key = await keyOf(user.name);
    expect(lines).toEqual([key]);
    expect((await app.as(key).get("/organizations")).status).toBe(200);
  });

  it("makes keys of service accounts, with an expiry", async () => {
    const org: TestOrg = await app.org();
    await org.admin.post(`/service-accounts/${org.name}`, { name: "bot" });
    const options = { org: org.name, serviceAccount: "bot", description: "x" };
    await createKey(app.deps, { ...options, expiresAt: "2090-01-01" });
    await createKey(app.deps, { ...options, expiresAt: "4000000000" });
    const keys = (await org.admin.get(`/service-accounts/${org.name}/bot/api-keys`)).json;
    expect(keys.map((key: { expires_at: number }) => key.expires_at)).toEqual([
      Date.UTC(2090, 0, 1) / 1000,
      4_000_000_000,
    ]);
  });

  it("takes a value over and does not repeat it", async () => {
    const user = await app.user();
    const value = `${uniqueName("legacy")}!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`;
    await importKey(app.deps, value, { user: user.name, description: "moved" });
    expect((await app.as(value).get("/organizations")).status).toBe(200);
    expect(lines.join("\n")).not.toContain(value);
    await expect(importKey(app.deps, value, { user: user.name, description: "x" })).rejects.toThrow(
      "A key with this value already exists",
    );
  });

  it.each([
    "x".repeat(19),
    "x".repeat(513),
    `${"x".repeat(20)} y`,
    `ä${"x".repeat(30)}`,
    `${"x".repeat(30)}\n`,
  ])("refuses the value %j", async (value) => {
    const options = { user: "nobody", description: "x" };
    await expect(importKey(app.deps, value, options)).rejects.toThrow("20 to 512 printable ASCII");
  });

  it.each([
    [{}, "Say whose key"],
    [{ user: "a", org: "b" }, "Say whose key"],
    [{ org: "b" }, "Say whose key"],
    [{ user: "nobody" }, "User 'nobody' does not exist"],
    [{ org: "no-org", serviceAccount: "x" }, "Organization 'no-org' does not exist"],
    [{ user: "nobody", expiresAt: "soon" }, "'soon' is not a time"],
    [{ user: "nobody", description: "" }, "description has 1 to 256 characters"],
  ])("refuses %j", async (options, reason) => {
    await expect(createKey(app.deps, { description: "x", ...options })).rejects.toThrow(reason);
  });

  it("refuses an unknown account and an expiry that is past", async () => {
    const org = await app.org();
    const options = { org: org.name, serviceAccount: "ghost", description: "x" };
    await expect(createKey(app.deps, options)).rejects.toThrow("Service account not found");
    const user = await app.user();
    const past = { user: user.name, description: "x", expiresAt: "2001-01-01" };
    await expect(createKey(app.deps, past)).rejects.toThrow("validation failed");
  });
});

describe("waybill admin list", () => {
  it("shows users, organizations and keys, and no key's value", async () => {
    const user = await app.user();
    const key = await keyOf(user.name);
    lines = [];
    for (const what of ["users", "organizations", "keys"]) await list(app.deps, what);
    const rows = lines.filter((line) => line.includes(user.name));
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(lines.join("\n")).not.toContain(key);
    expect(lines.join("\n")).not.toContain(user.key);
    await expect(list(app.deps, "secrets")).rejects.toThrow("say one of users, organizations, keys");
  });

  it("aligns its columns", () => {
    expect(
      table(
        ["A", "LONG"],
        [
          ["value", null],
          ["", 7],
        ],
      ),
    ).toEqual(["A      LONG", "value  -", "-      7"]);
  });
});
