import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { lookAtPlans } from "../../src/cli/doctor-plans.ts";
import { judgePlan, type StatementPlan } from "../../src/domain/plans.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attestPassed } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";

// Statements of other organizations are refused by tests otherwise: a sample is of whichever has most.
describe.skipIf(inject("cluster"))("the plans of the statements that are run most", () => {
  let app: TestApp;
  let org: TestOrg;
  beforeAll(async () => {
    app = await startTestApp({}, { maintained: true });
    org = await app.org();
  });
  afterAll(() => app.close());

  it("are missing as long as nothing was reported", async () => {
    const { missing, plans } = await lookAtPlans(app.deps.db);
    expect(missing).toEqual(expect.arrayContaining(["find-trail", "events", "runtime-facts"]));
    expect(missing.length + plans.length).toBe(20);
  });

  it("are of all twenty afterwards, change nothing, and warn of one that reads a growing table from end to end", async () => {
    const fingerprint = fingerprintOf("web");
    await org.member.post(`/artifacts/${org.name}/web`, artifactBody({ trail_name: "t1", fingerprint }));
    await attestPassed(org, "t1", "unit-test");
    await createEnvironment(org, "prod", { type: "server" });
    await reportServer(org, "prod", [{ name: "web", fingerprint }]);
    const { pool } = app.deps.db;
    const written = async () =>
      (await pool.query("select sum(n_tup_ins + n_tup_upd + n_tup_del) as rows from pg_stat_user_tables"))
        .rows;
    await pool.query("select pg_stat_force_next_flush()");
    const before = await written();

    const { missing, plans } = await lookAtPlans(app.deps.db);
    expect(missing).toEqual([]);
    expect(plans).toHaveLength(20);
    for (const { name, plan } of plans) {
      expect(plan, name).toMatchObject({ name, whole: [], ms: expect.any(Number) });
      expect(judgePlan(plan), name).toMatchObject({ status: "ok", remedy: null });
    }
    const found = new Map(plans.map(({ name, plan }) => [name, plan as StatementPlan]));
    for (const name of [
      "list-callers",
      "find-trail",
      "find-environment",
      "running-rows",
      "snapshots",
      "events",
    ])
      expect(found.get(name)!.rows, name).toBe(1);
    expect(await written()).toEqual(before);
    // Outlines name steps, tables and indexes, and nothing that was asked for.
    expect(JSON.stringify(plans)).toContain("trails");
    for (const text of [org.name, "t1\\b", "prod", fingerprint])
      expect(JSON.stringify(plans)).not.toMatch(text);

    await pool.query(`
      insert into trails select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'name', 'more-' || n))).*
      from trails t, generate_series(1, 20000) n;
      analyze trails`);
    await pool.query(`do $$ begin
      execute format('alter database %I set enable_indexscan = off', current_database());
      execute format('alter database %I set enable_bitmapscan = off', current_database());
      execute format('alter database %I set enable_indexonlyscan = off', current_database());
    end $$`);
    // Connections that are open keep the settings that they began with.
    const slow = await startTestApp({}, { maintained: true, beside: app });
    try {
      const read = (await lookAtPlans(slow.deps.db)).plans.find(({ name }) => name === "find-trail");
      expect(read?.plan).toMatchObject({ whole: ["trails"] });
      expect(judgePlan(read!.plan)).toMatchObject({
        status: "warning",
        detail: expect.stringContaining("reads all of trails"),
      });
    } finally {
      await slow.close();
    }
  });
});
