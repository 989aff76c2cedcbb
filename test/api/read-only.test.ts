import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createReadiness } from "../../src/http/readiness.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

let app: TestApp;
let org: TestOrg;
let problem: () => Promise<string | undefined>;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  problem = createReadiness(app.deps);
});
afterAll(() => app.close());

/** Has connections that are made from now on read only, or write again, and ends those there are. */
async function setReadOnly(on: boolean): Promise<void> {
  const { pool } = app.deps.db;
  const { rows } = await pool.query<{ name: string }>("select current_database() as name");
  const client = await pool.connect();
  try {
    await client.query("set default_transaction_read_only = off");
    await client.query(
      `alter database "${rows[0]!.name}" set default_transaction_read_only = ${on ? "on" : "off"}`,
    );
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
  } finally {
    client.release(true);
  }
}

async function problemIs(expected: string | undefined): Promise<void> {
  const deadline = Date.now() + 25_000;
  for (;;) {
    const found = await problem();
    if (found === expected) return;
    if (Date.now() > deadline) throw new Error(`it was never so: ${expected}, but ${found}`);
    await delay(50);
  }
}

const environment = (name: string) =>
  org.admin.put(`/environments/${org.name}`, { name, type: "K8S", description: "" });

describe("a database that can only be read", () => {
  it("is named, makes the server not ready, and is over when it can be written", async () => {
    await problemIs(undefined);
    await setReadOnly(true);
    const text = "The database can only be read at the moment";
    await problemIs(text);
    const refused = await environment("prod");
    expect([refused.status, refused.json, refused.headers["retry-after"]]).toEqual([
      503,
      { message: `${text}, try again later` },
      "2",
    ]);
    expect((await org.reader.get(`/environments/${org.name}`)).status).toBe(200);
    await setReadOnly(false);
    await problemIs(undefined);
    expect((await environment("prod")).status).toBe(201);
  });

  it("is not tried for every request", async () => {
    await problemIs(undefined);
    const count = async (): Promise<number> => {
      const { rows } = await app.deps.db.pool.query<{ oid: number }>("select txid_current()::int as oid");
      return rows[0]!.oid;
    };
    const before = await count();
    for (let times = 0; times < 50; times += 1) expect(await problem()).toBeUndefined();
    // Trials and what goes on in the background take numbers; fifty trials would take fifty.
    expect((await count()) - before).toBeLessThan(25);
  });
});
