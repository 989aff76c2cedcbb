import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { trackKeyUse } from "../../src/modules/kernel/access/use-service.ts";
import { noticeKeys } from "../../src/modules/notices/keys/service.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { type MailServer, startMailServer } from "../support/receiver.ts";

let mail: MailServer;
let app: TestApp;
let org: TestOrg;
let root: TestUser;
let owner: TestUser;
const day = 86_400;

beforeAll(async () => {
  mail = await startMailServer();
  app = await startTestApp(
    { WAYBILL_SMTP_URL: `smtp://127.0.0.1:${mail.port}`, WAYBILL_MAIL_FROM: "Waybill <waybill@example.org>" },
    { maintained: true },
  );
  app.clock.freeze();
  org = await app.org();
  root = await app.user({ instance_admin: true });
  owner = await app.user();
  for (const [{ id }, email] of [
    [root, "root@example.org"],
    [owner, "owner@example.org"],
  ] as const)
    await app.deps.db.run(sql`update users set email = ${email} where id = ${id}`);
});
afterAll(async () => {
  await app.close();
  await mail.stop();
});

/** Runs the job, and gives the mails that were sent since: to whom, and the subject. */
async function noticed(): Promise<string[][]> {
  const before = mail.received.length;
  // Twice, because each is told once.
  await noticeKeys(app.deps);
  await noticeKeys(app.deps);
  await runPendingJobs(app);
  return mail.received
    .slice(before)
    .map(({ to, source }) => [
      ...to,
      /^Subject: (.*(?:\r\n .*)*)/m.exec(source)?.[1]?.replaceAll("\r\n", "") ?? "",
    ])
    .toSorted((a, b) => (a.join("") < b.join("") ? -1 : 1));
}

const both = (subject: string): string[][] => [
  ["owner@example.org", `${subject}: ${owner.name}`],
  ["root@example.org", `${subject}: ${owner.name}`],
];

async function logOfInstance(): Promise<{ action: string; resource: string }[]> {
  return (await root.client.get("/instance/audit-log?action=key_expired")).json.entries;
}

describe("owners and administrators are told", () => {
  it("14, 3 and 1 days before a key ends, and when it has, each once", async () => {
    const expires_at = Math.floor(app.clock.now()) + 40 * day;
    const { id } = (await owner.client.post("/user/api-keys", { description: "mine", expires_at })).json;
    expect(await noticed()).toEqual([]);
    app.clock.advance(26.5 * day);
    expect(await noticed()).toEqual(both("An API key ends soon"));
    expect(await noticed()).toEqual([]);
    app.clock.advance(11 * day);
    expect(await noticed()).toEqual(both("An API key ends within 3 days"));
    app.clock.advance(2 * day);
    expect(await noticed()).toEqual(both("An API key ends within a day"));
    app.clock.advance(day);
    expect(await noticed()).toEqual(both("An API key has ended"));
    expect(await logOfInstance()).toMatchObject([{ resource: id }]);
    app.clock.advance(day);
    expect(await noticed()).toEqual([]);
  });

  it("not of the end of a key that was made for an hour", async () => {
    const expires_at = Math.floor(app.clock.now()) + 3600;
    await owner.client.post("/user/api-keys", { description: "short", expires_at });
    expect(await noticed()).toEqual([]);
  });

  it("when a key comes from a new network, and not of its first one", async () => {
    const { id, key } = (await owner.client.post("/user/api-keys", { description: "travels" })).json;
    const api_key_id = `${id}0000`;
    const use = trackKeyUse(app.deps);
    const from = async (address: string): Promise<void> => {
      use.used({ api_key_id, session_id: null, address });
      await use.flush();
    };
    await from("192.0.2.1");
    await from("192.0.2.200");
    expect(await noticed()).toEqual([]);
    app.clock.advance(60);
    await from("2001:db8:1:2::1");
    expect(await noticed()).toEqual(both("An API key was used from a new network"));
    expect(mail.received.at(-1)?.source).toContain("2001:db8:1::/48");
    app.clock.advance(60);
    await from("198.51.100.1");
    expect(await noticed(), "once a day").toEqual([]);
    app.clock.advance(1.1 * day);
    expect(await noticed()).toEqual(both("An API key was used from a new network"));
    await use.stop();
    expect((await app.as(key).get("/user")).status).toBe(200);
  });

  it("when a key is not used, before it ends", async () => {
    await root.client.put("/instance/security", { unused_days: 90, warn_days: 14 });
    // Everybody else's keys are in use.
    const keep = async (): Promise<void> => {
      await app.deps.db.run(sql`update api_keys set last_used_at = to_timestamp(${app.clock.now()})
        where description <> 'idle'`);
    };
    const make = async (): Promise<{ id: string; key: string }> =>
      (await owner.client.post("/user/api-keys", { description: "idle" })).json;
    const [idle, used] = [await make(), await make()];
    app.clock.advance(89 * day);
    await keep();
    expect(await noticed()).toEqual([]);
    app.clock.advance(2 * day);
    await keep();
    expect(await noticed()).toHaveLength(4);
    expect(mail.received.at(-1)?.source).toContain("An API key is not used");
    expect((await app.as(idle.key).get("/user")).status).toBe(200);
    await app.deps.db.run(sql`update api_keys set last_used_at = to_timestamp(${app.clock.now()})
      where id = ${`${used.id}0000`}`);
    app.clock.advance(13 * day);
    await keep();
    expect(await noticed()).toEqual([]);
    app.clock.advance(2 * day);
    await keep();
    expect(await noticed()).toEqual(both("An API key that was not used has ended"));
    expect((await app.as(idle.key).get("/user")).status).toBe(401);
    expect((await app.as(used.key).get("/user")).status).toBe(200);
    expect((await logOfInstance()).map(({ resource }) => resource)).toContain(idle.id);
    await root.client.put("/instance/security", {});
  });

  it("each once, where the mail server refuses one of them for good and another for now", async () => {
    const people: Record<string, TestUser> = {};
    for (const name of ["a-first", "b-gone", "c-full", "d-last"]) {
      people[name] = await app.user({ instance_admin: true });
      await app.deps.db.run(
        sql`update users set email = ${`${name}@example.org`} where id = ${people[name].id}`,
      );
    }
    mail.refused.add("b-gone@example.org");
    mail.deferred.add("c-full@example.org");
    const expires_at = Math.floor(app.clock.now()) + 30 * day;
    await owner.client.post("/user/api-keys", { description: "told", expires_at });
    app.clock.advance(20 * day);
    const told = async (): Promise<string[]> => (await noticed()).map(([to]) => to!.split("@")[0]!);
    expect(await told()).toEqual(["a-first", "d-last", "owner", "root"]);
    const left = async (): Promise<number[]> => {
      const { rows } = await app.deps.db.pool.query<{ attempts: number }>(
        "update graphile_worker._private_jobs set run_at = now() returning attempts",
      );
      return rows.map(({ attempts }) => attempts);
    };
    expect(await left()).toEqual([1]);
    expect(await told()).toEqual([]);
    mail.deferred.delete("c-full@example.org");
    expect(await left()).toEqual([2]);
    expect(await told()).toEqual(["c-full"]);
    expect(await left()).toEqual([]);
    for (const { id } of Object.values(people))
      await app.deps.db.run(sql`update users set email = null where id = ${id}`);
  });

  it("of a service account's key: who made it, and the organization's administrators", async () => {
    await org.admin.post(`/service-accounts/${org.name}`, { name: "bot", privilege: "member" });
    const me = (await org.admin.get("/user")).json.name as string;
    await app.deps.db.run(sql`update users set email = 'admin@example.org' where name = ${me}`);
    const expires_at = Math.floor(app.clock.now()) + 30 * day;
    const keys = `/service-accounts/${org.name}/bot/api-keys`;
    const { id } = (await org.admin.post(keys, { description: "<b>deploy</b>", expires_at })).json;
    app.clock.advance(20 * day);
    expect(await noticed()).toEqual([["admin@example.org", `An API key ends soon: ${org.name}/bot`]]);
    const html = mail.received.at(-1)?.source.split("text/html")[1];
    expect(html).toContain("&lt;b&gt;deploy&lt;/b&gt;");
    app.clock.advance(10.1 * day);
    await noticed();
    const log = (await org.admin.get(`/audit-log/${org.name}?resource_type=key_expired`)).json.entries;
    expect(log).toMatchObject([{ resource: `bot/${id}`, action: "notice_keys", actor_kind: "system" }]);
  });
});
