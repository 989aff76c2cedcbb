import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { needsRecentSignIn } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { backTo, beginAt, comeBackTo, startWith, whoHas } from "../support/at-provider.ts";
import type { Answer } from "../support/client.ts";
import { fillPath } from "../support/operations.ts";
import { fromSite, signIn as signInWithKey } from "../support/sessions.ts";
import { startProvider, type TestProvider } from "../support/sign-in-provider.ts";
import { uniqueName } from "../support/unique-name.ts";

const again = {
  message: "Sign in again to do this: it needs a sign-in of the last 30 minutes",
  reason: "insufficient_user_authentication",
};

let provider: TestProvider;
let app: TestApp;
let org: TestOrg;

beforeAll(async () => {
  provider = await startProvider(backTo);
});
afterAll(() => provider.close());
// The provider's clock is the machine's, and so is a new server's.
beforeEach(async () => {
  provider.tokens = undefined;
  app = await startWith(provider);
  org = await app.org();
  return () => app.close();
});

function become(claims: object = {}): void {
  const name = uniqueName("ann");
  provider.person = {
    sub: `sub-${name}`,
    preferred_username: name,
    groups: [`admins-${org.name}`],
    ...claims,
  };
}

async function signIn(query = "", cookie?: string): Promise<string> {
  const begun = await app.server.inject({
    url: `/-/sign-in/oidc/sso${query}`,
    headers: { ...fromSite, ...(cookie === undefined ? {} : { cookie }) },
  });
  const flow = String(begun.headers["set-cookie"]).split(";", 1)[0]!;
  const back = await provider.visit(String(begun.headers.location));
  const { session, status } = await comeBackTo(app, back, flow);
  expect(status).toBe(303);
  return session!;
}

const ask = (cookie: string, method: string, path: string, json?: object): Promise<Answer> =>
  app.anonymous.request(method, path, {
    headers: { ...fromSite, cookie },
    ...(json === undefined ? {} : { json }),
  });

const makeKey = (cookie: string): Promise<Answer> =>
  ask(cookie, "POST", "/user/api-keys", { description: "made at a page" });

/** Signs in with a token of ours in place of the provider's. */
async function signInWith(
  claims: object,
  query = "",
): Promise<{ status: number; session: string | undefined }> {
  const { address, cookie } = await beginAt(app, query);
  const now = Math.floor(Date.now() / 1000);
  const id_token = provider.sign({
    iss: provider.issuer,
    aud: "waybill",
    sub: uniqueName("sub"),
    iat: now,
    exp: now + 300,
    nonce: address.searchParams.get("nonce"),
    groups: [],
    preferred_username: "x",
    email: "",
    ...claims,
  });
  provider.tokens = () => ({ access_token: "x", token_type: "Bearer", id_token });
  const url = new URL(backTo);
  url.search = new URLSearchParams({
    code: "any",
    state: address.searchParams.get("state") ?? "",
    iss: provider.issuer,
  }).toString();
  const { status, session } = await comeBackTo(app, url, cookie);
  return { status, session };
}

describe("a session that was begun at a provider", () => {
  it("makes keys for half an hour after the sign-in, then asks for another one", async () => {
    become();
    const session = await signIn();
    expect((await whoHas(app, session)).json.session).toMatchObject({
      issuer: provider.issuer,
      api_key_id: null,
    });
    expect((await makeKey(session)).status).toBe(201);
    app.clock.advance(1795);
    expect((await makeKey(session)).status).toBe(201);
    app.clock.advance(10);
    const refused = await makeKey(session);
    expect([refused.status, refused.json]).toEqual([403, again]);
    expect((await ask(session, "GET", "/user/api-keys")).status).toBe(200);
  });

  it("is asked for each operation that says so, and for no other", async () => {
    become();
    const session = await signIn();
    app.clock.advance(1900);
    const inOrganization = Object.entries(endpoints as Record<string, Endpoint>).filter(
      ([, { access }]) => access.kind === "organization" || access.kind === "user",
    );
    const own = new Set(["delete_current_user_session", "delete_user_sessions", "stream_changes"]);
    for (const [id, endpoint] of inOrganization) {
      const isStream = endpoint.responses[200]?.contentType === "text/event-stream";
      if (own.has(id) || isStream) continue;
      const answer = await ask(session, endpoint.method, fillPath(endpoint.path, org.name));
      expect([id, answer.status === 403 && answer.json?.reason === again.reason]).toEqual([
        id,
        needsRecentSignIn(endpoint),
      ]);
    }
  });

  it("asks so of making keys, changing members and deletion", () => {
    const asked = Object.entries(endpoints as Record<string, Endpoint>)
      .filter(([, endpoint]) => needsRecentSignIn(endpoint))
      .map(([id]) => id);
    expect(asked).toEqual(
      expect.arrayContaining([
        "create_user_api_key",
        "create_service_account_api_key",
        "rotate_service_account_api_key",
        "put_member",
        "delete_member",
        "create_invitation",
        "delete_service_account",
        "delete_space",
        "delete_action",
      ]),
    );
    const ends = new Set([
      "delete_user_api_key",
      "delete_user_session",
      "delete_member_sessions",
      "delete_user_sessions",
    ]);
    expect(asked.filter((id) => ends.has(id))).toEqual([]);
  });

  it("goes on after the person has proved anew who they are, and the former session is no more", async () => {
    become();
    const session = await signIn();
    const begun = await app.server.inject({
      url: "/-/sign-in/oidc/sso?renew=1&next=/-/profile",
      headers: { ...fromSite, cookie: session },
    });
    const address = new URL(String(begun.headers.location));
    expect([address.searchParams.get("prompt"), address.searchParams.get("max_age")]).toEqual(["login", "0"]);
    const renewed = await signIn("?renew=1&next=/-/profile", session);
    expect(renewed).not.toBe(session);
    expect([(await whoHas(app, session)).status, (await whoHas(app, renewed)).status]).toEqual([401, 200]);
    expect((await makeKey(renewed)).status).toBe(201);
  });

  it("stays when somebody else signs in instead, or another site begins it", async () => {
    become();
    const session = await signIn();
    const first = provider.person;
    become();
    await signIn("?renew=1", session);
    expect((await whoHas(app, session)).status).toBe(200);
    provider.person = first;
    const begun = await app.server.inject({
      url: "/-/sign-in/oidc/sso?renew=1",
      headers: { "sec-fetch-site": "cross-site", cookie: session },
    });
    const flow = String(begun.headers["set-cookie"]).split(";", 1)[0]!;
    await comeBackTo(app, await provider.visit(String(begun.headers.location)), flow);
    expect((await whoHas(app, session)).status).toBe(200);
  });

  it("counts from what the provider says, not from when the session began", async () => {
    const now = Math.floor(Date.now() / 1000);
    const older = await signInWith({ auth_time: now - 1750 });
    expect((await makeKey(older.session!)).status).toBe(201);
    app.clock.advance(60);
    expect((await makeKey(older.session!)).json).toEqual(again);
    const unknown = await signInWith({});
    expect((await makeKey(unknown.session!)).json).toEqual(again);
    expect((await whoHas(app, unknown.session)).json.session.proved_at).toBeNull();
    // Nobody signs in in the future: it ends when it would.
    const future = await signInWith({ auth_time: now + 100_000 });
    app.clock.advance(1801);
    expect((await makeKey(future.session!)).json).toEqual(again);
  });

  it.each([
    ["without a time", {}],
    ["with a time that is too long ago", { auth_time: Math.floor(Date.now() / 1000) - 300 }],
  ])("is not renewed by a token %s", async (_what, claims) => {
    expect(await signInWith(claims, "?renew=1")).toEqual({ status: 401, session: undefined });
  });
});

describe("who came otherwise", () => {
  it("is not asked: a session begun with a key does what the key does, and so does a key", async () => {
    const user = await app.user();
    const { cookie } = await signInWithKey(app, user.key);
    app.clock.advance(3600);
    expect((await makeKey(cookie)).status).toBe(201);
    expect((await user.client.post("/user/api-keys", { description: "by key" })).status).toBe(201);
  });

  it("is not asked where no provider is set", async () => {
    const without = await startTestApp();
    try {
      const { cookie } = await signInWithKey(without, (await without.user()).key);
      const made = await without.anonymous.request("POST", "/user/api-keys", {
        headers: { ...fromSite, cookie },
        json: { description: "x" },
      });
      expect(made.status).toBe(201);
    } finally {
      await without.close();
    }
  });
});
