import { generateKeyPairSync } from "node:crypto";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { backTo, beginAt, comeBackTo, startWith, whoHas } from "../support/at-provider.ts";
import type { TestApp } from "../support/app.ts";
import { fromSite, signIn as signInWithKey } from "../support/sessions.ts";
import { startProvider, type TestProvider } from "../support/sign-in-provider.ts";
import { uniqueName } from "../support/unique-name.ts";

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

let provider: TestProvider;
let app: TestApp;

beforeAll(async () => {
  provider = await startProvider(backTo);
  app = await startWith(provider);
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(() => {
  provider.tokens = undefined;
  provider.deliver = async (address, form) => (await sendTo(address.pathname, form)).statusCode;
});

function sendTo(url: string, payload: string, type = "application/x-www-form-urlencoded") {
  return app.server.inject({ method: "POST", url, payload, headers: { "content-type": type } });
}

async function signIn(person: { sub?: string } = {}): Promise<string> {
  const name = uniqueName("ann");
  provider.person = { sub: `sub-${name}`, preferred_username: name, ...person };
  const { address, cookie } = await beginAt(app);
  const { session, status } = await comeBackTo(app, await provider.visit(address.href), cookie);
  expect(status).toBe(303);
  return session ?? "";
}

async function statusOf(session: string): Promise<number> {
  return (await whoHas(app, session)).status;
}

function signOut(cookie: string, headers: Record<string, string> = fromSite) {
  return app.server.inject({
    method: "POST",
    url: "/-/sign-out",
    headers: { ...headers, ...(cookie === "" ? {} : { cookie }) },
  });
}

interface SessionRow {
  issuer: string;
  subject: string;
  provider_session: string;
  id_token: Buffer;
}

/** What is kept of the session that was begun last. */
async function latestRow(): Promise<SessionRow> {
  const { rows } = await app.deps.db.pool.query<SessionRow>(
    "select * from sessions order by id desc limit 1",
  );
  return rows[0]!;
}

describe("signing out of a session that was begun at a provider", () => {
  it("ends it, leads to the provider, and from there back to the sign-in page", async () => {
    const session = await signIn();
    const { rows } = await app.deps.db.pool.query("select id_token from sessions order by id desc limit 1");
    const kept = rows[0].id_token as Buffer;
    expect(kept.toString("utf8")).not.toContain("eyJ");
    const answer = await signOut(session);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["set-cookie"]).toMatch(
      /^waybill-session=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/,
    );
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(await statusOf(session)).toBe(401);
    const address = new URL(answer.json().address);
    expect(address.origin).toBe(provider.issuer);
    expect(Object.fromEntries(address.searchParams)).toEqual({
      client_id: "waybill",
      id_token_hint: app.deps.secrets.open(kept),
      post_logout_redirect_uri: "http://waybill.test/-/sign-in",
    });
    expect((await provider.signOut(address.href)).href).toBe("http://waybill.test/-/sign-in");
    expect(app.logged()).not.toContain(address.searchParams.get("id_token_hint")!);
  });

  it("leads a browser there that sent a form", async () => {
    const session = await signIn();
    const answer = await signOut(session, { ...fromSite, accept: "text/html" });
    expect(answer.statusCode).toBe(303);
    expect(new URL(String(answer.headers.location)).origin).toBe(provider.issuer);
  });

  it("is recorded as sign_out in the person's own organization", async () => {
    const session = await signIn();
    const { name } = (await whoHas(app, session)).json;
    await signOut(session);
    const { rows } = await app.deps.db.pool.query(
      `select a.action, a.resource_type from audit_log a join organizations o on o.id = a.org_id
       where o.name = $1 order by a.seq desc limit 1`,
      [name],
    );
    expect(rows).toEqual([{ action: "sign_out", resource_type: "session" }]);
  });

  it("ends a session that was begun with a key here alone", async () => {
    const { cookie } = await signInWithKey(app, (await app.user()).key);
    const answer = await signOut(cookie);
    expect([answer.statusCode, answer.json()]).toEqual([200, { address: null }]);
    expect(await statusOf(cookie)).toBe(401);
  });

  it("works while the provider is away", async () => {
    const away = await startProvider(backTo);
    const other = await startWith(away);
    try {
      away.person = { sub: "ann", preferred_username: "ann" };
      const { address, cookie } = await beginAt(other);
      const { session } = await comeBackTo(other, await away.visit(address.href), cookie);
      await away.goAway();
      const beside = await startWith(away, {}, other);
      const answer = await beside.server.inject({
        method: "POST",
        url: "/-/sign-out",
        headers: { ...fromSite, cookie: session! },
      });
      expect([answer.statusCode, answer.json()]).toEqual([200, { address: null }]);
      expect((await whoHas(other, session)).status).toBe(401);
      await beside.close();
    } finally {
      await other.close();
      await away.close();
    }
  });

  it("takes a cookie of this site's pages alone, no cookie beside a key, and no key", async () => {
    const user = await app.user();
    const session = await signIn();
    for (const headers of [
      {},
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site", origin: "http://waybill.test" },
      { origin: "https://evil.example" },
      { origin: "null" },
    ] as Record<string, string>[])
      expect((await signOut(session, headers)).statusCode, JSON.stringify(headers)).toBe(403);
    const bearer = { authorization: `Bearer ${user.key}` };
    expect((await signOut(session, { ...fromSite, ...bearer })).statusCode).toBe(404);
    expect((await signOut("", bearer)).statusCode).toBe(404);
    expect((await signOut("", fromSite)).statusCode).toBe(401);
    expect((await signOut("waybill-session=made-up")).statusCode).toBe(401);
    expect(await statusOf(session)).toBe(200);
  });
});

describe("signing out at the provider", () => {
  it("ends the session here at once, by the provider's own word", async () => {
    const [other, session] = [await signIn(), await signIn()];
    const { id_token } = await latestRow();
    const end = new URL("/session/end", provider.issuer);
    end.searchParams.set("id_token_hint", app.deps.secrets.open(id_token));
    expect(await statusOf(session)).toBe(200);
    await provider.signOut(end.href);
    expect([await statusOf(session), await statusOf(other)]).toEqual([401, 200]);
  });
});

/** Unix seconds of the server. */
const now = (): number => Math.floor(app.clock.now());

interface Forged {
  claims?: object;
  header?: object;
  foreign?: boolean;
  change?: (token: string) => string;
}

const foreignKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

function logoutToken(
  sub: string,
  { claims, header, foreign, change = (token) => token }: Forged = {},
): string {
  const all = {
    iss: provider.issuer,
    aud: "waybill",
    iat: now(),
    exp: now() + 120,
    jti: uniqueName("token"),
    events: { [logoutEvent]: {} },
    sub,
    ...claims,
  };
  return change(
    provider.sign(all, { typ: "logout+jwt", ...header }, foreign === true ? foreignKey : undefined),
  );
}

const send = (token: string) =>
  sendTo("/-/sign-out/back-channel", new URLSearchParams({ logout_token: token }).toString());

describe("a logout token", () => {
  it("ends all sessions of a subject, or the one that it names, and is recorded", async () => {
    const sub = uniqueName("sub");
    const sessions = [await signIn({ sub }), await signIn({ sub }), await signIn({ sub })];
    const { provider_session: sid } = await latestRow();
    const answer = await send(logoutToken(sub, { claims: { sid, sub: undefined } }));
    expect([answer.statusCode, answer.body, answer.headers["cache-control"]]).toEqual([200, "", "no-store"]);
    expect(await Promise.all(sessions.map(statusOf))).toEqual([200, 200, 401]);
    const { name } = (await whoHas(app, sessions[0])).json;
    expect((await send(logoutToken(sub))).statusCode).toBe(200);
    expect(await Promise.all(sessions.map(statusOf))).toEqual([401, 401, 401]);
    const { rows } = await app.deps.db.pool.query(
      `select a.action, a.actor_name from audit_log a join organizations o on o.id = a.org_id
       where o.name = $1 and a.action = 'session_revoked'`,
      [name],
    );
    expect(rows).toEqual(
      Array.from({ length: 3 }, () => ({ action: "session_revoked", actor_name: "sign-in provider" })),
    );
  });

  it("of somebody without sessions, or without a session of that name, changes nothing", async () => {
    const sub = uniqueName("sub");
    const session = await signIn({ sub });
    expect((await send(logoutToken("nobody-here"))).statusCode).toBe(200);
    expect((await send(logoutToken(sub, { claims: { sid: "another" } }))).statusCode).toBe(200);
    expect(
      (await send(logoutToken("another", { claims: { sid: (await latestRow()).provider_session } })))
        .statusCode,
    ).toBe(200);
    expect(await statusOf(session)).toBe(200);
  });

  it("is taken once", async () => {
    const sub = uniqueName("sub");
    const token = logoutToken(sub);
    expect((await send(token)).statusCode).toBe(200);
    const session = await signIn({ sub });
    const again = await Promise.all([send(token), send(token), send(token)]);
    expect(again.map(({ statusCode }) => statusCode)).toEqual([400, 400, 400]);
    expect(await statusOf(session)).toBe(200);
  });

  const none = { sub: undefined };
  it.each<[string, Forged]>([
    ["of another issuer", { claims: { iss: "https://evil.example" } }],
    ["without an issuer", { claims: { iss: undefined } }],
    ["for another client", { claims: { aud: "another" } }],
    ["for others", { claims: { aud: ["one", "another"] } }],
    ["without an audience", { claims: { aud: undefined } }],
    ["without the time it was made", { claims: { iat: undefined } }],
    ["that was made long ago", { claims: { iat: 1_000_000_000, exp: undefined } }],
    ["that is to be made later", { claims: { iat: 4_000_000_000, exp: 4_000_000_100 } }],
    ["that has ended", { claims: { exp: 1_000_000_000 } }],
    ["without a name", { claims: { jti: undefined } }],
    ["with an empty name", { claims: { jti: "" } }],
    ["with a name that is too long", { claims: { jti: "x".repeat(256) } }],
    ["without events", { claims: { events: undefined } }],
    ["with another event", { claims: { events: { "http://schemas.openid.net/event/other": {} } } }],
    ["whose event is no object", { claims: { events: { [logoutEvent]: true } } }],
    ["with a nonce", { claims: { nonce: "n" } }],
    ["with an empty nonce", { claims: { nonce: "" } }],
    ["with nobody", { claims: none }],
    ["whose session is no text", { claims: { ...none, sid: 7 } }],
    ["signed by somebody else", { foreign: true }],
    ["with an unknown key", { header: { kid: "unknown" } }],
    ["that is not signed", { header: { alg: "none" }, change: (token) => token.replace(/[^.]*$/, "") }],
    ["with an empty signature", { change: (token) => token.replace(/[^.]*$/, "") }],
    ["that says it is signed with a shared secret", { header: { alg: "HS256" } }],
    ["of another type", { header: { typ: "at+jwt" } }],
    ["that was changed", { change: (token) => token.replace(/^([^.]*\.[^.]{20})./, "$1x") }],
    ["of two parts", { change: (token) => token.replace(/\.[^.]*$/, "") }],
    ["of four parts", { change: (token) => `${token}.x` }],
    ["that is empty", { change: () => "" }],
    ["that is no token", { change: () => "{}" }],
  ])("%s is refused and changes nothing", async (_what, forged) => {
    const sub = uniqueName("sub");
    const session = await signIn({ sub });
    const answer = await send(logoutToken(sub, forged));
    expect([answer.statusCode, answer.json().error, answer.headers["cache-control"]]).toEqual([
      400,
      "invalid_request",
      "no-store",
    ]);
    expect(await statusOf(session)).toBe(200);
  });

  it("is made up for clocks that differ by less than a minute", async () => {
    const claims = { iat: now() - 340, exp: now() - 50 };
    expect((await send(logoutToken("nobody", { claims }))).statusCode).toBe(200);
    expect((await send(logoutToken("nobody", { claims: { iat: now() + 50 } }))).statusCode).toBe(200);
  });

  it("is no ID token", async () => {
    const sub = uniqueName("sub");
    const session = await signIn({ sub });
    const idToken = app.deps.secrets.open((await latestRow()).id_token);
    expect((await send(idToken)).statusCode).toBe(400);
    expect(await statusOf(session)).toBe(200);
  });

  it.each([
    ["twice", (token: string) => `logout_token=${token}&logout_token=${token}`],
    ["under another name", (token: string) => `id_token=${token}`],
    ["not at all", () => ""],
  ])("in a form %s is refused", async (_what, form) => {
    expect((await sendTo("/-/sign-out/back-channel", form(logoutToken("nobody")))).statusCode).toBe(400);
  });

  it("comes as a form of a sensible size", async () => {
    const token = logoutToken("nobody");
    const json = JSON.stringify({ logout_token: token });
    expect((await sendTo("/-/sign-out/back-channel", json, "application/json")).statusCode).toBe(400);
    expect((await sendTo("/-/sign-out/back-channel", token, "text/plain")).statusCode).toBe(415);
    expect((await send("x".repeat(40_000))).statusCode).toBe(413);
  });

  it("that is made up costs the provider nothing, or little", async () => {
    await send(logoutToken("nobody"));
    const before = provider.keyReads;
    for (let index = 0; index < 20; index += 1) {
      await send(logoutToken("nobody", { claims: { aud: "another" } }));
      await send(logoutToken("nobody", { foreign: true }));
      await send(logoutToken("nobody", { header: { kid: `unknown-${index}` } }));
    }
    expect(provider.keyReads - before).toBeLessThanOrEqual(5);
  });

  it("is taken with a key that the provider has only just got", async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    provider.rotate();
    expect((await send(logoutToken("nobody", { header: { kid: "second" } }))).statusCode).toBe(200);
  });

  it("is to be sent again when the provider's keys cannot be read", async () => {
    const beside = await startWith(provider, {}, app);
    try {
      await provider.goAway();
      const answer = await beside.server.inject({
        method: "POST",
        url: "/-/sign-out/back-channel",
        payload: new URLSearchParams({ logout_token: logoutToken("nobody") }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      expect(answer.statusCode).toBe(503);
      expect(answer.headers["retry-after"]).toBeDefined();
    } finally {
      await provider.comeBack();
      await beside.close();
    }
  });
});
