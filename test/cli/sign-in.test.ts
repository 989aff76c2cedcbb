import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { switchUser } from "../../src/cli/admin-identity.ts";
import { print } from "../../src/cli/output.ts";
import { localAddress, signInLink, tellHowToSignIn } from "../../src/cli/sign-in.ts";
import { bootstrap } from "../../src/modules/identity/bootstrap/service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { browserOf, fromSite, trySignIn } from "../support/sessions.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let lines: string[];
beforeAll(async () => {
  app = await startTestApp({ PORT: "8123", WAYBILL_PUBLIC_URL: "http://localhost:8123" });
  await bootstrap(app.deps, async () => {});
});
afterAll(() => app.close());
beforeEach(() => {
  app.clock.advance(61);
  lines = [];
  vi.spyOn(print, "line").mockImplementation((text = "") => void lines.push(text));
});
afterEach(() => vi.restoreAllMocks());

const tokenIn = (line: string | undefined): string => /#token=([\w-]{43})/.exec(line ?? "")?.[1] ?? "";

async function linkFor(user?: string): Promise<string> {
  await signInLink(app.deps, user === undefined ? {} : { user });
  return tokenIn(lines.at(-1));
}

/** Sends a token over a connection from this address. */
async function signInFrom(remoteAddress: string, token: string, headers = {}): Promise<number> {
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/user/sessions",
    headers: { ...fromSite, ...headers },
    payload: { token },
    remoteAddress,
  });
  return answer.statusCode;
}

describe("waybill admin sign-in-link", () => {
  it("prints a link that signs the first administrator in, once", async () => {
    const token = await linkFor();
    expect(lines).toEqual([`http://localhost:8123/-/sign-in#token=${token}`]);
    const browser = browserOf(app, await trySignIn(app, { token }));
    expect(browser.answer.json).toMatchObject({
      name: "admin",
      is_instance_admin: true,
      default_org_name: "main",
      session: { api_key_id: null, is_current: true },
    });
    expect((await browser.get("/environments/main")).status).toBe(200);
    expect((await trySignIn(app, { token })).status).toBe(401);
    const { entries } = (await browser.get("/audit-log/admin")).json;
    expect(entries.slice(0, 2)).toMatchObject([
      { action: "create_user_session", actor_kind: "user", actor: "admin", resource_type: "session" },
      { action: "admin sign-in-link", resource_type: "sign_in_link", resource: "admin" },
    ]);
    expect(app.logged()).not.toContain(token);
    const { rows } = await app.deps.db.pool.query("select l::text as row from sign_in_links l");
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it("signs in whom it names; a session without a key does all a key does, and records itself", async () => {
    const user = await app.user();
    const browser = browserOf(app, await trySignIn(app, { token: await linkFor(user.name) }));
    const made = await browser.request("POST", "/user/api-keys", { json: { description: "first" } });
    expect((await app.as(made.json.key).get("/user")).json.name).toBe(user.name);
    const { entries } = (await browser.get(`/audit-log/${user.name}?action=create_user_api_key`)).json;
    expect(entries).toMatchObject([{ actor: user.name, actor_kind: "user", api_key_id: null }]);
    expect((await browser.get("/user/sessions")).json.data).toMatchObject([{ api_key_id: null }]);
    const id = browser.answer.json.session.id as string;
    expect(app.logged()).toContain(`"session_id":"${id}"`);
    await switchUser(app.deps, user.name, { disabled: true });
    expect((await browser.get("/user")).status).toBe(401);
  });

  it("works for ten minutes, and once when it is sent twice at a time", async () => {
    const late = await linkFor();
    app.clock.advance(601);
    expect((await trySignIn(app, { token: late })).status).toBe(401);
    const token = await linkFor();
    app.clock.advance(590);
    const answers = await Promise.all([1, 2, 3].map(() => trySignIn(app, { token })));
    expect(answers.map(({ status }: Answer) => status).toSorted((a, b) => a - b)).toEqual([201, 401, 401]);
    const { rows } = await app.deps.db.pool.query("select * from sign_in_links");
    expect(rows).toEqual([]);
  });

  it("works from this machine alone, whatever a proxy claims; elsewhere it is not used up", async () => {
    const token = await linkFor();
    for (const address of ["192.0.2.7", "::ffff:10.0.0.1", "2001:db8::1"])
      expect(await signInFrom(address, token), address).toBe(401);
    expect(await signInFrom("192.0.2.8", token, { "x-forwarded-for": "127.0.0.1" })).toBe(401);
    expect(await signInFrom("127.0.0.1", token, { "x-forwarded-for": "192.0.2.7" })).toBe(401);
    expect(await signInFrom("127.0.0.1", token, { forwarded: "for=192.0.2.7" })).toBe(401);
    expect(await signInFrom("127.0.0.1", token, { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await signInFrom("::ffff:127.0.0.1", token)).toBe(201);
  });

  it("says why it cannot", async () => {
    await expect(signInLink(app.deps, { user: "nobody" })).rejects.toThrow("User 'nobody' does not exist");
    const user = await app.user();
    const token = await linkFor(user.name);
    await switchUser(app.deps, user.name, { disabled: true });
    await expect(signInLink(app.deps, { user: user.name })).rejects.toThrow(`'${user.name}' is disabled`);
    expect((await trySignIn(app, { token })).status).toBe(401);
  });
});

describe("the start of a server", () => {
  it("prints one line with the address and a link at a terminal, outside of the log", async () => {
    await tellHowToSignIn(app.deps, "http://127.0.0.1:8123", true);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^Web app: http:\/\/localhost:8123\/-\/sign-in#token=[\w-]{43} \(signs in once, from this machine, within ten minutes\)$/,
    );
    const token = tokenIn(lines[0]);
    expect(app.logged()).not.toContain(token);
    expect((await trySignIn(app, { token })).json).toMatchObject({ name: "admin" });
  });

  it("prints the address alone where nobody sits at a terminal", async () => {
    await tellHowToSignIn(app.deps, "http://127.0.0.1:8123", false);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^Web app: http:\/\/localhost:8123\/ \(sign in with an API key, or /);
    expect((await app.deps.db.pool.query("select * from sign_in_links")).rows).toEqual([]);
  });

  it("goes on without a link where nobody can be signed in", async () => {
    const empty = await startTestApp();
    try {
      await tellHowToSignIn(empty.deps, "http://127.0.0.1:8123", true);
      expect(lines[0]).toContain("http://127.0.0.1:8123/ (sign in with an API key");
    } finally {
      await empty.close();
    }
  });
});

describe("localAddress", () => {
  it.each([
    ["127.0.0.1", 8001, "http://localhost:8001", "http://localhost:8001"],
    ["127.0.0.1", 40123, "http://localhost:0", "http://127.0.0.1:40123"],
    ["0.0.0.0", 8001, "https://waybill.example.org", "http://127.0.0.1:8001"],
    ["::", 8001, "https://example.org/way", "http://127.0.0.1:8001/way"],
    ["10.1.2.3", 80, "http://waybill.lan", "http://10.1.2.3:80"],
    ["fd00::1", 80, "http://waybill.lan", "http://[fd00::1]:80"],
    ["127.0.0.1", 8001, "http://[::1]:8001", "http://[::1]:8001"],
  ])("of a server on %s:%d that is public as %s", (host, port, publicUrl, expected) => {
    expect(localAddress({ host, port, publicUrl, tls: undefined })).toBe(expected);
  });

  it("is not another machine's, whatever that is called", () => {
    const name = uniqueName("localhost.example");
    expect(localAddress({ tls: undefined, host: "127.0.0.1", port: 1, publicUrl: `http://${name}` })).toBe(
      "http://127.0.0.1:1",
    );
  });
});
