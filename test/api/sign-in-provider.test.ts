import { createHash, generateKeyPairSync } from "node:crypto";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { linkIdentityCommand } from "../../src/cli/admin-oidc.ts";
import {
  backTo as back,
  beginAt,
  comeBackTo,
  startPath as start,
  startWith,
  whoHas,
} from "../support/at-provider.ts";
import type { TestApp, TestOrg } from "../support/app.ts";
import { startProvider, type TestProvider } from "../support/sign-in-provider.ts";
import { uniqueName } from "../support/unique-name.ts";

let provider: TestProvider;
let app: TestApp;
let org: TestOrg;
let other: TestOrg;

beforeAll(async () => {
  provider = await startProvider(back);
  app = await startWith(provider);
  org = await app.org();
  other = await app.org();
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(() => {
  provider.tokens = undefined;
  // Failures of one test are not counted in the next one.
  app.clock.advance(61);
});

const begin = (query = "", on = app) => beginAt(on, query);
const comeBack = (url: URL, cookie: string | undefined, on = app) => comeBackTo(on, url, cookie);
const whoIs = (session: string | undefined, on = app) => whoHas(on, session);

async function signIn(query = "", on = app, at = provider) {
  const { address, cookie } = await begin(query, on);
  return comeBack(await at.visit(address.href), cookie, on);
}

async function rolesOf(user: string): Promise<[string, string, string][]> {
  const { rows } = await app.deps.db.pool.query(
    `select o.name, m.role, m.source from memberships m join organizations o on o.id = m.org_id
     join users u on u.id = m.user_id where u.name = $1 and o.kind = 'shared' order by o.name`,
    [user],
  );
  return rows.map((row: Record<string, string>) => [row["name"]!, row["role"]!, row["source"]!]);
}

function newcomer(claims: object = {}): string {
  const name = uniqueName("ann");
  provider.person = { sub: `sub-${name}`, preferred_username: name, name: "Ann Lee", ...claims };
  return name;
}

async function audited(orgId: string): Promise<[string, string, string][]> {
  const { rows } = await app.deps.db.pool.query(
    "select action, resource_type, resource from audit_log where org_id = $1 order by seq",
    [orgId],
  );
  return rows.map((row: Record<string, string>) => [row["action"]!, row["resource_type"]!, row["resource"]!]);
}

describe("signing in at a provider", () => {
  it("is one of the methods", async () => {
    const { json } = await app.anonymous.get("/sign-in/methods");
    expect(json.methods[1]).toEqual({
      kind: "oidc",
      name: "sso",
      display_name: new URL(provider.issuer).host,
      address: `http://waybill.test${start}`,
    });
  });

  it("asks by the code flow with a proof key, and makes the user at the first sign-in", async () => {
    const name = newcomer({ groups: [`team-${org.name}`], email: "ann@example.org", email_verified: true });
    const { address } = await begin();
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "waybill",
      redirect_uri: back,
      scope: "openid email profile",
      code_challenge_method: "S256",
    });
    for (const parameter of ["state", "nonce", "code_challenge"])
      expect(address.searchParams.get(parameter)).toMatch(/^[\w-]{43}$/);
    const { status, headers, session } = await signIn("?next=/acme/flows%3Fpage=2");
    expect([status, headers.location]).toEqual([303, "http://waybill.test/acme/flows?page=2"]);
    expect((await whoIs(session)).json).toMatchObject({
      name,
      display_name: "Ann Lee",
      email: "ann@example.org",
      is_instance_admin: false,
    });
    expect(await rolesOf(name)).toEqual([[org.name, "member", "idp"]]);
    const home = await app.deps.db.pool.query("select id from organizations where name = $1", [name]);
    expect((await audited(home.rows[0].id)).map(([action, kind]) => `${action} ${kind}`)).toEqual([
      "sign_in session",
      "sign_in user",
    ]);
    expect((await audited(org.id)).at(-1)).toEqual(["role_mapped", "member", name]);
    expect((await app.server.inject({ url: "/metrics" })).body).toContain(
      'waybill_sign_ins_total{method="oidc",outcome="signed_in"}',
    );
  });

  it("finds the same user again by issuer and subject, with a new session each time", async () => {
    const name = newcomer();
    const first = await signIn();
    provider.person = { ...provider.person, preferred_username: "someone-else", email: "x@example.org" };
    const second = await signIn();
    expect((await whoIs(second.session)).json.name).toBe(name);
    expect(first.session).not.toBe(second.session);
    const { address, cookie } = await begin();
    const third = await comeBack(
      await provider.visit(address.href),
      `${cookie}; waybill-session=chosen-by-others`,
    );
    expect([third.status, third.session === "waybill-session=chosen-by-others"]).toEqual([303, false]);
    expect((await whoIs("waybill-session=chosen-by-others")).status).toBe(401);
  });

  it("never takes a name or a mail address for the person", async () => {
    const name = newcomer({ email: "same@example.org", email_verified: true });
    await signIn();
    provider.person = { ...provider.person, sub: `other-${name}` };
    const { session } = await signIn();
    expect((await whoIs(session)).json).toMatchObject({ name: `${name}-2`, email: "" });
  });

  it("goes on to this site alone", async () => {
    newcomer();
    const { headers } = await signIn(`?next=${encodeURIComponent("//evil.example/")}`);
    expect(headers.location).toBe("http://waybill.test/");
  });

  it("makes no user twice of sign-ins at the same time", async () => {
    const name = newcomer();
    const begun = await Promise.all([begin(), begin(), begin()]);
    const urls = await Promise.all(begun.map(({ address }) => provider.visit(address.href)));
    const answers = await Promise.all(urls.map((url, index) => comeBack(url, begun[index]!.cookie)));
    const names = await Promise.all(answers.map(async ({ session }) => (await whoIs(session)).json.name));
    expect(names).toEqual([name, name, name]);
  });

  it("signs in as the user that was linked before", async () => {
    const user = await app.user();
    newcomer();
    await linkIdentityCommand(app.deps, user.name, provider.person.sub);
    expect((await whoIs((await signIn()).session)).json.name).toBe(user.name);
    await expect(linkIdentityCommand(app.deps, user.name, provider.person.sub)).rejects.toThrow(
      "is a user already",
    );
  });

  it("keeps disabled users out, also with a session that they have", async () => {
    const name = newcomer();
    const { session } = await signIn();
    await app.deps.db.pool.query("update users set disabled_at = now() where name = $1", [name]);
    expect((await whoIs(session)).status).toBe(401);
    expect((await signIn()).status).toBe(401);
  });

  it("makes no new user of one who was removed", async () => {
    const name = newcomer();
    await signIn();
    await app.deps.db.pool.query("update users set deleted_at = now() where name = $1", [name]);
    expect((await signIn()).status).toBe(401);
    const { rows } = await app.deps.db.pool.query("select from users where name like $1", [`${name}%`]);
    expect(rows).toHaveLength(1);
  });
});

describe("memberships by groups", () => {
  it("follow the groups at each sign-in", async () => {
    const name = newcomer({
      groups: [`team-${org.name}`, `admins-${other.name}`, "auditors", "team-nowhere"],
    });
    await signIn();
    const given = new Map((await rolesOf(name)).map(([at, ...role]) => [at, role.join(" ")]));
    expect([given.get(org.name), given.get(other.name)]).toEqual(["member idp", "admin idp"]);
    provider.person = { ...provider.person, groups: [`team-${other.name}`] };
    const before = (await audited(other.id)).length;
    await signIn();
    expect(await rolesOf(name)).toEqual([[other.name, "member", "idp"]]);
    await signIn();
    expect((await audited(other.id)).length).toBe(before + 1);
    const log = await org.admin.get(`/membership-audit-log/${org.name}?search=${name}`);
    expect(log.json.entries[0]).toMatchObject({ event_type: "removed", source: "idp" });
  });

  it("leave alone what was made by hand", async () => {
    const name = newcomer({ groups: [`team-${org.name}`] });
    await signIn();
    await org.admin.put(`/members/${org.name}/${name}`, { role: "snapshotter" });
    provider.person = { ...provider.person, groups: [`admins-${org.name}`] };
    await signIn();
    provider.person = { ...provider.person, groups: [] };
    await signIn();
    expect(await rolesOf(name)).toEqual([[org.name, "snapshotter", "app"]]);
  });

  it("never remove the last admin, of an organization or of the installation", async () => {
    const lonely = await app.org();
    const name = newcomer({ groups: [`admins-${lonely.name}`, "platform-admins"] });
    const { session } = await signIn();
    expect((await whoIs(session)).json.is_instance_admin).toBe(true);
    await app.deps.db.pool.query(
      "delete from memberships where org_id = $1 and user_id <> (select id from users where name = $2)",
      [lonely.id, name],
    );
    provider.person = { ...provider.person, groups: [] };
    await signIn();
    expect(await rolesOf(name)).toEqual([[lonely.name, "admin", "idp"]]);
    expect((await whoIs(session)).json.is_instance_admin).toBe(true);
    expect(app.logged()).toContain("groups would remove the last admin, who stays");
    expect(app.logged()).toContain("groups would remove the last instance administrator, who stays");
    await app.user({ instance_admin: true });
    await signIn();
    expect((await whoIs(session)).json.is_instance_admin).toBe(false);
  });

  it("are found among ten thousand groups", async () => {
    const many = Array.from({ length: 9_999 }, (_, index) => `a-group-of-a-large-company-${index}`);
    const name = newcomer({ groups: [...many, `team-${org.name}`] });
    expect((await signIn()).status).toBe(303);
    expect(await rolesOf(name)).toEqual([[org.name, "member", "idp"]]);
  });

  it("come from UserInfo where the token has none", async () => {
    const overage = await startProvider(back, { inToken: false });
    const second = await startWith(overage);
    try {
      const there = await second.org();
      overage.person = { sub: "s", preferred_username: "bob", groups: [`team-${there.name}`] };
      const { session } = await signIn("", second, overage);
      expect((await whoIs(session, second)).json.name).toBe("bob");
      const { rows } = await second.deps.db.pool.query(
        "select role from memberships where org_id = $1 and source = 'idp'",
        [there.id],
      );
      expect(rows).toEqual([{ role: "member" }]);
    } finally {
      await second.close();
      await overage.close();
    }
  });
});

describe("an answer that proves nobody", () => {
  async function comingBack(change: (url: URL, cookie: string) => [URL, string | undefined]) {
    newcomer();
    const { address, cookie } = await begin();
    const url = await provider.visit(address.href);
    return comeBack(...change(url, cookie));
  }

  const refused = { status: 401, session: undefined };

  it("is one with another state, without the cookie, with one of somebody else, or one that is made up", async () => {
    const stranger = await begin();
    const otherState = await comingBack((url, cookie) => {
      url.searchParams.set("state", "x".repeat(43));
      return [url, cookie];
    });
    expect(otherState).toMatchObject(refused);
    for (const cookie of [undefined, stranger.cookie, "waybill-sign-in=AAAA"])
      expect(await comingBack((url) => [url, cookie])).toMatchObject(refused);
  });

  it.each([
    ["iss", "https://evil.example"],
    ["code", "made-up"],
  ])("is one with another %s", async (name, value) => {
    const answer = await comingBack((url, cookie) => {
      url.searchParams.set(name, value);
      return [url, cookie];
    });
    expect(answer).toMatchObject(refused);
  });

  it("is an error, of which nothing is shown or logged", async () => {
    const answer = await comingBack((url, cookie) => {
      url.searchParams.delete("code");
      url.searchParams.set("error", "<script>alert(1)</script>");
      url.searchParams.set("error_description", "<b>text of the provider</b>");
      return [url, cookie];
    });
    expect(answer).toMatchObject(refused);
    expect(answer.text).not.toMatch(/script|of the provider<|<b>/);
    expect(answer.text).toContain(String(answer.headers["x-request-id"]));
    expect(answer.text).toContain('<html lang="en"><head>');
    const style = /<style>([^<]*)<\/style>/.exec(answer.text)?.[1] ?? "";
    const digest = createHash("sha256").update(style).digest("base64");
    expect(answer.headers["content-security-policy"]).toMatch(/^default-src 'none'; /);
    expect(answer.headers["content-security-policy"]).toContain(`style-src 'sha256-${digest}';`);
    const dark = await app.server.inject({
      url: new URL(back).pathname,
      headers: { cookie: "waybill-theme=dark" },
    });
    expect(dark.body).toContain('<html lang="en" data-theme="dark">');
    const odd = { cookie: 'waybill-theme="><script>' };
    const plain = await app.server.inject({ url: new URL(back).pathname, headers: odd });
    expect(plain.body).not.toMatch(/data-theme="|<script/);
    expect(app.logged()).not.toContain("text of the provider");
  });

  it("is one that was used before", async () => {
    newcomer();
    const { address, cookie } = await begin();
    const url = await provider.visit(address.href);
    expect((await comeBack(url, cookie)).status).toBe(303);
    expect((await comeBack(url, cookie)).status).toBe(401);
  });

  it("is one that comes after ten minutes", async () => {
    newcomer();
    const { address, cookie } = await begin();
    const url = await provider.visit(address.href);
    app.clock.advance(601);
    expect((await comeBack(url, cookie)).status).toBe(401);
  });

  const now = (): number => Math.floor(Date.now() / 1000);
  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  type Forged = {
    claims?: object;
    header?: object;
    foreign?: boolean;
    unsigned?: boolean;
    /** How many seconds ago it ended. */
    ended?: number;
  };

  async function forge({ claims, header, unsigned, ended = -300, ...by }: Forged) {
    const { address, cookie } = await begin();
    const all = {
      iss: provider.issuer,
      aud: "waybill",
      sub: uniqueName("forged"),
      nonce: address.searchParams.get("nonce"),
      iat: now() - 300,
      exp: now() - ended,
      ...claims,
    };
    const signed = provider.sign(all, header, by.foreign === true ? foreign : undefined);
    const id_token = unsigned === true ? signed.replace(/[^.]*$/, "") : signed;
    provider.tokens = () => ({ access_token: "x", token_type: "Bearer", id_token });
    const url = new URL(back);
    url.search = new URLSearchParams({
      code: "any",
      state: address.searchParams.get("state") ?? "",
      iss: provider.issuer,
    }).toString();
    return comeBack(url, cookie);
  }

  // UserInfo of the provider knows no such token, so that these have all that is looked for.
  const complete = { groups: [], preferred_username: "forged", email: "" };

  it.each<[string, Forged, number]>([
    ["is whole", {}, 303],
    ["ended less than a minute ago, as clocks differ", { ended: 40 }, 303],
    ["ended more than a minute ago", { ended: 61 }, 401],
    ["has no end", { claims: { exp: undefined } }, 401],
    ["does not say when it was made", { claims: { iat: undefined } }, 401],
    ["has another nonce", { claims: { nonce: "other" } }, 401],
    ["names no issuer", { claims: { iss: undefined } }, 401],
    ["is for nobody", { claims: { aud: undefined } }, 401],
    ["has no nonce", { claims: { nonce: undefined } }, 401],
    ["is of another issuer", { claims: { iss: "https://evil.example" } }, 401],
    ["is for another client", { claims: { aud: "another" } }, 401],
    ["is for several, and made for another", { claims: { aud: ["waybill", "x"], azp: "x" } }, 401],
    ["has no subject", { claims: { sub: undefined } }, 401],
    ["is not signed", { header: { alg: "none" }, unsigned: true }, 401],
    ["has an empty signature", { unsigned: true }, 401],
    ["is signed by somebody else", { foreign: true }, 401],
    ["names an unknown key", { header: { kid: "unknown" } }, 401],
    ["is signed in another way than it says", { header: { alg: "HS256" } }, 401],
  ])("or not: a token that %s", async (_what, forged, status) => {
    const answer = await forge({ ...forged, claims: { ...complete, ...forged.claims } });
    expect([answer.status, answer.session === undefined]).toEqual([status, status !== 303]);
  });

  it("is one without an ID token", async () => {
    newcomer();
    const { address, cookie } = await begin();
    const url = await provider.visit(address.href);
    provider.tokens = () => ({ access_token: "x", token_type: "Bearer" });
    expect((await comeBack(url, cookie)).status).toBe(401);
  });
});

describe("the provider", () => {
  it("may change its keys", async () => {
    newcomer();
    expect((await signIn()).status).toBe(303);
    provider.rotate();
    newcomer();
    expect((await signIn()).status).toBe(303);
  });

  it("may be away, while sessions live on", async () => {
    newcomer();
    const { session } = await signIn();
    const { address, cookie } = await begin();
    const url = await provider.visit(address.href);
    await provider.goAway();
    const answer = await comeBack(url, cookie);
    expect([answer.status, answer.session]).toEqual([503, undefined]);
    expect(answer.text).toContain("The sign-in provider cannot be reached");
    expect(answer.headers["retry-after"]).toBe("2");
    expect((await whoIs(session)).status).toBe(200);
    await provider.comeBack();
    expect((await signIn()).status).toBe(303);
  });
});
