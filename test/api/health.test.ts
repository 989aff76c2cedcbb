import { rm, writeFile } from "node:fs/promises";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { checkSecretKey } from "../../src/db/secret-key.ts";
import type { HealthReport } from "../../src/domain/health.ts";
import type { Client } from "../support/client.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { collect } from "../support/collect.ts";

const token = "a-token-for-the-scraper";

let app: TestApp;
let watcher: Client;
beforeEach(async () => {
  app = await startTestApp({ WAYBILL_METRICS_TOKEN: token });
  watcher = app.as(token);
  await checkSecretKey(app.deps.db, app.deps.secrets.fingerprint);
});
afterEach(() => app.close());

async function report(): Promise<HealthReport> {
  const answer = await watcher.get("/health");
  expect(answer.status).toBe(200);
  return answer.json as HealthReport;
}

async function found(name: string): Promise<{ status: string; detail: string }> {
  const { checks } = await report();
  const { status, detail } = checks.find((check) => check.name === name)!;
  return { status, detail };
}

/** Runs a statement on the server's database. */
function run(statement: string): Promise<unknown> {
  return app.deps.db.pool.query(statement);
}

describe("GET /health", () => {
  it("is for instance admins and for who has the token, at both addresses", async () => {
    const root = await app.user({ instance_admin: true });
    const somebody = await app.user();
    for (const path of ["/health", "root:/health"]) {
      expect((await app.anonymous.request("GET", path)).status).toBe(401);
      expect((await app.as("something-else-entirely").request("GET", path)).status).toBe(401);
      expect((await somebody.client.request("GET", path)).status).toBe(403);
      for (const client of [watcher, root.client]) {
        const answer = await client.request("GET", path);
        expect(answer.status).toBe(200);
        expect(answer.json).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
      }
    }
    // The token is for watching alone.
    expect((await watcher.get("/user")).status).toBe(401);
  });

  it("checks all that it says it checks, and is as its worst check", async () => {
    const { status, checks } = await report();
    expect(checks.map(({ name }) => name)).toEqual([
      "pool",
      "database",
      "database_version",
      "replica",
      "migrations",
      "deliveries",
      "data_disk",
      "evidence_disk",
      "evidence",
      "secret_key",
      "clock",
      "backups",
      "quarantine",
      "jobs",
    ]);
    // How full the disks of this machine are, and how slow it is, is its own affair.
    const own = new Set(["data_disk", "evidence_disk", "database", "jobs"]);
    for (const check of checks.filter(({ name }) => !own.has(name)))
      expect(check).toMatchObject({ status: "ok", since: expect.any(Number) });
    const statuses = checks.map((check) => check.status);
    expect(statuses).toContain(status);
  });

  it("leaves nothing in the evidence storage", async () => {
    expect(await found("evidence")).toEqual({ status: "ok", detail: "written, read and removed" });
    const kept = await collect(app.deps.evidence.list());
    expect(kept).toEqual([]);
  });

  it("finds an evidence storage that cannot be written", async () => {
    const { dir } = app.deps.config.evidence;
    await rm(dir, { recursive: true, force: true });
    await writeFile(dir, "no folder");
    expect(await found("evidence")).toMatchObject({ status: "failing" });
    expect((await report()).status).toBe("failing");
  });

  it("finds a restored copy, another secret key, a newer version's database, and jobs nobody does", async () => {
    await run("insert into instance_settings (name, value) values ('quarantine', 'waybill-1.tar')");
    await run("update instance_settings set value = 'x' where name = 'secret_key_fingerprint'");
    await run("insert into migrations (name, checksum) values ('9999-later.sql', 'x')");
    await run(`select graphile_worker.add_job('nobody', '{}', run_at => now() - interval '1 hour')`);
    expect(await found("quarantine")).toEqual({
      status: "degraded",
      detail: expect.stringMatching(/^quarantined, as a copy of waybill-1\.tar/),
    });
    expect(await found("secret_key")).toMatchObject({ status: "failing" });
    expect(await found("migrations")).toMatchObject({ status: "degraded" });
    expect(await found("jobs")).toEqual({
      status: "degraded",
      detail: expect.stringContaining("1 due for ten minutes"),
    });
  });

  it("answers while nobody gets a connection to the database", async () => {
    const { pool } = app.deps.db;
    const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    const began = performance.now();
    const { status, checks } = await report();
    // The pool itself gives up after ten.
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(status).toBe("failing");
    expect(checks.find(({ name }) => name === "database")).toMatchObject({
      status: "failing",
      detail: "no answer within 1.5 s",
    });
    for (const client of taken) client.release();
  });

  it("answers while the database is away, and says so", async () => {
    const pools = app.deps.db.pool;
    await pools.end();
    const { checks } = await report();
    const away = checks.filter(({ status }) => status === "failing").map(({ name }) => name);
    expect(away).toContain("database");
    expect(checks.find(({ name }) => name === "evidence")).toMatchObject({ status: "ok" });
  });
});
