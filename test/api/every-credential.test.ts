import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { commandActor } from "../../src/cli/command-deps.ts";
import type { Access, Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { type Role, roleAllows, roles } from "../../src/domain/roles.ts";
import { setUserDisabled } from "../../src/modules/identity/users/service.ts";
import { transaction } from "../../src/db/transaction.ts";
import { createSignInToken } from "../../src/modules/identity/sessions/service.ts";
import { openSession } from "../../src/modules/kernel/access/session-service.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { fillPath, proofFor } from "../support/operations.ts";
import { fromSite, signIn, trySignIn } from "../support/sessions.ts";

const all = Object.entries(endpoints as Record<string, Endpoint>);

/** What a caller is in the organization asked for, where their credentials work. */
interface Standing {
  role?: Role;
  instance_admin?: boolean;
}

/**
 * What comes with a request, and what it amounts to: nothing, a standing, or a refusal whatever is asked for. With `elsewhere` the organization asked for takes
 * nobody from where the test is.
 */
interface Credential {
  headers: () => Record<string, string>;
  is: "nobody" | "refused" | Standing;
  elsewhere?: true;
  /** It is not a user's whole key, which some handlers ask for. */
  isLess?: true;
  /** It works from some networks alone, where the test is. */
  isBound?: true;
  /** Begins the session of a cookie anew. */
  renew?: () => Promise<void>;
}

let app: TestApp;
let org: TestOrg;
let far: TestOrg;
const credentials = new Map<string, Credential>();

const bearer = (key: string) => (): Record<string, string> => ({ authorization: `Bearer ${key}` });
const day = 86_400;

async function accountKey(of: TestOrg, privilege: Role, body: Record<string, unknown> = {}): Promise<string> {
  const name = `bot-${privilege}-${credentials.size}`;
  await of.admin.post(`/service-accounts/${of.name}`, { name, privilege });
  const keys = `/service-accounts/${of.name}/${name}/api-keys`;
  return (await of.admin.post(keys, { description: "x", ...body })).json.key as string;
}

async function ownKey(user: TestUser, body: Record<string, unknown> = {}): Promise<string> {
  return (await user.client.post("/user/api-keys", { description: "x", ...body })).json.key as string;
}

function add(name: string, key: string, is: Credential["is"]): void {
  credentials.set(name, { headers: bearer(key), is });
}

function addLess(name: string, key: string, is: Credential["is"]): void {
  credentials.set(name, { headers: bearer(key), is, isLess: true });
}

async function addSession(
  name: string,
  key: string,
  is: Credential["is"],
  extra: Record<string, string> = {},
) {
  let { cookie } = await signIn(app, key);
  const renew = async (): Promise<void> => {
    ({ cookie } = await signIn(app, key));
  };
  credentials.set(name, { headers: () => ({ ...fromSite, cookie, ...extra }), is, renew });
}

/** Keys that are bound to the network of the test, and a session that was begun with one. */
async function addBound(): Promise<void> {
  const here = { allowed_addresses: ["127.0.0.0/8"] };
  const user = await app.user({ instance_admin: true });
  await org.admin.put(`/members/${org.name}/${user.name}`, { role: "admin" });
  const key = await ownKey(user, here);
  const is = { role: "admin" } as const;
  add("an instance administrator's bound key", key, is);
  await addSession("a session that was begun with a bound key", key, is);
  add("a service account's bound key", await accountKey(org, "admin", here), is);
  for (const [name, credential] of credentials)
    if (name.endsWith("bound key")) Object.assign(credential, { isLess: true, isBound: true });
}

/** Adds a session that was begun without a key. @param begin gives what the cookie holds. */
async function addKeyless(name: string, is: Credential["is"], begin: () => Promise<string>): Promise<void> {
  let token = await begin();
  const renew = async (): Promise<void> => {
    token = await begin();
  };
  const headers = () => ({ ...fromSite, cookie: `waybill-session=${token}` });
  credentials.set(name, { headers, is, renew });
}

/** Sessions of people who came by a provider, or by a link. */
async function addKeylessSessions(): Promise<void> {
  const [ann, eve] = [await app.user(), await app.user()];
  for (const { name } of [ann, eve]) await org.admin.put(`/members/${org.name}/${name}`, { role: "admin" });
  const proof = { issuer: "https://p.example", subject: "ann", provider_session: null, id_token: null };
  const browser = { user_agent: "", address: "127.0.0.1" };
  await addKeyless("an admin's session that was begun at a provider", { role: "admin" }, () =>
    transaction(app.deps.db, async (tx) => {
      const owner = { user_id: ann.id };
      const proved = { ...proof, proved_at: app.clock.now() };
      return (await openSession(app.deps, tx, { owner, api_key_id: null, browser, proof: proved })).token;
    }),
  );
  await addKeyless("an admin's session that was begun with a link", { role: "admin" }, async () => {
    const { token } = await createSignInToken(app.deps, commandActor("test"), { user: eve.name });
    const answer = await trySignIn(app, { token });
    return /=([^;]*)/.exec(String(answer.headers["set-cookie"]))?.[1] ?? "";
  });
}

/** Keys that worked once. */
async function addEnded(): Promise<void> {
  const user = await app.user();
  add("an expired key", await ownKey(user, { expires_at: Math.floor(app.clock.now()) + 60 }), "nobody");
  const { id, key } = (await user.client.post("/user/api-keys", { description: "x" })).json;
  await user.client.delete(`/user/api-keys/${id}`);
  add("a revoked key", key, "nobody");

  const other = await app.org();
  await other.admin.post(`/service-accounts/${other.name}`, { name: "bot", privilege: "admin" });
  const keys = `/service-accounts/${other.name}/bot/api-keys`;
  const former = (await other.admin.post(keys, { description: "x" })).json;
  await other.admin.post(`${keys}/${former.id}/rotate`, { grace_period_hours: 1 });
  add("a former secret after its grace", former.key, "nobody");
  add("a key that rules ended", (await other.admin.post(keys, { description: "x" })).json.key, "nobody");
  await other.admin.put(`/organizations/${other.name}/security`, { require_expiry: true });
  app.clock.advance(31 * day);
}

async function addDisabled(): Promise<void> {
  const user = await app.user({ instance_admin: true });
  await org.admin.put(`/members/${org.name}/${user.name}`, { role: "admin" });
  const { cookie } = await signIn(app, user.key);
  add("a deactivated user's key", user.key, "nobody");
  credentials.set("a deactivated user's session", { headers: () => ({ ...fromSite, cookie }), is: "nobody" });
  await setUserDisabled(app.deps, commandActor("test"), { user: user.name, disabled: true });
}

async function addWorking(): Promise<void> {
  for (const role of roles) {
    add(`a ${role}`, org[role].key!, { role });
    addLess(`a service account that is ${role}`, await accountKey(org, role), { role });
  }
  const root = await app.user({ instance_admin: true });
  add("an instance administrator", root.key, { instance_admin: true });
  addLess("an instance administrator's key for a reader", await ownKey(root, { role: "reader" }), {});
  const strong = await app.user();
  await org.admin.put(`/members/${org.name}/${strong.name}`, { role: "admin" });
  addLess("an admin's key for a reader", await ownKey(strong, { role: "reader" }), { role: "reader" });
  addLess(
    "a reader's key for an admin",
    (await org.reader.post("/user/api-keys", { description: "x", role: "admin" })).json.key,
    {
      role: "reader",
    },
  );
  const other = await app.org();
  add("another organization's admin", other.admin.key!, {});
  addLess("another organization's service account", await accountKey(other, "admin"), {});

  await addSession("a member's session", org.member.key!, { role: "member" });
  await addSession("an instance administrator's session", root.key, { instance_admin: true });
  await addSession("a session of another site's making", org.admin.key!, "refused", {
    "sec-fetch-site": "cross-site",
  });
  await addSession("a cookie beside an unknown key", org.admin.key!, "nobody", bearer("no-key")());
  await addSession(
    "an admin's cookie beside a reader's key",
    org.admin.key!,
    { role: "reader" },
    bearer(org.reader.key!)(),
  );

  const allowed_addresses = ["192.0.2.0/24"];
  const bound = await app.user({ instance_admin: true });
  await org.admin.put(`/members/${org.name}/${bound.name}`, { role: "admin" });
  add("a key from a wrong address", await ownKey(bound, { allowed_addresses }), "refused");
  add(
    "a service account's key from a wrong address",
    await accountKey(org, "admin", { allowed_addresses }),
    "refused",
  );
  const elsewhere = true;
  credentials.set("an admin where the organization refuses the address", {
    headers: bearer(far.admin.key!),
    is: { role: "admin" },
    elsewhere,
  });
}

beforeAll(async () => {
  app = await startTestApp({ WAYBILL_TRUSTED_PROXIES: "loopback" });
  app.clock.freeze();
  await addEnded();
  org = await app.org();
  far = await app.org();
  credentials.set("nothing", { headers: () => ({}), is: "nobody" });
  credentials.set("a malformed header", { headers: () => ({ authorization: "Basic %%%" }), is: "nobody" });
  add("an unknown key", "no-key-of-anybody-here", "nobody");
  await addWorking();
  await addKeylessSessions();
  await addBound();
  await addDisabled();
  await far.admin.request("PUT", `/organizations/${far.name}/security`, {
    json: { allowed_addresses: ["192.0.2.0/24"] },
    headers: { "x-forwarded-for": "192.0.2.1" },
  });
});
afterAll(() => app.close());

/** The status by which an endpoint's access refuses a credential; undefined where it lets it in. */
function refusalOf(access: Access, { is, elsewhere, isBound }: Credential): 401 | 403 | undefined {
  if (access.kind === "public" || access.kind === "site") return undefined;
  if (is === "refused") return 403;
  if (is === "nobody") return 401;
  if (access.kind === "instance_admin") return is.instance_admin === true ? undefined : 403;
  if (access.kind !== "organization") return undefined;
  if (isBound === true && access.unbound === true) return 403;
  return elsewhere !== true && is.role !== undefined && roleAllows(is.role, access.role) ? undefined : 403;
}

/** Operations on oneself that service accounts, and keys for less than their owner, are refused by their handlers. */
const forWholeKeys = new Set(["list_user_api_keys", "create_user_api_key", "delete_user_api_key"]);

/** Says whether a handler may refuse somebody whom the endpoint's access lets in. */
function mayBeRefused(id: string, { is, isLess, elsewhere }: Credential): boolean {
  // Its path has an organization, which takes nobody from elsewhere, and can be the default one of its members alone.
  if (id === "put_user_default_org")
    return elsewhere === true || (typeof is === "object" && is.role === undefined);
  return isLess === true && forWholeKeys.has(id);
}

/** Says whether a status is right. Endpoints that check signatures have no hook of this name, which they tell everybody but whose key is refused anywhere. */
function isRight(id: string, access: Access, credential: Credential, status: number): boolean {
  if (access.kind === "signature")
    return status === (credential.is === "refused" && "authorization" in credential.headers() ? 403 : 404);
  const refusal = refusalOf(access, credential);
  if (refusal !== undefined) return status === refusal;
  return status !== 401 && status < 500 && (status !== 403 || mayBeRefused(id, credential));
}

/** What ends the session that asks, or others of whoever asks. */
const sessionEnders = new Set(["delete_current_user_session", "delete_user_sessions"]);

describe("every endpoint", () => {
  it.each(all)("%s lets in whom its access says, whatever the credential", async (id, endpoint) => {
    const { access, method } = endpoint;
    const wrong: unknown[] = [];
    const endsSessions = sessionEnders.has(id);
    for (const [name, credential] of credentials) {
      if (endsSessions) await credential.renew?.();
      const path = fillPath(endpoint.path, credential.elsewhere === true ? far.name : org.name);
      const { status, text } = await app.anonymous.request(method, path, {
        headers: { "content-type": "application/json", ...credential.headers(), ...proofFor(endpoint) },
        ...(method === "GET" ? {} : { payload: "{}" }),
      });
      if (!isRight(id, access, credential, status)) wrong.push([name, status, text.slice(0, 200)]);
    }
    expect(wrong).toEqual([]);
    if (endsSessions) for (const { renew } of credentials.values()) await renew?.();
  });

  it("was asked with every kind of credential", () => {
    expect(credentials.size).toBeGreaterThan(25);
    const kinds = [...credentials.values()].map(({ is }) => is);
    for (const is of ["nobody", "refused"]) expect(kinds).toContain(is);
  });
});
