import pg from "pg";
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from "vitest";

import { connect } from "../../src/db/connect.ts";
import { boolean, integer } from "../../src/db/row.ts";
import { selectInForce } from "../../src/db/session-settings.ts";
import { query, raw } from "../../src/db/sql.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import { createDatabase, dropDatabase, urlOf } from "../support/databases.ts";
import { keepsPrepared, pgbouncerVersion, startPgbouncer } from "../support/pgbouncer.ts";
import { startReceiver } from "../support/receiver.ts";
import { withDataDir } from "../support/server-process.ts";
import { ask, call, startSite, until } from "../support/site.ts";
import { uniqueName } from "../support/unique-name.ts";

const version = pgbouncerVersion();
if (version === undefined) console.warn("Poolers are not tested: there is no pgbouncer on the path.");
const keeps = version !== undefined && keepsPrepared(version);

let database = "";
const direct = (): string => urlOf(inject("postgres"), database);
const secret = { WAYBILL_SECRET_KEY: "a key that all servers have, 32 characters" };

beforeEach(async () => {
  database = uniqueName("waybill_pooled").replaceAll("-", "_");
  await createDatabase(inject("postgres"), database, inject("cluster") ? inject("template") : undefined);
});
afterEach(() => dropDatabase(inject("postgres"), database));

/** Starts PgBouncer for a test. @returns the URL of the database through it. */
async function pooled(settings: Record<string, string | number>): Promise<string> {
  const prepared = keeps ? { max_prepared_statements: 500 } : {};
  const pooler = await startPgbouncer(inject("postgres"), { ...prepared, ...settings });
  onTestFinished(() => pooler.stop());
  return pooler.urlOf(database);
}

/** Starts a server that does not start. @returns why. */
async function refusal(environment: Record<string, string>): Promise<string> {
  return withDataDir(async (dataDir) => {
    const started = startSite(dataDir, { ...secret, ...environment });
    return started.then(
      () => "it started",
      (error: unknown) => String(error),
    );
  });
}

/** Reports, reads and is told through a server, many at a time, so that connections change hands. @returns how the server ended. */
async function useServer(environment: Record<string, string>): Promise<number | null> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  return withDataDir(async (dataDir) => {
    const site = await startSite(dataDir, { ...secret, WAYBILL_ALLOW_PRIVATE_TARGETS: "1", ...environment });
    const flow = uniqueName("web");
    await ask(site, "PUT", `/flows/${site.org}`, { name: flow, description: "" });
    receiver.answer(() => 200);
    await ask(site, "PUT", `/actions/${site.org}/flows`, {
      name: flow,
      flows: [flow],
      triggers: ["ON_ATTESTED_PROVENANCE"],
      targets: [{ type: "WEBHOOK", webhook: receiver.url }],
    });
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const body = {
          fingerprint: fingerprintOf(`${flow} ${at}`),
          filename: "web",
          build_url: "https://ci.test/1",
          commit_url: "https://git.test/1",
          trail_name: `run-${at}`,
        };
        const written = await call(site, "POST", `/artifacts/${site.org}/${flow}`, body);
        const list = await call(site, "GET", `/trails/${site.org}/${flow}`);
        const environments = await call(site, "GET", `/environments/${site.org}`);
        return [written.status, list.status, environments.status];
      }),
    );
    expect(statuses).toEqual(statuses.map(() => [201, 200, 200]));
    // Jobs are told of work over a connection of their own.
    await until(() => receiver.received.length === 60);
    return site.server.stop();
  });
}

describe.skipIf(version === undefined)("a pooler", { timeout: 120_000 }, () => {
  it("that nobody spoke of is named, and not worked with", async () => {
    const shown = /There is a pooler at DATABASE_URL.*Set WAYBILL_DATABASE_POOLER/;
    expect(await refusal({ DATABASE_URL: await pooled({}) })).toMatch(shown);
    const silent = await pooled({ ignore_startup_parameters: "options" });
    expect(await refusal({ DATABASE_URL: silent })).toMatch(shown);
  });

  it("of sessions works", async () => {
    const url = await pooled({ pool_mode: "session", default_pool_size: 60 });
    expect(await useServer({ DATABASE_URL: url, WAYBILL_DATABASE_POOLER: "session" })).toBe(0);
  });

  it("of transactions works if it keeps prepared statements, and is refused with a sentence otherwise", async () => {
    const environment = {
      // Fewer connections than the server has, so that they change hands.
      DATABASE_URL: await pooled({ default_pool_size: 6 }),
      WAYBILL_DATABASE_POOLER: "transaction",
      WAYBILL_DATABASE_DIRECT_URL: direct(),
    };
    if (keeps) expect(await useServer(environment)).toBe(0);
    else
      expect(await refusal(environment)).toMatch(/does not find prepared statements again.*1\.21 or newer/);
  });

  it("of transactions is refused while it does not keep them, or has one connection", async () => {
    const direct_url = { WAYBILL_DATABASE_POOLER: "transaction", WAYBILL_DATABASE_DIRECT_URL: direct() };
    const forgetful = await pooled(keeps ? { max_prepared_statements: 0 } : {});
    expect(await refusal({ DATABASE_URL: forgetful, ...direct_url })).toMatch(/does not find prepared/);
    const narrow = await pooled({ default_pool_size: 1 });
    expect(await refusal({ DATABASE_URL: narrow, ...direct_url })).toMatch(/two connections at a time/);
  });

  it("of transactions holds the settings in each of them, and leaves none of them behind", async () => {
    const url = await pooled({ default_pool_size: 2 });
    const db = connect({ connection: url, pooler: "transaction", direct: direct(), max: 4, checkRows: true });
    onTestFinished(() => db.close());
    const held = await Promise.all(
      Array.from({ length: 12 }, () =>
        db.one(query({ in_force: boolean, pid: integer })`${raw(selectInForce)}`),
      ),
    );
    expect(held.every(({ in_force }) => in_force)).toBe(true);
    const plain = new pg.Client(url);
    await plain.connect();
    const { rows } = await plain.query<{ timeout: string }>(
      "select current_setting('statement_timeout') as timeout",
    );
    await plain.end();
    expect(rows).toEqual([{ timeout: "0" }]);
    // A statement that fails leaves its connection in no transaction.
    await expect(db.run(raw("select 1 / 0"))).rejects.toThrow("division by zero");
    expect(await db.run(raw("select 1"))).toBe(1);
  });
});
