import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { makeCheck } from "../../src/cli/doctor-checks.ts";
import { databaseChecks } from "../../src/cli/doctor-database.ts";
import { examine } from "../../src/cli/doctor.ts";
import { isDistributed } from "../../src/db/citus/distribute.ts";
import { listGapsAtEnd } from "../../src/modules/maintenance/health/doctor-store.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { buildWeb } from "../support/builds-of-web.ts";
import { urlOf } from "../support/databases.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe("what the doctor looks at in the database", () => {
  it("can be looked at, wherever the tables are", async () => {
    const org = await app.org();
    await buildWeb(org, "1");
    const { db, config } = app.deps;
    const findings = await Promise.all(databaseChecks(db, config).map((check) => makeCheck(check, 60_000)));
    const details = findings.flatMap((found) =>
      found === undefined ? [] : [`${found.name}: ${found.detail}`],
    );
    expect(details.filter((detail) => detail.includes("could not be checked"))).toEqual([]);
    const named = findings.flatMap((found) => found?.name ?? []);
    expect(named).toEqual(expect.arrayContaining(["audit_log", "builds", "eternal_keys"]));
    // On Citus this program makes no backups, and so none is missing.
    expect(named.filter((name) => ["backup", "drill"].includes(name))).toEqual(
      inject("cluster") ? [] : ["backup", "drill"],
    );
  });

  // Elsewhere they are looked at, which is tried with the command.
  it.runIf(inject("cluster"))("are no plans on Citus", async () => {
    const { config, db } = app.deps;
    const databaseUrl = urlOf(inject("postgres"), app.database);
    expect(await isDistributed(db.pool)).toBe(true);
    const { findings, not_checked } = await examine({ ...config, databaseUrl }, { plans: true });
    expect(findings.filter(({ group }) => group === "plans")).toEqual([]);
    expect(not_checked).toContain("plans");
  });

  it.each([
    ["audit_log", "audit_seq"],
    ["builds", "build_number"],
  ] as const)("are gaps at the end of %s, of whichever organization", async (table, counter) => {
    const orgs = await Promise.all([app.org(), app.org(), app.org()]);
    for (const org of orgs) await buildWeb(org, "1");
    expect(await listGapsAtEnd(app.deps.db, table)).toEqual([]);
    const { id } = orgs[1];
    const { pool } = app.deps.db;
    await pool.query(`update org_counters set ${counter} = ${counter} + 1 where org_id = $1`, [id]);
    expect(await listGapsAtEnd(app.deps.db, table)).toEqual([id]);
    await pool.query(`update org_counters set ${counter} = ${counter} - 1 where org_id = $1`, [id]);
  });
});
