import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { fromSite, trySignIn } from "../support/sessions.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ WAYBILL_TRUSTED_PROXIES: "loopback" });
});
afterAll(() => app.close());

const inside = { "x-forwarded-for": "10.0.0.1" };
const refused = [403, { message: "A key that is for less than its owner cannot do this" }];
const said = ({ status, json }: Answer): unknown[] => [status, json];

interface Made {
  id: string;
  key: string;
}

type Send = (method: string, path: string, json?: object) => Promise<Answer>;

interface Setting {
  org: TestOrg;
  /** Path of the account's keys. */
  keys: string;
  whole: Made;
  bound: Made;
  /** Sends with a secret from an address of the network that keys are bound to. */
  as: (key: string) => Send;
}

/** An account that is admin, with a key for all of it and one that `limits` bind. */
async function setting(limits: object = { allowed_addresses: ["10.0.0.0/8"] }): Promise<Setting> {
  const org = await app.org();
  await org.admin.post(`/service-accounts/${org.name}`, { name: "bot", privilege: "admin" });
  const keys = `/service-accounts/${org.name}/bot/api-keys`;
  const make = async (more: object): Promise<Made> =>
    (await org.admin.post(keys, { description: "x", ...more })).json;
  const as =
    (key: string): Send =>
    (method, path, json) =>
      app.as(key).request(method, path, { json, headers: inside });
  return { org, keys, whole: await make({}), bound: await make(limits), as };
}

const idsOf = async ({ org, keys }: Setting): Promise<string[]> =>
  (await org.admin.get(keys)).json.map(({ id }: Made) => id);

describe.each([
  ["networks", { allowed_addresses: ["10.0.0.0/8"] }],
  ["a role", { role: "admin" }],
])("a service account's key that is bound to %s", (_what, limits) => {
  it("neither makes, rotates nor ends the account's other keys", async () => {
    const here = await setting(limits);
    const { keys, whole, bound } = here;
    const send = here.as(bound.key);
    const before = await idsOf(here);
    expect(said(await send("POST", keys, { description: "more" }))).toEqual(refused);
    expect(said(await send("POST", `${keys}/${whole.id}/rotate`, {}))).toEqual(refused);
    expect(said(await send("DELETE", `${keys}/${whole.id}`))).toEqual(refused);
    expect(await idsOf(here)).toEqual(before);
    expect((await here.as(whole.key)("GET", keys)).status).toBe(200);
  });

  it("gives itself another secret, for as little as it was, and ends itself", async () => {
    const here = await setting(limits);
    const { keys, whole, bound } = here;
    const send = here.as(bound.key);
    const rotated = await send("POST", `${keys}/${bound.id}/rotate`, {});
    expect(rotated.status).toBe(201);
    const again = here.as(rotated.json.key);
    expect(said(await again("POST", keys, { description: "x" }))).toEqual(refused);
    expect(said(await again("DELETE", `${keys}/${bound.id}`))).toEqual([200, "revoked"]);
    expect(await idsOf(here)).toEqual([whole.id]);
  });
});

describe("sessions, other keys and other accounts", () => {
  it("are bound as the key that a session was begun with", async () => {
    const here = await setting();
    const begun = await trySignIn(app, { api_key: here.bound.key }, inside);
    expect(begun.status).toBe(201);
    const cookie = String(begun.headers["set-cookie"]).split(";", 1)[0]!;
    const headers = { ...fromSite, ...inside, cookie };
    const made = await app.anonymous.request("POST", here.keys, { json: { description: "x" }, headers });
    expect(said(made)).toEqual(refused);
  });

  it("are as they were for a key that is for all of its account", async () => {
    const here = await setting();
    const send = here.as(here.whole.key);
    const made = await send("POST", here.keys, { description: "more" });
    expect(made.status).toBe(201);
    expect((await send("POST", `${here.keys}/${here.bound.id}/rotate`, {})).status).toBe(201);
    expect((await send("DELETE", `${here.keys}/${made.json.id}`)).status).toBe(200);
  });

  it("say of an account that is not there, and of a role too low, what they said", async () => {
    const here = await setting();
    const send = here.as(here.bound.key);
    const path = `/service-accounts/${here.org.name}/nobody/api-keys`;
    expect((await send("POST", path, { description: "x" })).status).toBe(404);
    const reader = await setting({ role: "reader" });
    const less = await reader.as(reader.bound.key)("POST", reader.keys, { description: "x" });
    expect(less.status).toBe(403);
    expect(said(less)).not.toEqual(refused);
  });
});
