import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "../../src/db/connect.ts";
import { transaction } from "../../src/db/transaction.ts";
import { listAllTrails, listTrails } from "../../src/modules/process/trails/list-store.ts";
import { upsertTrails } from "../../src/modules/process/trails/store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attestPassed } from "../support/attestations.ts";
import { withDatabase } from "../support/databases.ts";
import { putFlow } from "../support/flows.ts";
import { keptPlans } from "../support/kept-plans.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Waits for transactions that have written, of any database of the server: while one lasts, no version since makes room. */
async function untilNoneLasts(): Promise<void> {
  const lasting = async (): Promise<unknown[]> => {
    const { rows } = await app.deps.db.pool.query(
      `select pid from pg_stat_activity
       where backend_xid is not null and xact_start < clock_timestamp() - interval '20 ms'`,
    );
    return rows;
  };
  await expect.poll(lasting, { timeout: 60_000 }).toEqual([]);
}

describe("trails that are reported to", () => {
  it("are in no index that says when, of which all would have to be written then", async () => {
    const { rows } = await app.deps.db.pool.query<{ definition: string }>(
      "select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'trails'::regclass",
    );
    expect(rows.length).toBeGreaterThan(3);
    const changed = /\b(?:last_modified_at|repo_ids)\b/;
    expect(rows.filter(({ definition }) => changed.test(definition))).toEqual([]);
  });

  it.skipIf(inject("cluster"))("stay on their pages, also when all of a page are", async () => {
    const org = await app.org();
    expect((await putFlow(org.admin, org.name, { name: "web" })).status).toBe(201);
    const names = Array.from({ length: 120 }, (_, at) => `trail-${at}`);
    const report = async (attestation: string): Promise<void> => {
      for (const name of names) {
        await untilNoneLasts();
        await attestPassed(org, name, attestation);
      }
    };
    const pages = async (): Promise<number[]> => {
      const { rows } = await app.deps.db.pool.query<{ page: number }>(
        "select (ctid::text::point)[0]::integer as page from trails where org_id = $1 order by id",
        [org.id],
      );
      return rows.map(({ page }) => page);
    };
    await report("first");
    const before = await pages();
    expect(new Set(before).size).toBeGreaterThan(2);
    await report("second");
    await report("third");
    expect(await pages()).toEqual(before);
  });
});

// Plans of Citus are of shards, on workers.
describe.skipIf(inject("cluster"))("one of many trails", () => {
  const many = 30_000;
  let db: Database;
  let org: TestOrg;
  let flow: string;
  beforeAll(async () => {
    db = connect({ connection: withDatabase(inject("postgres"), app.database), max: 1 });
    org = await app.org();
    await putFlow(org.admin, org.name, { name: "busy" });
    await db.pool.query(
      `insert into trails (org_id, id, flow_id, name, template, template_id, created_at, created_by_name, last_modified_at)
       select f.org_id, gen_random_uuid(), f.id, 'trail-' || n, f.template, f.template_id, now(), 'test', now()
       from flows f, generate_series(1, ${many}) n where f.org_id = $1`,
      [org.id],
    );
    await db.pool.query(
      `insert into trail_compliance (org_id, trail_id, state, own_state, artifact_states, status, evaluated_at, own_digest)
       select org_id, id, 'COMPLIANT', 'COMPLIANT', '{}', '{}', now(), '' from trails where org_id = $1`,
      [org.id],
    );
    await db.pool.query("analyze trails");
    flow = (await db.pool.query<{ id: string }>("select id from flows where org_id = $1", [org.id])).rows[0]!
      .id;
  });
  afterAll(() => db.close());

  it("is looked up by its key when attestations move it on", async () => {
    const { rows } = await db.pool.query<{ id: string; version: string }>(
      "select id, xmin::text as version from trails where org_id = $1 and name = 'trail-77'",
      [org.id],
    );
    const moved = {
      ...rows[0],
      flow_id: flow,
      flow_name: "busy",
      name: "trail-77",
      last_modified_at: 1e9,
      repo_ids: [],
    };
    const pages: number[] = [];
    const client = await db.pool.connect();
    // Planned without a look at values from the sixth time on.
    for (let round = 0; round < 8; round += 1) {
      await client.query("begin");
      const said = await client.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
        `explain (analyze, buffers, format json) select move_trails('${org.id}', '${JSON.stringify([moved])}')`,
      );
      await client.query("rollback");
      const { Plan } = said.rows[0]!["QUERY PLAN"][0];
      pages.push(Plan["Shared Hit Blocks"]! + Plan["Shared Read Blocks"]!);
    }
    client.release();
    // The first time it looks at the catalog, too. Any index with all of them has more.
    expect(Math.max(...pages.slice(1))).toBeLessThan(40);
  });

  it("is looked up by its key when artifacts move it on", async () => {
    const trail = {
      id: randomUUID(),
      event_id: randomUUID(),
      flow_id: flow,
      name: "trail-78",
      description: "",
      git_commit_info: null,
      repo_ids: [],
      created_at: 1e9,
      last_modified_at: 1e9,
      created_by_name: "test",
      creating_user_id: randomUUID(),
    };
    const plans = await keptPlans(db, () => transaction(db, (tx) => upsertTrails(tx, org.id, [trail])));
    const plan = plans.get("upsert-trails") ?? "";
    expect(plan).toMatch(/Update on trails .*\n(?:.*\n){1,8}.*Index Scan using trails_pkey on trails/);
    expect(plan).not.toMatch(/using trails_(?!pkey|name)\w+/);
  });

  const all = { flow_id: undefined, tag: undefined, fingerprint: undefined };
  const entriesRead = async (): Promise<number> => {
    await db.pool.query("select pg_stat_force_next_flush()");
    const { rows } = await db.pool.query<{ entries: number }>(
      "select sum(idx_tup_read)::integer as entries from pg_stat_user_indexes where relname = 'trails'",
    );
    return rows[0]!.entries;
  };

  it("is not among those that are read for the newest of the organization", async () => {
    const before = await entriesRead();
    expect((await listTrails(db, org.id, all, { limit: 50, offset: 100 })).rows).toHaveLength(50);
    const read = (await entriesRead()) - before;
    expect(read).toBeGreaterThanOrEqual(50);
    expect(read).toBeLessThan(500);
  });

  it("is not read again for each part of a list of all", async () => {
    const list = listAllTrails(db, org.id, all);
    const before = await entriesRead();
    for (let part = 0; part < 3; part += 1)
      expect((await list.next()).value).toSatisfy((rows: unknown[]) => rows.length >= 50);
    const read = (await entriesRead()) - before;
    expect(read).toBeGreaterThanOrEqual(150);
    expect(read).toBeLessThan(1_500);
    await list.return(undefined);
  });
});
