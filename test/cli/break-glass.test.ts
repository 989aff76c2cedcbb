import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { print } from "../../src/cli/output.ts";
import { signInLink } from "../../src/cli/sign-in.ts";
import { startTestApp, type TestApp, type TestUser } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { type MailServer, startMailServer } from "../support/receiver.ts";
import { fromSite } from "../support/sessions.ts";
import { uniqueName } from "../support/unique-name.ts";

const site = "https://waybill.example.org";

let mail: MailServer;
let app: TestApp;
let root: TestUser;
let lines: string[];
beforeAll(async () => {
  mail = await startMailServer();
  app = await startTestApp({
    WAYBILL_PUBLIC_URL: site,
    WAYBILL_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    WAYBILL_MAIL_FROM: "waybill@example.org",
  });
  root = await app.user({ instance_admin: true });
  for (const { id, email } of [
    { id: root.id, email: "root@example.org" },
    { id: (await app.user({ instance_admin: true })).id, email: "second@example.org" },
    { id: (await app.user()).id, email: "nobody-special@example.org" },
  ])
    await app.deps.db.pool.query("update users set email = $2 where id = $1", [id, email]);
});
afterAll(async () => {
  await app.close();
  await mail.stop();
});
beforeEach(async () => {
  // What earlier tests left to be told.
  await app.deps.db.pool.query("delete from graphile_worker._private_jobs");
  app.clock.advance(61);
  mail.received.length = 0;
  lines = [];
  vi.spyOn(print, "line").mockImplementation((text = "") => void lines.push(text));
});
afterEach(() => vi.restoreAllMocks());

async function linkFor(user: string, options: { local?: boolean } = {}): Promise<string> {
  await signInLink(app.deps, { user, ...options });
  return /#token=([\w-]{43})$/.exec(lines.at(-1) ?? "")?.[1] ?? "";
}

async function use(token: string, headers: Record<string, string>, on = app): Promise<number> {
  const answer = await on.server.inject({
    method: "POST",
    url: "/api/v2/user/sessions",
    headers,
    payload: { token },
    remoteAddress: "192.0.2.7",
  });
  return answer.statusCode;
}

const here = { ...fromSite, origin: site };

async function instanceLog(action: string): Promise<Record<string, unknown>[]> {
  return (await root.client.get(`/instance/audit-log?action=${action}`)).json.entries;
}

async function uses(): Promise<number> {
  const { body } = await app.server.inject({ url: "/metrics" });
  return Number(/^waybill_break_glass_total (\d+)$/m.exec(body)?.[1]);
}

describe("waybill admin sign-in-link with a user", () => {
  it("prints a link to the public URL that works once, from anywhere, and is counted and recorded", async () => {
    const user = await app.user();
    const before = await uses();
    const token = await linkFor(user.name);
    expect(lines).toEqual([`${site}/-/sign-in#token=${token}`]);
    expect(await instanceLog("break_glass")).toMatchObject([
      { resource_type: "sign_in_link", resource: user.name, actor: "waybill admin" },
    ]);
    expect(await use(token, here)).toBe(201);
    expect(await use(token, here)).toBe(401);
    expect(await uses()).toBe(before + 1);
    expect((await instanceLog("sign_in"))[0]).toMatchObject({
      actor: user.name,
      address: "192.0.2.7",
      details: { method: "link" },
    });
    expect((await instanceLog("sign_in_failed"))[0]).toMatchObject({
      resource: "link",
      address: "192.0.2.7",
    });
  });

  it("tells all administrators by mail, once", async () => {
    const user = await app.user();
    const token = await linkFor(user.name);
    await runPendingJobs(app);
    await runPendingJobs(app);
    expect(mail.received).toHaveLength(1);
    const [message] = mail.received;
    expect(message!.to.toSorted((a, b) => a.localeCompare(b))).toEqual([
      "root@example.org",
      "second@example.org",
    ]);
    expect(message!.source.replaceAll("=\r\n", "")).toContain(`signs in as ${user.name}`);
    expect(JSON.stringify(message)).not.toContain(token);
  });

  it("goes on trying while the mail server is away", async () => {
    const user = await app.user();
    for (const address of ["root@example.org", "second@example.org"]) mail.refused.add(address);
    await linkFor(user.name);
    await runPendingJobs(app);
    expect(mail.received).toEqual([]);
    mail.refused.clear();
    await app.deps.db.pool.query("update graphile_worker._private_jobs set run_at = now()");
    await runPendingJobs(app);
    expect(mail.received).toHaveLength(1);
  });

  it("is bound to the public URL, and ends after ten minutes", async () => {
    const { name } = await app.user();
    const token = await linkFor(name);
    expect(await use(token, { ...fromSite, origin: "https://other.example.org" })).toBe(401);
    expect(await use(token, { origin: "https://evil.example" })).toBe(403);
    expect(await use(token, { "sec-fetch-site": "cross-site", origin: site })).toBe(403);
    const moved = await startTestApp({ WAYBILL_PUBLIC_URL: "https://moved.example.org" }, { beside: app });
    try {
      expect(await use(token, { ...fromSite, origin: "https://moved.example.org" }, moved)).toBe(401);
    } finally {
      await moved.close();
    }
    app.clock.advance(601);
    expect(await use(token, here)).toBe(401);
  });

  it("works from this machine alone when that is wanted, and tells nobody", async () => {
    const { name } = await app.user();
    const before = await uses();
    const token = await linkFor(name, { local: true });
    expect(lines.at(-1)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/-\/sign-in#token=/);
    expect(await use(token, here)).toBe(401);
    const answer = await app.server.inject({
      method: "POST",
      url: "/api/v2/user/sessions",
      headers: fromSite,
      payload: { token },
    });
    expect(answer.statusCode).toBe(201);
    await runPendingJobs(app);
    expect([mail.received, await uses()]).toEqual([[], before]);
  });

  it("says why it cannot", async () => {
    await expect(signInLink(app.deps, { user: uniqueName("nobody") })).rejects.toThrow("does not exist");
  });
});

describe("the log of the instance", () => {
  it("has a failure once a minute for a way to sign in and an address", async () => {
    const failures = async (): Promise<number> =>
      (await root.client.get("/instance/audit-log?action=sign_in_failed")).json.total_count;
    const before = await failures();
    for (const token of ["a", "b", "c"]) expect(await use(token, here)).toBe(401);
    expect(await failures()).toBe(before + 1);
    app.clock.advance(61);
    expect(await use("d", here)).toBe(401);
    expect(await failures()).toBe(before + 2);
  });

  it("has sign-ins with keys, sign-outs and sessions that others ended", async () => {
    const user = await app.user();
    const signIn = async (): Promise<string> => {
      const answer = await app.server.inject({
        method: "POST",
        url: "/api/v2/user/sessions",
        headers: here,
        payload: { api_key: user.key },
      });
      return String(answer.headers["set-cookie"]).split(";", 1)[0]!;
    };
    const cookie = await signIn();
    await signIn();
    expect((await instanceLog("sign_in"))[0]).toMatchObject({ details: { method: "api_key" } });
    await app.server.inject({ method: "DELETE", url: "/api/v2/user/sessions", headers: { ...here, cookie } });
    expect((await instanceLog("session_revoked"))[0]).toMatchObject({ actor: user.name });
    await app.server.inject({ method: "POST", url: "/-/sign-out", headers: { ...here, cookie } });
    expect((await instanceLog("sign_out"))[0]).toMatchObject({ actor: user.name, resource_type: "session" });
  });
});
