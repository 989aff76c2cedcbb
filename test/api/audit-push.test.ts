import { readFileSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { pushAuditLogs } from "../../src/modules/kernel/audit/push-service.ts";
import { eraseOldAddresses } from "../../src/modules/kernel/audit/erase-service.ts";
import { recordInstanceEntry } from "../../src/modules/kernel/audit/service.ts";
import { commandActor } from "../../src/cli/command-deps.ts";
import { flushesDuring, tellsDescriptors } from "../support/flushes.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { certificateFile } from "../support/receiver.ts";
import { startSyslogServer, type SyslogServer } from "../support/syslog-server.ts";

const token = "token-of-the-collector";
const actor = commandActor("test");

let folder: string;
let file: string;
let syslog: SyslogServer;
let answer: number;
const posted: { body: string; headers: Record<string, unknown>; url: string }[] = [];
const cert = certificateFile("trusted");
const web = createHttps(
  { cert: readFileSync(cert), key: readFileSync(cert.replace(".cert.", ".key.")) },
  (request, response) => {
    void text(request).then((body) => {
      posted.push({ body, headers: request.headers, url: request.url ?? "" });
      response.writeHead(answer, answer === 307 ? { location: "/elsewhere" } : {}).end();
    });
  },
);
let app: TestApp;
let org: TestOrg;

// Lines are read freely; what is read is compared at once.
// oxlint-disable-next-line typescript/no-explicit-any
const parsed = (lines: readonly string[]): any[] => lines.map((line) => JSON.parse(line));
const inFile = async (): Promise<ReturnType<typeof parsed>> =>
  parsed((await readFile(file, "utf8")).split("\n").slice(0, -1));
/** Numbers of entries of a log, in the order in which they came. */
const seqs = (entries: { org: string | null; seq: number }[], name: string | null): number[] =>
  entries.filter((entry) => entry.org === name).map(({ seq }) => seq);
const add = async (name: string): Promise<void> =>
  void (await org.admin.post(`/service-accounts/${org.name}`, { name }));
const inSyslog = (): ReturnType<typeof parsed> =>
  parsed(syslog.received.map((message) => message.replace(/^(?:\S+ ){7}/, "")));
const inPosts = (): ReturnType<typeof parsed> =>
  parsed(posted.flatMap(({ body }) => body.split("\n").slice(0, -1)));
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-audit-"));
  file = join(folder, "audit log.jsonl");
  syslog = await startSyslogServer();
  answer = 204;
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  const port = (web.address() as AddressInfo).port;
  app = await startTestApp({
    WAYBILL_AUDIT_TO: `file://${encodeURI(file)}, https://localhost:${port}/in?index=audit,syslog+tls://localhost:${syslog.port}`,
    WAYBILL_AUDIT_TO_TOKEN: token,
    WAYBILL_AUDIT_TO_CA: readFileSync(cert, "utf8"),
  });
  org = await app.org();
  await add("a");
  await add("b");
  await recordInstanceEntry(app.deps, { actor, action: "backup", resource_type: "backup", resource: "x" });
});
afterAll(async () => {
  await app.close();
  await syslog.stop();
  await new Promise((resolve) => web.close(resolve));
  await rm(folder, { recursive: true });
});

const lags = async (): Promise<number[]> =>
  [
    ...(await app.deps.metrics.registry.metrics()).matchAll(
      /^waybill_audit_export_lag_seconds\{.*\} (.*)$/gm,
    ),
  ].map(([, value]) => Number(value));

describe("entries of audit logs", () => {
  it("go to every target, of each log in order, and once", async () => {
    app.clock.advance(90);
    expect((await lags()).every((lag) => lag >= 90)).toBe(true);
    await pushAuditLogs(app.deps);
    await pushAuditLogs(app.deps);
    for (const entries of [await inFile(), inPosts(), inSyslog()]) {
      expect(seqs(entries, org.name)).toEqual([1, 2]);
      expect(seqs(entries, null)).toEqual([1]);
      expect(entries[0]).toMatchObject({ action: expect.any(String), details: null });
    }
    expect(await lags()).toEqual([0, 0, 0]);
    const listed = (await org.admin.get(`/audit-log/${org.name}?sort_direction=asc`)).json.entries;
    expect((await inFile()).filter((entry) => entry.org === org.name)).toEqual(
      listed.map((entry: object) => ({ org: org.name, ...entry })),
    );
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(posted[0]).toMatchObject({
      url: "/in?index=audit",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson; charset=utf-8" },
    });
    expect(syslog.received[0]).toMatch(/^<1\d\d>1 \S+Z waybill\.test waybill - \S+ - \{/);
  });

  it.each([500, 307, 401])(
    "are sent again to who answered %i, and no redirect is followed",
    async (status) => {
      answer = status;
      const before = posted.length;
      const known = (await inFile()).length;
      await add(`at-${status}`);
      await pushAuditLogs(app.deps);
      expect(posted.slice(before).map(({ url }) => url)).toEqual(["/in?index=audit"]);
      // The others are not concerned.
      expect(await inFile()).toHaveLength(known + 1);
      app.clock.advance(60);
      expect((await lags()).map((lag) => lag >= 60)).toEqual([false, true, false]);
      answer = 200;
      await pushAuditLogs(app.deps);
      const arrived = inPosts();
      expect(arrived.at(-1)).toEqual(arrived.at(-2));
      expect(await lags()).toEqual([0, 0, 0]);
      expect(app.logged()).toContain("entries of audit logs cannot be sent");
      expect(app.logged()).not.toContain(token);
    },
  );

  it("leave no gap when a collector dies in the middle of them", async () => {
    for (let index = 0; index < 20; index += 1) await add(`many-${index}`);
    const before = inSyslog().length;
    syslog.cutAfter(1_500);
    await pushAuditLogs(app.deps);
    expect(inSyslog().length).toBeGreaterThan(before);
    expect(inSyslog().length).toBeLessThan(before + 20);
    syslog.cutAfter(undefined);
    await pushAuditLogs(app.deps);
    const arrived = seqs(inSyslog(), org.name);
    const total = (await org.admin.get(`/audit-log/${org.name}`)).json.total_count as number;
    expect([...new Set(arrived)]).toEqual(range(1, total));
    // At least once, and after the break from where it was known to have arrived.
    expect(arrived.slice(-20)).toEqual(range(total - 19, total));
  });

  it("leave no torn line in a file, which may be moved away", async () => {
    const whole = await inFile();
    await appendFile(file, '{"org":"half a li');
    await add("after-a-crash");
    await pushAuditLogs(app.deps);
    expect(await inFile()).toHaveLength(whole.length + 1);
    await rename(file, `${file}.1`);
    await add("after-rotation");
    await pushAuditLogs(app.deps);
    expect(await inFile()).toMatchObject([{ resource: "after-rotation" }]);
  });

  it.runIf(tellsDescriptors)(
    "are on the disk before that is noted, and the name of a new file, too",
    async () => {
      const push = () => flushesDuring(() => pushAuditLogs(app.deps));
      await add("into-the-same");
      expect(await push()).toEqual([file]);
      await rename(file, `${file}.2`);
      await add("into-a-new-one");
      expect(await push()).toEqual([folder, file]);
    },
  );

  it("are sent again from where the last note says, when a server dies before the next one", async () => {
    const before = await inFile();
    await app.deps.db.pool.query("update audit_cursors set seq = seq - 1 where org_id = $1", [org.id]);
    await pushAuditLogs(app.deps);
    expect((await inFile()).slice(before.length)).toEqual(before.slice(-1));
  });

  it("go nowhere with a certificate that is not trusted", async () => {
    const careful = await startTestApp({
      WAYBILL_AUDIT_TO: `syslog+tls://localhost:${syslog.port}`,
      WAYBILL_AUDIT_TO_CA: readFileSync(certificateFile("unknown"), "utf8"),
    });
    const before = syslog.received.length;
    const other = await careful.org();
    await other.admin.post(`/service-accounts/${other.name}`, { name: "a" });
    await pushAuditLogs(careful.deps);
    expect(syslog.received).toHaveLength(before);
    expect(careful.logged()).toContain("entries of audit logs cannot be sent");
    await careful.close();
  });
});

describe("addresses of entries", () => {
  it("are erased after 400 days, and nothing else is", async () => {
    const read = async () => (await org.admin.get(`/audit-log/${org.name}?per_page=100`)).json.entries;
    const old = await read();
    await eraseOldAddresses(app.deps);
    expect(await read()).toEqual(old);
    app.clock.advance(400 * 24 * 60 * 60);
    await add("today");
    await eraseOldAddresses(app.deps);
    const [today, ...others] = await read();
    expect(today).toMatchObject({ resource: "today", address: "127.0.0.1" });
    expect(others).toEqual(old.map((entry: object) => ({ ...entry, address: null })));
    const { rows } = await app.deps.db.pool.query(
      "select addresses_erased_to::int as n from org_counters where org_id = $1",
      [org.id],
    );
    expect(rows).toEqual([{ n: old.length }]);
  });
});
