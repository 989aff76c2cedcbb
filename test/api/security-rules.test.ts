import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import type { Answer, Client } from "../support/client.ts";
import { fromSite, signIn, trySignIn } from "../support/sessions.ts";

let app: TestApp;
let org: TestOrg;
let root: TestUser;

beforeAll(async () => {
  app = await startTestApp(
    {
      WAYBILL_TRUSTED_PROXIES: "loopback",
      WAYBILL_OIDC_ISSUER: "https://provider.example.org",
      WAYBILL_OIDC_CLIENT_ID: "waybill",
    },
    { maintained: true },
  );
  org = await app.org();
  root = await app.user({ instance_admin: true });
  app.clock.freeze();
});
afterAll(() => app.close());

const day = 86_400;
const denied = { message: "Access denied from this address" };

/** Asks from an address, as a trusted proxy tells it. */
function from(address: string, key: string | undefined, path: string): Promise<Answer> {
  const client = key === undefined ? app.anonymous : app.as(key);
  return client.get(path, { headers: { "x-forwarded-for": address } });
}

function put(
  client: Client,
  path: string,
  rules: Record<string, unknown>,
  address = "10.0.0.1",
): Promise<Answer> {
  return client.request("PUT", path, { json: rules, headers: { "x-forwarded-for": address } });
}

async function account(of: TestOrg, privilege = "member"): Promise<string> {
  await of.admin.post(`/service-accounts/${of.name}`, { name: "bot", privilege });
  return `/service-accounts/${of.name}/bot/api-keys`;
}

const rulesOf = ({ name }: TestOrg): string => `/organizations/${name}/security`;

async function logOf(client: Client, name: string, type: string): Promise<Record<string, unknown>[]> {
  return (await client.get(`/audit-log/${name}?resource_type=${type}`)).json.entries;
}

describe("rules of an organization", () => {
  it("are none at first, and are kept as they are set, recorded by name", async () => {
    const here = await app.org();
    const path = rulesOf(here);
    const none = {
      max_key_age_days: { personal: null, service: null },
      require_expiry: false,
      warn_days: 14,
      unused_days: null,
      allowed_addresses: null,
      sso_only: false,
      tightened_at: null,
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
      ending_keys: [],
    };
    expect((await here.admin.get(path)).json).toEqual(none);
    expect((await put(here.admin, path, {})).json).toEqual(none);
    const answer = await put(here.admin, path, {
      unused_days: 90,
      allowed_addresses: ["10.1.2.3/8", "::ffff:10.0.0.0/104", "2001:DB8::1"],
    });
    expect(answer.json).toEqual({
      ...none,
      unused_days: 90,
      allowed_addresses: ["10.0.0.0/8", "2001:db8::1/128"],
    });
    expect((await put(here.admin, path, {})).json).toEqual(none);
    const log = await logOf(here.admin, here.name, "settings_changed");
    expect(log.map(({ resource, action }) => [resource, action])).toEqual([
      ["unused_days,allowed_addresses", "put_organization_security"],
      ["unused_days,allowed_addresses", "put_organization_security"],
    ]);
  });

  it.each([
    [{ max_key_age_days: { personal: 0 } }, "max_key_age_days.personal"],
    [{ max_key_age_days: { robots: 1 } }, "max_key_age_days.robots"],
    [{ warn_days: 91 }, "warn_days"],
    [{ unused_days: 0.5 }, "unused_days"],
    [{ allowed_addresses: ["10.0.0.0/8", "10.0.0.0/33"] }, "allowed_addresses[1]"],
    [{ allowed_addresses: ["here"] }, "allowed_addresses[0]"],
    [{ allowed_addresses: ["192.0.2.0/24"] }, "allowed_addresses"],
    [{ colour: "red" }, "colour"],
  ])("refuse %j", async (rules, location) => {
    const answer = await put(org.admin, rulesOf(org), rules);
    expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, [location]]);
  });

  it("refuse more than 256 networks", async () => {
    const many = Array.from({ length: 257 }, (_each, index) => `10.0.${index % 256}.0/24`);
    expect((await put(org.admin, rulesOf(org), { allowed_addresses: many })).status).toBe(400);
    const here = await app.org();
    expect((await put(here.admin, rulesOf(here), { allowed_addresses: many.slice(1) })).status).toBe(200);
  });
});

describe("addresses", () => {
  it("are held from the next request on, for every kind of caller, and by nobody else", async () => {
    const here = await app.org({ public: true });
    const keys = await account(here);
    const { key } = (await here.admin.post(keys, { description: "x" })).json;
    const path = `/organizations/${here.name}`;
    const elsewhere = (who: string | undefined): Promise<Answer> => from("192.0.2.1", who, path);
    expect((await elsewhere(key)).status).toBe(200);
    await put(here.admin, rulesOf(here), { allowed_addresses: ["10.0.0.0/8", "2001:db8::/32"] });
    for (const who of [key, here.reader.key, here.admin.key]) {
      const answer = await elsewhere(who);
      expect([answer.status, answer.json]).toEqual([403, denied]);
      for (const inside of ["10.9.9.9", "::ffff:10.9.9.9", "2001:db8::5"])
        expect([inside, (await from(inside, who, path)).status]).toEqual([inside, 200]);
    }
    // Who is no member reads what is public, whatever the address.
    expect((await elsewhere(undefined)).status).toBe(200);
    expect((await elsewhere(root.key)).status).toBe(200);
    const { key: foreign } = (await org.admin.post(await account(org), { description: "x" })).json;
    expect((await elsewhere(foreign)).status).toBe(200);
    // A member's key works in other places as before; a service account has no others.
    expect((await from("192.0.2.1", here.reader.key, "/user")).status).toBe(200);
    expect((await from("192.0.2.1", key, "/user")).status).toBe(403);
    await put(here.admin, rulesOf(here), {});
    expect((await elsewhere(key)).status).toBe(200);
  });

  it("are told in the audit log once a minute for a key and an address", async () => {
    const here = await app.org();
    const keys = await account(here);
    const { id, key } = (await here.admin.post(keys, { description: "x", allowed_addresses: ["10.0.0.0/8"] }))
      .json;
    const path = `/organizations/${here.name}`;
    for (const address of ["192.0.2.1", "192.0.2.1", "198.51.100.1", "192.0.2.1"])
      expect((await from(address, key, path)).json).toEqual(denied);
    expect(await logOf(here.admin, here.name, "address_refused")).toMatchObject([
      { resource: id, actor_kind: "system", api_key_id: null, action: "get_organization" },
      { resource: id },
    ]);
    app.clock.advance(61);
    await from("192.0.2.1", key, path);
    expect(await logOf(here.admin, here.name, "address_refused")).toHaveLength(3);
    for (let part = 1; part <= 20; part += 1) await from(`203.0.113.${part}`, key, path);
    expect((await logOf(here.admin, here.name, "address_refused")).length).toBeLessThanOrEqual(12);
  });

  it("are held by sessions and by signing in", async () => {
    const user = await app.user();
    const json = { description: "x", allowed_addresses: ["10.0.0.0/8"] };
    const { key } = (await user.client.post("/user/api-keys", json)).json;
    const inside = { "x-forwarded-for": "10.0.0.1" };
    const outside = { "x-forwarded-for": "192.0.2.1" };
    const refused = await trySignIn(app, { api_key: key }, outside);
    expect([refused.status, refused.json]).toEqual([403, denied]);
    const begun = await trySignIn(app, { api_key: key }, inside);
    const cookie = String(begun.headers["set-cookie"]).split(";", 1)[0]!;
    const get = (headers: Record<string, string>): Promise<Answer> =>
      app.anonymous.get("/user", { headers: { ...fromSite, cookie, ...headers } });
    expect([(await get(inside)).status, (await get(outside)).status]).toEqual([200, 403]);
    expect(await logOf(user.client, user.name, "address_refused")).toHaveLength(1);
  });

  it("of the installation are held everywhere", async () => {
    const path = "/instance/security";
    await put(root.client, path, { allowed_addresses: ["10.0.0.0/8", "127.0.0.0/8"] });
    expect((await from("192.0.2.1", org.reader.key, "/user")).json).toEqual(denied);
    expect((await from("10.0.0.1", org.reader.key, "/user")).status).toBe(200);
    expect((await trySignIn(app, { api_key: root.key }, { "x-forwarded-for": "192.0.2.1" })).status).toBe(
      403,
    );
    expect((await from("192.0.2.1", undefined, "/sign-in/methods")).status).toBe(200);
    await put(root.client, path, {});
    expect((await from("192.0.2.1", org.reader.key, "/user")).status).toBe(200);
    const log = (await root.client.get("/instance/audit-log")).json.entries;
    const told = (log as { action: string; details: unknown }[])
      .filter(({ action }) => action === "settings_changed" || action === "address_refused")
      .map(({ action, details }) => [action, details]);
    expect(told).toEqual([
      ["settings_changed", { names: ["allowed_addresses"] }],
      ["address_refused", null],
      ["address_refused", null],
      ["settings_changed", { names: ["allowed_addresses"] }],
    ]);
  });

  it("do not leak from one to another while callers are kept", async () => {
    const here = await app.org();
    const path = `/organizations/${here.name}`;
    const json = { description: "x", allowed_addresses: ["10.0.0.0/8"] };
    const { key } = (await here.admin.post(await account(here), json)).json;
    await from("192.0.2.1", key, path);
    // Nothing is written from here on, so that whoever is found is kept.
    const addresses = Array.from({ length: 400 }, (_each, index) =>
      index % 3 === 0 ? "192.0.2.1" : "10.0.0.1",
    );
    const statuses = await Promise.all(addresses.map((address) => from(address, key, path)));
    expect(statuses.map(({ status }) => status)).toEqual(
      addresses.map((address) => (address === "10.0.0.1" ? 200 : 403)),
    );
    for (const address of addresses.slice(0, 60))
      expect((await from(address, key, path)).status).toBe(address === "10.0.0.1" ? 200 : 403);
    const both = await Promise.all(
      addresses.map((address) =>
        address === "10.0.0.1" ? from(address, key, "/user") : from(address, here.reader.key, "/user"),
      ),
    );
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("a key for less than its owner", () => {
  it("may what its role may, everywhere, and makes no keys", async () => {
    const { key } = (await org.admin.post("/user/api-keys", { description: "x", role: "reader" })).json;
    const narrow = app.as(key);
    expect((await narrow.get(`/environments/${org.name}`)).status).toBe(200);
    expect((await narrow.get(`/audit-log/${org.name}`)).status).toBe(403);
    expect((await narrow.put(`/flows/${org.name}`, { name: "f", description: "" })).status).toBe(403);
    expect((await narrow.post("/user/api-keys", { description: "x" })).status).toBe(403);
    const roles = (await narrow.get("/organizations")).json.map(({ role }: { role: string }) => role);
    expect(new Set(roles)).toEqual(new Set(["reader"]));
    const own = (await org.admin.get("/user/api-keys")).json.find(({ role }: { role?: string }) => role);
    expect(own).toMatchObject({ role: "reader" });
    const { cookie } = await signIn(app, key);
    const write = await app.anonymous.request("PUT", `/flows/${org.name}`, {
      json: { name: "f", description: "" },
      headers: { cookie, ...fromSite },
    });
    expect(write.status).toBe(403);
    expect((await narrow.delete(`/user/api-keys/${own.id}`)).status).toBe(200);
    expect((await narrow.get("/user")).status).toBe(401);
  });

  it("is never for more", async () => {
    const { key } = (await org.reader.post("/user/api-keys", { description: "x", role: "admin" })).json;
    expect((await app.as(key).get(`/audit-log/${org.name}`)).status).toBe(403);
    const here = await app.org();
    const keys = await account(here, "snapshotter");
    const answer = await here.admin.post(keys, { description: "x", role: "member" });
    expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, ["role"]]);
    const made = (await here.admin.post(keys, { description: "x", role: "reader" })).json;
    expect(made.role).toBe("reader");
    expect((await app.as(made.key).get(`/environments/${here.name}`)).status).toBe(200);
    expect((await app.as(made.key).put(`/flows/${here.name}`, { name: "f", description: "" })).status).toBe(
      403,
    );
  });

  it("does not run the installation", async () => {
    const { key } = (await root.client.post("/user/api-keys", { description: "x", role: "admin" })).json;
    expect((await app.as(key).get("/instance/security")).status).toBe(403);
    expect((await root.client.get("/instance/security")).status).toBe(200);
  });
});

describe("ages and ends", () => {
  it("give keys made before 30 days, and those made after the age", async () => {
    const here = await app.org();
    const keys = await account(here);
    const old = (await here.admin.post(keys, { description: "old" })).json;
    const path = `/organizations/${here.name}`;
    app.clock.advance(100 * day);
    const rules = { max_key_age_days: { service: 90 } };
    const answer = (await put(here.admin, rulesOf(here), rules)).json;
    const now = app.clock.now();
    expect(answer.tightened_at).toBeCloseTo(now, 0);
    expect(answer.ending_keys).toMatchObject([
      { id: old.id, owner_kind: "service_account", owner: "bot", by_rules: true },
    ]);
    const [listed] = (await here.admin.get(keys)).json;
    expect(listed.deadline_at).toBeCloseTo(now + 30 * day, -1);
    const fresh = (await here.admin.post(keys, { description: "fresh" })).json;
    expect(fresh.expires_at).toBe(Math.floor(now) + 90 * day);
    const late = await here.admin.post(keys, { description: "x", expires_at: Math.floor(now) + 91 * day });
    expect(Object.keys(late.json.errors)).toEqual(["expires_at"]);

    app.clock.advance(29 * day);
    expect((await app.as(old.key).get(path)).status).toBe(200);
    app.clock.advance(2 * day);
    expect((await app.as(old.key).get(path)).status).toBe(401);
    expect((await app.as(fresh.key).get(path)).status).toBe(200);
    const rotated = (await here.admin.post(`${keys}/${old.id}/rotate`, {})).json;
    expect((await app.as(rotated.key).get(path)).status).toBe(200);
    expect((await app.as(old.key).get(path)).status).toBe(401);
    app.clock.advance(91 * day);
    expect((await app.as(rotated.key).get(path)).status).toBe(401);
    await put(here.admin, rulesOf(here), {});
    expect((await app.as(rotated.key).get(path)).status).toBe(200);
  });

  it("of people's own keys count in the organization alone", async () => {
    const here = await app.org();
    const path = `/organizations/${here.name}`;
    app.clock.advance(10 * day);
    await put(here.admin, rulesOf(here), { max_key_age_days: { personal: 5 } });
    expect((await here.member.get(path)).status).toBe(200);
    app.clock.advance(31 * day);
    const answer = await here.member.get(path);
    expect([answer.status, answer.json]).toEqual([
      403,
      { message: "This key is older than the organization allows" },
    ]);
    expect((await here.member.get("/user")).status).toBe(200);
    const { key } = (await here.member.post("/user/api-keys", { description: "new" })).json;
    expect((await app.as(key).get(path)).status).toBe(200);
  });

  it("are asked of every new key where expiry is required", async () => {
    const here = await app.org();
    const keys = await account(here);
    const endless = (await here.admin.post(keys, { description: "endless" })).json;
    await put(here.admin, rulesOf(here), { require_expiry: true });
    for (const body of [{ description: "x" }, { description: "x", expires_at: 0 }])
      expect((await here.admin.post(keys, body)).json.errors).toEqual({
        expires_at: "Keys must have an expiry [input: None]",
      });
    const rotated = (await here.admin.post(`${keys}/${endless.id}/rotate`, {})).json;
    app.clock.advance(31 * day);
    expect((await app.as(rotated.key).get(`/organizations/${here.name}`)).status).toBe(401);

    // It would not work for a moment, and take the place of the one before.
    const ends = { expires_at: Math.floor(app.clock.now()) + 30 * day };
    const admin = app.as(
      (await here.admin.post("/user/api-keys", { description: "ends", ...ends })).json.key,
    );
    const again = await admin.post(`${keys}/${endless.id}/rotate`, {});
    expect([again.status, again.json.errors]).toEqual([
      400,
      { expires_at: "Keys must have an expiry [input: None]" },
    ]);
    const ending = (await admin.post(`${keys}/${endless.id}/rotate`, ends)).json;
    expect((await app.as(ending.key).get(`/organizations/${here.name}`)).status).toBe(200);
  });
});

describe("people who come by the sign-in provider", () => {
  it("are the only ones with sessions where the rules say so", async () => {
    const here = await app.org();
    const user = here.member;
    const { cookie } = await signIn(app, user.key!);
    const session = (path: string): Promise<Answer> =>
      app.anonymous.get(path, { headers: { cookie, ...fromSite } });
    await put(here.admin, rulesOf(here), { sso_only: true });
    expect((await session(`/organizations/${here.name}`)).json.message).toBe(
      "This organization asks people to sign in at the sign-in provider",
    );
    expect((await session("/user")).status).toBe(200);
    expect((await user.get(`/organizations/${here.name}`)).status).toBe(200);

    await put(root.client, "/instance/security", { sso_only: true });
    expect((await session("/user")).status).toBe(401);
    const again = await trySignIn(app, { api_key: user.key! });
    expect([again.status, again.json.message]).toEqual([
      403,
      "People sign in at the sign-in provider here, not with keys",
    ]);
    await app.deps.db.run(
      sql`delete from security_rules where org_id = '00000000-0000-0000-0000-000000000000'`,
    );
    expect((await session("/user")).status).toBe(200);
  });

  it("cannot be asked for where there is none", async () => {
    const plain = await startTestApp();
    try {
      const here = await plain.org();
      const answer = await here.admin.put(rulesOf(here), { sso_only: true });
      expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, ["sso_only"]]);
    } finally {
      await plain.close();
    }
  });
});
