import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { fromSite, signIn, trySignIn } from "../support/sessions.ts";

const refused = { message: "Invalid or missing credentials" };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
});
// What failed before is forgotten.
beforeEach(() => app.clock.advance(61));
afterAll(() => app.close());

describe("failing to sign in", () => {
  it("has one text and takes one time, whatever it fails for; owners of known keys are told", async () => {
    const user = await app.user();
    const made = (await user.client.post("/user/api-keys", { description: "revoked" })).json;
    await user.client.delete(`/user/api-keys/${made.id}`);
    const unknown = `wb_${"x".repeat(43)}`;
    for (const body of [
      { api_key: unknown },
      { api_key: made.key },
      { token: unknown },
      { token: made.key },
    ]) {
      const begun = performance.now();
      const answer = await trySignIn(app, body);
      const took = performance.now() - begun;
      expect([answer.status, answer.json]).toEqual([401, refused]);
      expect(took).toBeGreaterThan(290);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
    const { entries } = (await user.client.get(`/audit-log/${user.name}?resource_type=refused_sign_in`)).json;
    expect(entries).toMatchObject([
      { action: "create_user_session", actor_kind: "system", actor: "anonymous", resource: made.id },
    ]);
    const lines = app
      .logged()
      .split("\n")
      .filter((line) => line.includes("sign-in refused"));
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ method: "link", address: "127.0.0.1" });
  });

  it("ten times within a minute makes the address wait, also for a key that works", async () => {
    const user = await app.user();
    const wrong = Array.from({ length: 12 }, () => trySignIn(app, { api_key: "wrong" }));
    const statuses = (await Promise.all(wrong)).map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    const told = await trySignIn(app, { api_key: user.key });
    expect([told.status, told.json]).toEqual([
      429,
      { message: "Too many failed attempts to sign in, try again later" },
    ]);
    expect(Number(told.headers["retry-after"])).toBeGreaterThan(50);
    // Who is signed in, or has a key, does not notice.
    expect((await user.client.get("/user")).status).toBe(200);
    app.clock.advance(61);
    await signIn(app, user.key);
    const metrics = (await app.anonymous.get("root:/metrics")).text;
    expect(metrics).toMatch(/waybill_sign_ins_total\{method="api_key",outcome="limited"\} 3/);
  });

  it("is counted for failures alone", async () => {
    const user = await app.user();
    for (let index = 0; index < 15; index += 1)
      expect((await trySignIn(app, { api_key: user.key })).status).toBe(201);
  });
});

describe("a body that is too large to be a key", () => {
  it.each(["/user/sessions", "/invitations/accept"])("is refused by %s without being read", async (path) => {
    const answer = await app.anonymous.request("POST", path, {
      json: { token: "x".repeat(17_000) },
      headers: fromSite,
    });
    expect([answer.status, answer.json]).toEqual([413, { message: "Request body is too large" }]);
  });
});

describe("secrets", () => {
  it("are neither logged nor recorded, not even by their hash", async () => {
    const user = await app.user();
    const browser = await signIn(app, user.key);
    await browser.get("/user");
    await trySignIn(app, { api_key: `${user.key}x` });
    await app.anonymous.request("POST", "/user/sessions", {
      headers: { ...fromSite, "content-type": "application/json" },
      payload: `{"api_key":"${user.key}","other":`,
    });
    const refusedBody = await trySignIn(app, { api_key: user.key, other: user.key } as { api_key: string });
    expect(refusedBody.text).not.toContain(user.key);
    const logged = app.logged();
    expect(logged).not.toContain(user.key);
    expect(logged).not.toContain(browser.cookie.split("=")[1]!);
    expect(logged).toContain(browser.answer.json.session.id);
    const rows = await app.deps.db.all(query({ row: text })`
      select a::text as row from audit_log a where action = 'create_user_session' and request_digest is not null`);
    expect(rows).toEqual([]);
  });
});
