import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { createApp } from "../../src/app.ts";
import { partition } from "../../src/cli/admin-partitions.ts";
import { repairTimesCommand } from "../../src/cli/admin-time.ts";
import { readConfig } from "../../src/config.ts";
import { distribute, distributeNew, isDistributed } from "../../src/db/citus/distribute.ts";
import { placements } from "../../src/db/citus/placement.ts";
import { withSchema } from "../../src/db/migrate.ts";
import { createLogger } from "../../src/lib/log.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { urlOf } from "../support/databases.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function rowsOf<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await app.deps.db.pool.query<Row>(text, values)).rows;
}

/** Where Citus has each table of the schema. */
async function found(): Promise<Map<string, string>> {
  const rows = await rowsOf<{ name: string; placement: string }>(`
    select c.relname as name, case when p.partmethod = 'h' then 'organization'
      when p.repmodel = 't' then 'everywhere' else 'coordinator' end as placement
    from pg_class c left join pg_dist_partition p on p.logicalrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not like 'citus\\_%'`);
  return new Map(rows.map(({ name, placement }) => [name, placement]));
}

describe.runIf(inject("cluster"))("a distributed database", () => {
  it("has every table where it belongs, organizations together", async () => {
    expect(await isDistributed(app.deps.db.pool)).toBe(true);
    expect(Object.fromEntries(await found())).toEqual(Object.fromEntries(placements));
    const groups = await rowsOf("select distinct colocationid from pg_dist_partition where partmethod = 'h'");
    expect(groups).toHaveLength(1);
  });

  it("has its foreign keys and triggers back", async () => {
    expect(await rowsOf("select where to_regnamespace('waybill_distribution') is not null")).toEqual([]);
    const [counts] = await rowsOf<{ keys: number; triggers: number }>(`
      select (select count(*)::int from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace
          and conrelid = 'environment_members'::regclass) as keys,
        (select count(*)::int from pg_trigger where tgrelid = 'attestations'::regclass and not tgisinternal
          and tgname like 'attestations%') as triggers`);
    expect(counts).toMatchObject({ keys: 2 });
    expect(counts!.triggers).toBeGreaterThanOrEqual(2);
  });

  it("is distributed once", async () => {
    await expect(withSchema(app.deps.db.pool, (client) => distribute(client, () => {}))).rejects.toThrow(
      "This database is distributed already",
    );
    const again = await withSchema(app.deps.db.pool, distributeNew);
    expect(again).toEqual({ tables: [], functions: 0, restored: 0 });
  });

  it("goes on where it was interrupted, with the rows there are", async () => {
    const org = await app.org();
    const { pool } = app.deps.db;
    await pool.query("select undistribute_table('snapshot_decisions')");
    await pool.query("insert into snapshot_decisions values ($1, $1, 'digest', 'text')", [org.id]);
    expect(await withSchema(pool, distributeNew)).toMatchObject({
      tables: ["snapshot_decisions"],
      restored: 1,
    });
    expect((await found()).get("snapshot_decisions")).toBe("organization");
    const kept = await rowsOf("select decisions from snapshot_decisions where org_id = $1", [org.id]);
    expect(kept).toEqual([{ decisions: "text" }]);
  });

  it("refuses a read replica", async () => {
    const url = urlOf(inject("postgres"), app.database);
    const config = readConfig({ DATABASE_URL: url, DATABASE_READ_URL: url, WAYBILL_WEB: "0" });
    await expect(createApp(config, { log: createLogger("silent"), clock: app.clock })).rejects.toThrow(
      "DATABASE_READ_URL must not be set on Citus",
    );
  });

  it("refuses to repair times", async () => {
    await expect(repairTimesCommand(app.deps, {})).rejects.toThrow("Times cannot be repaired on Citus");
  });

  it("refuses to divide tables by months", async () => {
    await expect(partition(app.deps, "attestations", {})).rejects.toThrow("not divided by months on Citus");
  });
});

describe.skipIf(inject("cluster"))("any other database", () => {
  it("is not taken for a distributed one", async () => {
    expect(await isDistributed(app.deps.db.pool)).toBe(false);
    expect(await withSchema(app.deps.db.pool, distributeNew)).toBeUndefined();
  });
});
