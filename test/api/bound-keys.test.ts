import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { fromSite, trySignIn } from "../support/sessions.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ WAYBILL_TRUSTED_PROXIES: "loopback" });
});
afterAll(() => app.close());

const networks = ["10.0.0.0/8", "2001:db8::/32"];
const limits = { allowed_addresses: networks };
const inside = { "x-forwarded-for": "10.0.0.1" };
const outside = { "x-forwarded-for": "192.0.2.1" };
const refused = [403, { message: "A key that is for less than its owner cannot do this" }];
const said = ({ status, json }: Answer): unknown[] => [status, json];
const beyond = (network: string): unknown[] => [
  400,
  {
    message: "Input payload validation failed",
    errors: {
      allowed_addresses: `Input should be in the networks that your own key works from [input: ${network}]`,
    },
  },
];

type Send = (method: string, path: string, json?: object) => Promise<Answer>;

/** Sends with a key, from an address of its networks. */
const withKey =
  (key: string): Send =>
  (method, path, json) =>
    app.as(key).request(method, path, { json, headers: inside });

/** Sends with a session that was begun with a key. */
async function withSession(key: string): Promise<Send> {
  const begun = await trySignIn(app, { api_key: key }, inside);
  const cookie = String(begun.headers["set-cookie"]).split(";", 1)[0]!;
  const headers = { ...fromSite, ...inside, cookie };
  return (method, path, json) => app.anonymous.request(method, path, { json, headers });
}

interface Setting {
  org: TestOrg;
  /** Sends with a key that is for all of its owner, who is an admin, and with one that is bound to networks. */
  whole: Send;
  bound: Send;
}

type OwnerKeys = (org: TestOrg, body: object) => Promise<string>;

const accountKey: OwnerKeys = async (org, body) => {
  await org.admin.post(`/service-accounts/${org.name}`, { name: "robot", privilege: "admin" });
  return (await org.admin.post(`/service-accounts/${org.name}/robot/api-keys`, { description: "x", ...body }))
    .json.key;
};

const userKey: OwnerKeys = async (org, body) =>
  (await org.admin.post("/user/api-keys", { description: "x", ...body })).json.key;

const callers: [string, OwnerKeys, (key: string) => Send | Promise<Send>][] = [
  ["an admin service account's", accountKey, withKey],
  ["an admin's", userKey, withKey],
  ["an admin's session with a", userKey, withSession],
];

async function setting(keyOf: OwnerKeys, sender: (key: string) => Send | Promise<Send>): Promise<Setting> {
  const org = await app.org();
  const whole = await sender(await keyOf(org, {}));
  return { org, whole, bound: await sender(await keyOf(org, limits)) };
}

/** Makes another account, and gives the path of its keys. */
async function another(org: TestOrg, name = "other", privilege = "admin"): Promise<string> {
  await org.admin.post(`/service-accounts/${org.name}`, { name, privilege });
  return `/service-accounts/${org.name}/${name}/api-keys`;
}

const made = async (org: TestOrg, keys: string, body: object = {}): Promise<{ id: string; key: string }> =>
  (await org.admin.post(keys, { description: "x", ...body })).json;

describe.each(callers)("%s bound key", (_whose, keyOf, sender) => {
  it("makes keys of other accounts for its own networks, or for fewer", async () => {
    const { org, bound } = await setting(keyOf, sender);
    const keys = await another(org);
    const create = (more: object): Promise<Answer> => bound("POST", keys, { description: "x", ...more });
    for (const none of [{}, { allowed_addresses: null }, { allowed_addresses: [] }]) {
      const same = await create(none);
      expect([same.status, same.json.allowed_addresses]).toEqual([201, networks]);
      const { key } = same.json;
      const from = (headers: Record<string, string>): Promise<Answer> =>
        app.as(key).get("/user", { headers });
      expect([(await from(inside)).status, (await from(outside)).status]).toEqual([200, 403]);
    }
    const fewer = { allowed_addresses: ["10.9.0.0/16", "10.0.0.0/8", "::ffff:10.1.1.1", "2001:db8:1::/48"] };
    expect((await create(fewer)).json.allowed_addresses).toEqual([
      "10.9.0.0/16",
      "10.0.0.0/8",
      "10.1.1.1/32",
      "2001:db8:1::/48",
    ]);
  });

  it.each([
    [["0.0.0.0/0"], "0.0.0.0/0"],
    [["::/0"], "::/0"],
    [["10.0.0.0/7"], "10.0.0.0/7"],
    [["192.0.2.1"], "192.0.2.1/32"],
    [["10.0.0.1", "2001:db8::/31"], "2001:db8::/31"],
  ])("makes none for %j", async (allowed_addresses, network) => {
    const { org, whole, bound } = await setting(keyOf, sender);
    const keys = await another(org);
    const body = { description: "x", allowed_addresses };
    expect(said(await bound("POST", keys, body))).toEqual(beyond(network));
    expect((await org.admin.get(keys)).json).toEqual([]);
    expect((await whole("POST", keys, body)).status).toBe(201);
  });

  it("makes another account, whose keys are bound, too", async () => {
    const { org, bound } = await setting(keyOf, sender);
    const input = { name: "fresh", privilege: "admin" };
    expect((await bound("POST", `/service-accounts/${org.name}`, input)).status).toBe(201);
    const keys = `/service-accounts/${org.name}/fresh/api-keys`;
    const { key } = (await bound("POST", keys, { description: "x" })).json;
    const fewer = { allowed_addresses: ["10.0.0.0/16"] };
    const next = await withKey(key)("POST", await another(org), { description: "x", ...fewer });
    const widened = { description: "x", allowed_addresses: ["10.0.0.0/7"] };
    expect(said(await withKey(key)("POST", await another(org), widened))).toEqual(beyond("10.0.0.0/7"));
    const wider = { description: "x", allowed_addresses: ["10.0.0.0/8"] };
    expect(said(await withKey(next.json.key)("POST", keys, wider))).toEqual(beyond("10.0.0.0/8"));
  });

  it("rotates those keys of other accounts that are bound within its networks", async () => {
    const { org, whole, bound } = await setting(keyOf, sender);
    const keys = await another(org);
    for (const [allowed_addresses, isWithin] of [
      [null, false],
      [["0.0.0.0/0"], false],
      [["10.0.0.0/8", "192.0.2.0/24"], false],
      [["10.0.0.0/8"], true],
      [["10.2.0.0/16", "2001:db8::1"], true],
    ] as const) {
      const { id } = await made(org, keys, { allowed_addresses });
      const answer = await bound("POST", `${keys}/${id}/rotate`, {});
      if (isWithin) expect(answer.status).toBe(201);
      else expect(said(answer)).toEqual(refused);
      expect((await whole("POST", `${keys}/${id}/rotate`, {})).status).toBe(201);
    }
    expect((await bound("POST", `${keys}/nothing/rotate`, {})).status).toBe(404);
  });

  const refusals: [string, string, (org: TestOrg) => string, object, number][] = [
    [
      "invites nobody",
      "POST",
      (org) => `/members/${org.name}/invitations`,
      { user: "new", role: "reader" },
      201,
    ],
    ["sets no rules", "PUT", (org) => `/organizations/${org.name}/security`, {}, 200],
    [
      "opens the organization to nobody",
      "PATCH",
      (org) => `/organizations/${org.name}`,
      { public: true },
      200,
    ],
    ["makes no webhook", "PUT", (org) => `/integrations/${org.name}/quality`, {}, 201],
    ["replaces no secret of it", "POST", (org) => `/integrations/${org.name}/quality/rotate-secret`, {}, 200],
    [
      "promotes no account",
      "PATCH",
      (org) => `/service-accounts/${org.name}/weak`,
      { privilege: "admin" },
      200,
    ],
  ];

  it.each(refusals)("%s", async (what, method, path, given, status) => {
    const { org, whole, bound } = await setting(keyOf, sender);
    await another(org, "weak", "reader");
    if (what.startsWith("replaces")) await org.admin.put(`/integrations/${org.name}/quality`, {});
    const body = "user" in given ? { ...given, user: `new-${org.name}` } : given;
    expect(said(await bound(method, path(org), body))).toEqual(refused);
    expect((await whole(method, path(org), body)).status).toBe(status);
  });

  it("gives nobody a role", async () => {
    const { org, whole, bound } = await setting(keyOf, sender);
    const { name } = await app.user();
    const put = (send: Send, role: string): Promise<Answer> =>
      send("PUT", `/members/${org.name}/${name}`, { role });
    expect(said(await put(bound, "reader"))).toEqual(refused);
    expect((await put(whole, "reader")).status).toBe(201);
    expect(said(await put(bound, "admin"))).toEqual(refused);
  });

  it("does not lift the organization's list of addresses", async () => {
    const { org, bound } = await setting(keyOf, sender);
    const path = `/organizations/${org.name}/security`;
    await org.admin.request("PUT", path, { json: { allowed_addresses: ["10.0.0.0/8"] }, headers: inside });
    expect(said(await bound("PUT", path, { allowed_addresses: null }))).toEqual(refused);
    expect((await bound("GET", path)).json.allowed_addresses).toEqual(["10.0.0.0/8"]);
  });

  it("takes from others what an admin may", async () => {
    const { org, bound } = await setting(keyOf, sender);
    const keys = await another(org);
    const account = `/service-accounts/${org.name}/other`;
    const { id } = await made(org, keys);
    const { name } = await app.user();
    await org.admin.put(`/members/${org.name}/${name}`, { role: "member" });
    const invited = { user: `new-${org.name}`, role: "reader" };
    const invitation = (await org.admin.post(`/members/${org.name}/invitations`, invited)).json;
    for (const [method, path, json] of [
      ["DELETE", `${keys}/${id}`],
      ["PATCH", account, { privilege: "reader", description: "x" }],
      ["DELETE", account],
      ["DELETE", `/members/${org.name}/${name}/sessions`],
      ["DELETE", `/members/${org.name}/${name}`],
      ["DELETE", `/members/${org.name}/invitations/${invitation.id}`],
      ["PATCH", `/organizations/${org.name}`, { public: false, description: "x" }],
    ] as const)
      expect([method, path, (await bound(method, path, json)).status]).toEqual([method, path, 200]);
  });
});

describe.each([
  ["networks", limits],
  ["a role", { role: "admin" }],
])("a service account's key that is bound to %s", (_what, more) => {
  it("neither removes nor demotes its own account, and may describe it", async () => {
    const org = await app.org();
    const [whole, less] = [withKey(await accountKey(org, {})), withKey(await accountKey(org, more))];
    const account = `/service-accounts/${org.name}/robot`;
    expect(said(await less("DELETE", account))).toEqual(refused);
    for (const privilege of ["reader", "member"])
      expect(said(await less("PATCH", account, { privilege, description: "x" }))).toEqual(refused);
    expect((await org.admin.get(account)).json).toMatchObject({ privilege: "admin", description: "" });
    expect((await less("PATCH", account, { privilege: "admin", description: "mine" })).status).toBe(200);
    expect((await whole("PATCH", account, { description: "ours" })).status).toBe(200);
    expect((await whole("DELETE", account)).status).toBe(200);
    expect((await less("GET", "/user")).status).toBe(401);
  });
});

describe.each([
  ["networks", limits],
  ["a role", { role: "admin" }],
])("an admin's key that is bound to %s", (what, more) => {
  it.each([
    ["key", withKey],
    ["session", withSession],
  ])("neither removes nor demotes its owner: %s", async (_by, sender) => {
    const org = await app.org();
    const second = await app.user();
    await org.admin.put(`/members/${org.name}/${second.name}`, { role: "admin" });
    const { whole, less } = {
      whole: await sender(await userKey(org, {})),
      less: await sender(await userKey(org, more)),
    };
    const { name } = (await org.admin.get("/user")).json;
    const self = `/members/${org.name}/${name}`;
    const members = (await org.admin.get(`/members/${org.name}`)).json;
    expect(said(await less("DELETE", self))).toEqual(refused);
    for (const role of ["member", "reader"]) expect(said(await less("PUT", self, { role }))).toEqual(refused);
    expect((await org.admin.get(`/members/${org.name}`)).json).toEqual(members);
    // Networks are asked before the body is read.
    expect((await less("PUT", self, { role: "admin" })).status).toBe(what === "networks" ? 403 : 200);
    expect((await whole("PUT", self, { role: "member" })).status).toBe(200);
    await second.client.put(self, { role: "admin" });
    expect((await whole("DELETE", self)).status).toBe(200);
  });
});

it("takes other admins' roles by a key for less, and last admins stay", async () => {
  const org = await app.org();
  const less = withKey(await userKey(org, { role: "admin" }));
  const { name } = await app.user();
  const other = `/members/${org.name}/${name}`;
  expect((await less("PUT", other, { role: "admin" })).status).toBe(201);
  expect((await less("PUT", other, { role: "reader" })).status).toBe(200);
  expect((await less("DELETE", other)).status).toBe(200);
  const { name: self } = (await org.admin.get("/user")).json;
  expect(said(await less("DELETE", `/members/${org.name}/${self}`))).toEqual(refused);
  expect((await org.admin.delete(`/members/${org.name}/${self}`)).status).toBe(400);
});

describe("a key of who runs the installation", () => {
  const keyOf = async (user: TestUser, more: object): Promise<string> =>
    (await user.client.post("/user/api-keys", { description: "x", ...more })).json.key;

  it.each([
    ["networks", limits],
    ["a role", { role: "admin" }],
    ["nothing", {}],
  ])("does so only where it is bound to nothing: %s", async (what, more) => {
    const root = await app.user({ instance_admin: true });
    const key = await keyOf(root, more);
    const isWhole = what === "nothing";
    for (const send of [withKey(key), await withSession(key)]) {
      expect((await send("GET", "/user")).json.is_instance_admin).toBe(isWhole);
      const name = `made-${root.name}`;
      const answers = [
        await send("GET", "/instance/security"),
        await send("PUT", "/instance/security", {}),
        await send("GET", "/instance/audit-log"),
        await send("POST", "/organizations", { name, owner: root.name }),
      ];
      const refusals = answers.filter(({ status }) => status === 403);
      expect(refusals).toHaveLength(isWhole ? 0 : answers.length);
    }
  });
});
