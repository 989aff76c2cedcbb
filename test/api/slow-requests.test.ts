import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { readMetrics } from "../support/metrics.ts";

interface SlowLine {
  msg: string;
  level: number;
  reqId: string;
  operation: string;
  status: number;
  ms: number;
  authorize_ms: number;
  handle_ms: number;
  connection_wait_ms: number;
  statements: { name: string; times: number; ms: number; rows: number }[];
  more_statements: number;
}

const slowMs = 400;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({ WAYBILL_SLOW_MS: String(slowMs) });
  org = await app.org();
});
afterAll(() => app.close());

function slowLines(of: TestApp = app): SlowLine[] {
  return of
    .logged()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SlowLine)
    .filter(({ msg }) => msg === "slow request");
}

/** The lines that are written while something is done. */
async function linesOf(work: () => Promise<unknown>): Promise<SlowLine[]> {
  const before = slowLines().length;
  await work();
  return slowLines().slice(before);
}

/** Keeps others from a table for a while, during which something is done. */
async function whileLocked(table: string, work: () => Promise<unknown>): Promise<void> {
  const client = await app.deps.db.pool.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  const working = work();
  await delay(slowMs + 100);
  await client.query("rollback");
  client.release();
  await working;
}

describe("a request for which the server works too long", () => {
  it("is told of with its statements, and without a value", async () => {
    const secret = "a-trail-nobody-may-read-of";
    const path = `/artifacts/${org.name}/web`;
    const lines = await linesOf(() =>
      whileLocked("trails", () => org.member.post(path, artifactBody({ trail_name: secret }))),
    );
    expect(lines).toHaveLength(1);
    const [line] = lines;
    expect(line).toMatchObject({ level: 40, operation: "create_artifact", status: 201, more_statements: 0 });
    expect(line!.reqId).toMatch(/./);
    expect(line!.ms).toBeGreaterThanOrEqual(slowMs);
    // A busy machine begins late with it.
    expect(line!.handle_ms).toBeGreaterThan(slowMs / 2);
    expect(line!.statements[0]).toMatchObject({ name: "reports written together", times: 1 });
    expect(JSON.stringify(line)).not.toContain(secret);
  });

  it("is told of with the names of its own statements", async () => {
    const lines = await linesOf(() => whileLocked("flows", () => org.reader.get(`/flows/${org.name}`)));
    expect(lines).toHaveLength(1);
    const { statements, operation } = lines[0]!;
    expect(operation).toBe("get_flows");
    expect(statements[0]!.ms).toBeGreaterThan(slowMs / 2);
    expect(statements.every(({ name }) => /^[a-z0-9 -]+$/.test(name))).toBe(true);
  });

  it("is told of with how long it waited for a connection", async () => {
    const { pool } = app.deps.db;
    const body = { name: "waits", type: "server", description: "" };
    const lines = await linesOf(async () => {
      const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
      const asked = org.snapshotter.put(`/environments/${org.name}`, body);
      await delay(slowMs + 100);
      for (const client of taken) client.release();
      expect((await asked).status).toBe(201);
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]!.connection_wait_ms).toBeGreaterThan(slowMs / 2);
  });

  it("is counted", async () => {
    expect((await readMetrics(app))("waybill_slow_requests_total")).toBe(slowLines().length);
  });
});

describe("other requests", () => {
  it("are not told of where it is switched off, however slow they are", async () => {
    const silent = await startTestApp({ WAYBILL_SLOW_MS: "0" });
    const user = await silent.user();
    expect((await user.client.get("/user")).status).toBe(200);
    expect(slowLines(silent)).toEqual([]);
    await silent.close();
  });
});
