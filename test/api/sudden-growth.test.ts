import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import type { Executor } from "../../src/db/connect.ts";
import { integer } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import type { FlowFilter } from "../../src/modules/process/flows/list-filters-sql.ts";
import { listFlowPage } from "../../src/modules/process/flows/list-store.ts";
import type { EnvironmentQuery } from "../../src/modules/runtime/environments/list-sql.ts";
import { listEnvironmentPage } from "../../src/modules/runtime/environments/list-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";

const many = 2600;

let app: TestApp;
let org: TestOrg;

/** Makes many of what PostgreSQL has counted a few of before, and keeps it from counting again. */
beforeAll(async () => {
  app = await startTestApp();
  for (let at = 0; at < 4; at += 1) {
    const small = await app.org();
    for (const name of ["a", "b"]) {
      await createEnvironment(small, name, { type: "server" });
      await putFlow(small.member, small.name, { name });
    }
  }
  const { pool } = app.deps.db;
  await pool.query(`alter table environments set (autovacuum_enabled = false);
    alter table flows set (autovacuum_enabled = false);
    alter table tags_in_use set (autovacuum_enabled = false);
    analyze environments, flows, tags_in_use`);
  org = await app.org();
  await pool.query(
    `insert into environments (org_id, id, name, type, tags, created_at, last_modified_at)
     select $1, gen_random_uuid(), 'e-' || at, 'server', jsonb_build_object('team', case when at % 10 = 0 then 'a' else 'b' end),
       to_timestamp(1), to_timestamp(at)
     from generate_series(1, $2::integer) at`,
    [org.id, many],
  );
  await pool.query(
    `insert into flows (org_id, id, name, template, template_id, tags, created_at, created_by_name)
     select $1, gen_random_uuid(), 'f-' || at, '', gen_random_uuid(), '{"team":"a"}', to_timestamp(1), ''
     from generate_series(1, $2::integer) at`,
    [org.id, many],
  );
});
afterAll(() => app.close());

/** Counts the rows of a table that a page of its list reads, by the plan that PostgreSQL makes for it. */
async function rowsRead(table: string, list: (db: Executor) => Promise<{ total: number }>): Promise<number> {
  // What the connection has read before may still be counted with it.
  const counted = query({ read: integer })`
    select (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::integer as read
    from pg_stat_xact_user_tables where relname = ${table}`;
  return transaction(app.deps.db, async (tx) => {
    const before = await tx.one(counted);
    expect((await list(tx)).total).toBeGreaterThan(200);
    return (await tx.one(counted)).read - before.read;
  });
}

// Of Citus, workers have the rows, and count what is read.
describe.skipIf(inject("cluster"))("a page of many, of which PostgreSQL has counted a few", () => {
  const slice = (page: number) => ({ limit: 50, offset: (page - 1) * 50 });

  it("is not of an organization that it takes for nothing: one of them is found by its key", async () => {
    const { rows } = await app.deps.db.pool.query<{ "QUERY PLAN": string }>(
      `explain select * from environments where org_id = '${org.id}' and id = '${app.deps.ids.next()}'`,
    );
    expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("using environments_pkey");
  });

  it.each<[string, Partial<EnvironmentQuery>]>([
    ["all", {}],
    ["those with a tag that all have", { tags: { keys: ["team"], pairs: [] } }],
    ["those with a tag that some have", { tags: { keys: [], pairs: [["team", "a"]] } }],
    ["those of one name in another", { name: "e-1" }],
    ["those of two types", { types: ["server", "K8S"] }],
    ["those of a state", { states: ["UNKNOWN"] }],
  ])("of environments reads none over and over: %s", async (_, filter) => {
    for (const sort of ["name", "last_modified_at"] as const)
      for (const page of [1, 4, 20, 60]) {
        const list = { archived: false, sort, direction: "asc", ...filter } as const;
        const read = await rowsRead("environments", (db) => listEnvironmentPage(db, org, list, slice(page)));
        expect([sort, page, read]).toEqual([sort, page, expect.toSatisfy((n: number) => n <= 4 * many)]);
      }
  });

  it.each<[string, Partial<FlowFilter>]>([
    ["all", {}],
    ["those with a tag", { tags: { keys: ["team"], pairs: [] } }],
    ["those of one name in another", { search: "f-1" }],
  ])("of flows reads none over and over: %s", async (_, filter) => {
    const asked = {
      search: undefined,
      case_sensitive: false,
      space_ids: undefined,
      tags: undefined,
      archived: false,
      ...filter,
    };
    for (const sort of ["name", "latest_activity"] as const)
      for (const page of [1, 4, 20, 60]) {
        const order = { sort, sort_direction: "asc", ...slice(page) } as const;
        const read = await rowsRead("flows", ({ one }) =>
          listFlowPage({ one, sliced: app.deps.db.sliced }, org, asked, order),
        );
        expect([sort, page, read]).toEqual([sort, page, expect.toSatisfy((n: number) => n <= 4 * many)]);
      }
  });
});
