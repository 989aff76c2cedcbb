import { getEventListeners, once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { followPace } from "../../src/modules/kernel/audit/export-service.ts";
import { recordInstanceEntry, recorded } from "../../src/modules/kernel/audit/service.ts";
import { transaction } from "../../src/db/transaction.ts";
import { setInstanceAdmin } from "../../src/modules/identity/users/service.ts";
import { commandActor } from "../../src/cli/command-deps.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let port: number;
let org: TestOrg;
let root: TestUser;
let adminKey: string;

const actor = commandActor("test");
const write = (scope: { id: string }, count: number): Promise<void> =>
  recorded(app.deps, { org: scope, actor }, async (_tx, record) => {
    for (let index = 0; index < count; index += 1) record("flow", `f=${index}|\\`);
  });
const path = (query = ""): string => `/audit-log/${org.name}/export${query}`;
const linesOf = (text: string): string[] => text.split("\n").slice(0, -1);
// Lines are read freely; what is read is compared at once.
// oxlint-disable-next-line typescript/no-explicit-any
const entriesOf = (text: string): any[] => linesOf(text).map((line) => JSON.parse(line));
/** Entries that tell of exports: every export writes one. */
const isExport = ({ action }: { action: string }): boolean => action === "export";
const lastSeq = async (): Promise<number> => (await org.admin.get(`/audit-log/${org.name}`)).json.total_count;
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const pace = { ...followPace };

/** Begins an export over a connection of its own. */
const open = (query: string, signal?: AbortSignal): Promise<IncomingMessage> =>
  openAs(adminKey, path(query), signal);

async function openAs(key: string, at: string, signal?: AbortSignal): Promise<IncomingMessage> {
  const sent = get({
    host: "127.0.0.1",
    port,
    path: `/api/v2${at}`,
    headers: { authorization: `Bearer ${key}` },
    agent: false,
    ...(signal === undefined ? {} : { signal }),
  });
  sent.on("error", () => undefined);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer.on("error", () => undefined);
}

async function revokeKey({ client }: TestUser): Promise<void> {
  const keys = await client.get("/user/api-keys");
  await client.delete(`/user/api-keys/${keys.json[0].id}`);
}

/** Follows a log, and has whoever does lose it. @returns how many are told of the entries that are added then. */
async function toldAfter(
  { key, at, add }: { key: string; at: string; add: () => Promise<void> },
  lose: () => Promise<unknown>,
): Promise<number> {
  Object.assign(followPace, { ms: 4_000, lookMs: 50 });
  const answer = await openAs(key, `${at}?follow=true`);
  let text = "";
  const ended = once(answer, "end");
  answer.setEncoding("utf8").on("data", (piece: string) => void (text += piece));
  const told = (): number => entriesOf(text).filter((entry) => !isExport(entry)).length;
  await expect.poll(() => linesOf(text).length).toBeGreaterThan(0);
  const before = told();
  await add();
  await expect.poll(told).toBe(before + 1);
  await lose();
  await add();
  await ended;
  return told() - before - 1;
}

beforeAll(async () => {
  app = await startTestApp();
  port = await listen(app);
  org = await app.org();
  root = await app.user({ instance_admin: true });
  await org.admin.post(`/service-accounts/${org.name}`, { name: "siem", privilege: "admin" });
  adminKey = (await org.admin.post(`/service-accounts/${org.name}/siem/api-keys`, { description: "x" })).json
    .key;
  await write(org, 1_300);
});
afterEach(() => void Object.assign(followPace, pace));
afterAll(() => app.close());

describe("GET /audit-log/{org}/export", () => {
  it("gives out every entry as a line, as the list shows it", async () => {
    const { status, headers, text } = await org.admin.get(path());
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    expect(headers["content-disposition"]).toContain(`${org.name}-audit-log.jsonl`);
    const entries = entriesOf(text);
    expect(entries.map(({ seq }) => seq)).toEqual(range(1, 1_302));
    const list = await org.admin.get(`/audit-log/${org.name}?sort_direction=asc&per_page=100`);
    expect(entries.slice(0, 100)).toEqual(
      list.json.entries.map((entry: object) => ({ org: org.name, ...entry })),
    );
  });

  it("goes on where it broke off, and ends where it is told", async () => {
    const seqs = async (query: string) =>
      entriesOf((await org.admin.get(path(query))).text).map(({ seq }) => seq);
    expect(await seqs("?from_seq=1290&to_seq=1295")).toEqual(range(1_290, 1_295));
    const last = await lastSeq();
    expect(await seqs(`?from_seq=${last - 1}`)).toEqual([last - 1, last]);
    expect(await seqs("?from_seq=9000")).toEqual([]);
    expect(await seqs("?from_seq=20&to_seq=10")).toEqual([]);
    expect(await seqs("?to_seq=1")).toEqual([1]);
    expect(await seqs("?from_seq=499&to_seq=501&format=ocsf").catch(() => "no OCSF")).toHaveLength(3);
  });

  it("has the same entries in the other forms", async () => {
    const query = "?from_seq=3&to_seq=5";
    const plain = entriesOf((await org.admin.get(path(query))).text);
    const ocsf = await org.admin.get(path(`${query}&format=ocsf`));
    expect(entriesOf(ocsf.text).map(({ unmapped }) => unmapped)).toEqual(plain);
    const cef = await org.admin.get(path(`${query}&format=cef`));
    expect(cef.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(linesOf(cef.text)).toHaveLength(3);
    for (const line of linesOf(cef.text))
      expect(line).toMatch(/^CEF:0\|Waybill\|Waybill\|\d+\.\d+\.\d+\|test\|/);
  });

  it.each([
    ["?format=xml", "query.format"],
    ["?from_seq=0", "query.from_seq"],
    ["?to_seq=9007199254740993", "query.to_seq"],
    ["?follow=maybe", "query.follow"],
  ])("refuses %s", async (query, location) => {
    const answer = await org.admin.get(path(query));
    expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, [location]]);
  });

  it("is for admins", async () => {
    for (const client of [org.member, org.snapshotter, org.reader])
      expect((await client.get(path())).status).toBe(403);
    expect((await org.admin.get("/instance/audit-log/export")).status).toBe(403);
  });

  it("follows what is recorded, and ends by itself", async () => {
    Object.assign(followPace, { ms: 3_000, lookMs: 50 });
    await write(org, 1);
    const from = await lastSeq();
    const answer = await open(`?from_seq=${from}&follow=true`);
    let text = "";
    const ended = once(answer, "end");
    answer.setEncoding("utf8").on("data", (piece: string) => void (text += piece));
    const told = (): unknown[] => entriesOf(text).filter((entry) => !isExport(entry));
    const read = async (enough: (entries: unknown[]) => boolean): Promise<void> => {
      await expect.poll(() => enough(told()), { timeout: 2_500 }).toBe(true);
    };
    await read((entries) => entries.length === 1);
    await write(org, 2);
    await read((entries) => entries.length === 3);
    await write(org, 1);
    await read((entries) => entries.length === 4);
    await ended;
    const seqs = entriesOf(text).map(({ seq }) => seq);
    expect(seqs).toEqual(range(from, from + seqs.length - 1));
    expect(told()).toHaveLength(4);
  });

  it("follows no further than it is told", async () => {
    const answer = await org.admin.get(path("?from_seq=1302&to_seq=1303&follow=true"));
    expect(entriesOf(answer.text)).toHaveLength(2);
  });

  it("is made twice at once, and no more often, until one of them is done or its client has gone", async () => {
    Object.assign(followPace, { lookMs: 50 });
    const aborts = [new AbortController(), new AbortController()];
    const started = await Promise.all(aborts.map(({ signal }) => open("?follow=true&from_seq=1302", signal)));
    expect(started.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    const refused = await org.admin.get(path());
    expect([refused.status, refused.json.message]).toEqual([
      429,
      "Two exports of this log are under way already, try again later",
    ]);
    // Another log is not concerned.
    expect((await root.client.get("/instance/audit-log/export")).status).toBe(200);
    aborts[0]?.abort();
    await expect
      .poll(async () => (await org.admin.get(path("?to_seq=1"))).status, { timeout: 5_000 })
      .toBe(200);
    aborts[1]?.abort();
  });

  it.each<[string, (here: TestOrg, user: TestUser) => Promise<unknown>]>([
    ["the key is revoked", (_here, user) => revokeKey(user)],
    ["the member is removed", (here, { name }) => here.admin.delete(`/members/${here.name}/${name}`)],
    [
      "the role is lowered",
      (here, { name }) => here.admin.put(`/members/${here.name}/${name}`, { role: "member" }),
    ],
  ])("tells nothing that is recorded after %s", async (_what, end) => {
    const [here, user] = [await app.org(), await app.user()];
    await here.admin.put(`/members/${here.name}/${user.name}`, { role: "admin" });
    const following = { key: user.key, at: `/audit-log/${here.name}/export`, add: () => write(here, 1) };
    expect(await toldAfter(following, () => end(here, user))).toBe(0);
    expect([401, 403]).toContain((await user.client.get(`/audit-log/${here.name}`)).status);
  });

  it("ends when the server stops", async () => {
    Object.assign(followPace, { lookMs: 50 });
    const other = await startTestApp({}, { beside: app });
    const answer = other.as(adminKey).get(path("?from_seq=1302&follow=true"));
    await delay(300);
    other.deps.stopping.abort();
    expect((await answer).status).toBe(200);
    await other.close();
  });
});

describe("many exports that follow", () => {
  it("take no place of long answers while they wait", async () => {
    const server = await startTestApp({ WAYBILL_SEND_STALL_SECONDS: "2" }, { beside: app });
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    // As many as long answers may be sent at once, two of each log.
    const users = await Promise.all(Array.from({ length: 32 }, () => app.user()));
    const following = users.flatMap(({ name, key }) =>
      [1, 2].map(() => server.as(key).get(`/audit-log/${name}/export?follow=true`)),
    );
    const last = await app.user();
    const waiting = () => getEventListeners(server.deps.stopping.signal, "abort").length;
    try {
      await expect.poll(waiting, { timeout: 10_000 }).toBeGreaterThanOrEqual(following.length);
      expect((await server.as(last.key).get(`/audit-log/${last.name}/export`)).status).toBe(200);
    } finally {
      server.deps.stopping.abort();
      const answers = await Promise.all(following);
      process.off("warning", onWarning);
      await server.close();
      expect(answers.map(({ status }) => status)).toEqual(following.map(() => 200));
    }
    expect(warnings).toEqual([]);
  });

  it("are refused when too many follow", async () => {
    Object.assign(followPace, { lookMs: 50, atOnce: 1 });
    const abort = new AbortController();
    expect((await open("?follow=true&from_seq=1302", abort.signal)).statusCode).toBe(200);
    const other = await app.user();
    const refused = await other.client.get(`/audit-log/${other.name}/export?follow=true`);
    expect(refused.status).toBe(503);
    expect((await other.client.get(`/audit-log/${other.name}/export`)).status).toBe(200);
    abort.abort();
    await expect
      .poll(
        async () => (await other.client.get(`/audit-log/${other.name}/export?to_seq=1&follow=true`)).status,
      )
      .toBe(200);
  });
});

describe("an export", () => {
  const told = async (on: { json: { entries: Record<string, unknown>[] } }) =>
    on.json.entries.map(({ actor: who, resource_type, resource, details }) => ({
      who,
      resource_type,
      resource,
      details,
    }));
  const exportsOf = async (of: TestOrg) =>
    told(await of.admin.get(`/audit-log/${of.name}?action=export&sort_direction=asc`));

  it("is recorded in the log that it gives out, of which it is no part: by whom, in which form, which part", async () => {
    const here = await app.org();
    const at = `/audit-log/${here.name}`;
    const before = await here.admin.get(`${at}/export`);
    expect(entriesOf(before.text).filter(isExport)).toEqual([]);
    await here.admin.get(`${at}/export?format=cef&from_seq=2&to_seq=3`);
    for (const sort of ["asc", "desc"]) {
      const csv = await here.admin.request("GET", `${at}?sort_direction=${sort}`, {
        headers: { accept: "text/csv" },
      });
      const before = sort === "asc" ? 2 : 3;
      expect(csv.text.split("\r\n").filter((line) => line.includes(",export,"))).toHaveLength(before);
    }
    const who = expect.any(String);
    const entry = { who, resource_type: "audit_log", resource: here.name };
    expect(await exportsOf(here)).toEqual([
      { ...entry, details: { format: "jsonl", from_seq: 1 } },
      { ...entry, details: { format: "cef", from_seq: 2, to_seq: 3 } },
      { ...entry, details: { format: "csv" } },
      { ...entry, details: { format: "csv" } },
    ]);
  });

  it("that follows is recorded once an hour for a key, also where it ends at once", async () => {
    const here = await app.org();
    const follow = `/audit-log/${here.name}/export?to_seq=1&follow=true`;
    for (let time = 0; time < 3; time += 1) expect((await here.admin.get(follow)).status).toBe(200);
    const details = { format: "jsonl", from_seq: 1, to_seq: 1, follow: true };
    expect(await exportsOf(here)).toMatchObject([{ details }]);
    await here.admin.post(`/service-accounts/${here.name}`, { name: "siem", privilege: "admin" });
    const keys = `/service-accounts/${here.name}/siem/api-keys`;
    const { key } = (await here.admin.post(keys, { description: "x" })).json;
    await app.as(key).get(follow);
    expect(await exportsOf(here)).toMatchObject([{}, { who: "siem", details }]);
    app.clock.advance(3_601);
    await here.admin.get(follow);
    expect(await exportsOf(here)).toHaveLength(3);
  });

  it("that is refused is not recorded", async () => {
    const here = await app.org();
    await here.reader.get(`/audit-log/${here.name}/export`);
    await here.admin.get(`/audit-log/${here.name}/export?format=xml`);
    expect(await exportsOf(here)).toEqual([]);
  });

  it("of the log of the instance is recorded there", async () => {
    await root.client.get("/instance/audit-log/export?format=ocsf");
    const [latest] = await told(await root.client.get("/instance/audit-log?action=export"));
    expect(latest).toEqual({
      who: root.name,
      resource_type: "audit_log",
      resource: "instance",
      details: { format: "ocsf", from_seq: 1 },
    });
  });
});

describe("GET /instance/audit-log/export", () => {
  it("gives out the log of the instance", async () => {
    await recordInstanceEntry(app.deps, {
      actor,
      action: "backup",
      resource_type: "backup",
      resource: "a.tar",
    });
    const { text, headers } = await root.client.get("/instance/audit-log/export");
    expect(headers["content-disposition"]).toContain("instance-audit-log.jsonl");
    const entries = entriesOf(text);
    expect(entries.map(({ seq }) => seq)).toEqual(range(1, entries.length));
    expect(entries.at(-1)).toMatchObject({ org: null, action: "backup", resource: "a.tar" });
  });

  it.each<[string, (user: TestUser) => Promise<unknown>]>([
    ["the key is revoked", revokeKey],
    [
      "its owner no longer runs the installation",
      ({ id }) => transaction(app.deps.db, (tx) => setInstanceAdmin(tx, id, false)),
    ],
  ])("tells nothing that is recorded after %s", async (_what, end) => {
    const user = await app.user({ instance_admin: true });
    const entry = { actor, action: "backup", resource_type: "backup", resource: "b.tar" } as const;
    const add = () => recordInstanceEntry(app.deps, entry);
    const following = { key: user.key, at: "/instance/audit-log/export", add };
    expect(await toldAfter(following, () => end(user))).toBe(0);
  });
});
