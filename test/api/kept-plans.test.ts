import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "../../src/db/connect.ts";
import { sql } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { neverTightened, noRules } from "../../src/domain/key-rules.ts";
import { upsertRules } from "../../src/modules/kernel/access/rules-store.ts";
import { reportAttestation } from "../../src/modules/process/attestations/service.ts";
import { listKeyedEvents } from "../../src/modules/process/trails/event-store.ts";
import { findReported } from "../../src/modules/process/intake/look-store.ts";
import { findCaller } from "../../src/modules/kernel/access/store.ts";
import { findCaseByHeads, listArtifactCases } from "../../src/modules/process/compliance/case-store.ts";
import { listAllowed, listWithEntries } from "../../src/modules/runtime/rules/allowlists/store.ts";
import { listDecisions } from "../../src/modules/runtime/snapshots/read/store.ts";
import { getReportedRecord } from "../../src/modules/runtime/snapshots/report/environment-store.ts";
import { countFlows, listFacts } from "../../src/modules/runtime/snapshots/report/facts-store.ts";
import { listRunning, listVersions } from "../../src/modules/runtime/snapshots/report/version-store.ts";
import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { withDatabase } from "../support/databases.ts";
import { keptPlans } from "../support/kept-plans.ts";
import { untoldTables } from "../support/untold-tables.ts";

let app: TestApp;
let db: Database;

beforeAll(async () => {
  app = await startTestApp();
  db = connect({ connection: withDatabase(inject("postgres"), app.database), max: 1 });
});
afterAll(async () => {
  await db.close();
  await app.close();
});

/** Says how often statements were run by the plan that PostgreSQL made once, after it had planned them anew five times. */
async function runsByKeptPlans(): Promise<Map<string, number>> {
  const { rows } = await db.pool.query<{ name: string; generic_plans: number }>(
    "select name, generic_plans::integer from pg_prepared_statements",
  );
  return new Map(rows.map(({ name, generic_plans }) => [name, generic_plans]));
}

describe("what is run in a database that nothing is known of yet", () => {
  // Citus keeps its own plans, on workers those of shards.
  it.skipIf(inject("cluster"))("finds news of what runs in the environment's own list, once", async () => {
    const org = await app.org();
    const plans = await keptPlans(db, () =>
      transaction(db, (tx) => getReportedRecord(tx, org.id, randomUUID())).catch(() => undefined),
    );
    const plan = plans.get("reported-record") ?? "";
    // Not all versions that ever ran anywhere, nor what runs anew for each name.
    expect(plan).not.toContain("snapshot_artifacts");
    expect(plan).toMatch(/Index Scan using running_artifacts_pkey on running_artifacts/);
    expect(plan).toMatch(/Hash .*Join|hashed SubPlan/);
  });

  // Citus keeps its own plans, on workers those of shards; a month's indexes have names of their own.
  it.skipIf(inject("cluster") || inject("divided"))(
    "finds each trail by its name, and what was reported on it by the trail",
    async () => {
      const org = await app.org();
      const plans = await keptPlans(db, () =>
        findReported(db, org.id, [{ flow_name: "flow", name: "trail" }], []),
      );
      const plan = plans.get("find-reported") ?? "";
      expect(plan).toContain("Index Scan using trails_name on trails");
      for (const table of ["artifacts", "attestations"]) {
        expect(plan).toMatch(new RegExp(`Index Scan using ${table}_trail\\w* on ${table}\\b`));
        expect(plan).not.toMatch(new RegExp(`Seq Scan on ${table}\\b`));
      }
    },
  );

  it.skipIf(inject("cluster") || inject("divided"))(
    "looks up each event of a trail by its key, in an organization of which it has not looked at a row",
    async ({ skip }) => {
      const { rows } = await db.pool.query<{ is_told: boolean }>(
        "select current_setting('server_version_num')::integer >= 180000 as is_told",
      );
      skip(rows[0]?.is_told !== true, "before PostgreSQL 18 nothing can be told of a table");
      const [org, id] = [await app.org(), randomUUID()];
      const plans = await keptPlans(db, async () => {
        for await (const part of listKeyedEvents(db, org.id, id, `s${id}0000001${id}`))
          expect(part).toEqual([]);
      });
      for (const table of ["trails", "artifacts", "attestations"])
        expect(plans.get("trail-events-slice")).toContain(`Index Scan using ${table}_pkey on ${table}`);
    },
  );

  it.skipIf(inject("cluster"))("looks for each artifact on the list of its environment", async () => {
    const org = await app.org();
    const placed = [{ environment_id: randomUUID(), fingerprint: "ab".repeat(32) }];
    const plans = await keptPlans(db, () => listAllowed(db, org.id, placed));
    expect(plans.get("allow-listed")).toMatch(/Index (Only )?Scan using allowlist_entries_present/);
    const first = await keptPlans(db, () => listWithEntries(db, org.id, [randomUUID()]));
    expect(first.get("with-allow-list")).toMatch(/Index (Only )?Scan using allowlist_entries_present/);
  });

  it("is planned as if an organization had half of each table", async () => {
    expect(await untoldTables(db)).toEqual([]);
  });

  it("takes no table for empty because it was analyzed before anything was in it", async () => {
    const { rows } = await db.pool.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples = 0 and relname in
         ('attestations', 'audit_log', 'running_artifacts', 'trail_events', 'verdict_turns')`,
    );
    expect(rows).toEqual([]);
  });
});

// The coordinator of Citus plans each statement by itself: PostgreSQL counts none as kept.
describe.skipIf(inject("cluster"))("what is run for each report", () => {
  it("is not planned anew for each that comes alone", async () => {
    const org = await app.org();
    const user = await app.user();
    const deps = { ...app.deps, db };
    const common = { attestation_name: "unit" };
    const kind = { type: "generic", is_compliant: true, type_data: {} };
    const actor = {
      kind: "user",
      id: user.id,
      name: user.name,
      api_key_id: null,
      action: "post_generic_attestation",
      request_id: "request",
      request_digest: null,
    } as const;
    const report = (trail_name: string): Promise<string> =>
      reportAttestation(deps, org, { flow_name: "flow", trail_name, common, kind, actor, bodyBytes: 100 });
    for (let round = 0; round < 12; round += 1) {
      const asked = { key: sha256(user.key), session: null, address: null, org: org.name };
      // What was written in between is another state of the database, so that callers are looked up again.
      await findCaller(db, asked, app.clock.now());
      // A trail that was written to is remembered, and not looked for.
      await report(`trail-${round}`);
    }
    const runs = await runsByKeptPlans();
    for (const name of ["list-callers", "find-reported", "write-attestations"])
      expect([name, runs.get(name) ?? 0]).toEqual([name, expect.toSatisfy((n: number) => n >= 3)]);
    // Where nobody has rules for keys, nothing is run that follows them.
    expect([...runs.keys()]).not.toContain("list-callers-by-rules");
  });

  it("nor is what is read for one thing at a time", async () => {
    const { org_id: org } = await app.user();
    for (let round = 0; round < 12; round += 1) {
      const id = randomUUID();
      await listArtifactCases(db, org, [id]);
      await findCaseByHeads(db, org, id);
      await listFacts(db, org, [sha256(id).toString("hex")], "none");
      await countFlows(db, org, [sha256(id).toString("hex")]);
      await listVersions(db, org, [{ environment_id: id, id: 1 }]);
      await listRunning(db, org, [id]);
      await listDecisions(db, org, id, ["digest"]);
      await listWithEntries(db, org, [id]);
      await listAllowed(db, org, [{ environment_id: id, fingerprint: sha256(id).toString("hex") }]);
    }
    const runs = await runsByKeptPlans();
    const names = [
      "artifact-cases",
      "explained-case",
      "runtime-facts",
      "runtime-facts-counted",
      "some-versions",
    ];
    for (const name of [
      ...names,
      "running-versions",
      "snapshot-decisions",
      "with-allow-list",
      "allow-listed",
    ])
      expect([name, runs.get(name) ?? 0]).toEqual([name, expect.toSatisfy((n: number) => n >= 3)]);
  });

  it("nor is who calls, where there are rules for keys", async () => {
    const [org, user] = [await app.org(), await app.user()];
    const rules = { ...noRules, max_key_age_days: { personal: 30, service: 30 } };
    await transaction(db, (tx) =>
      upsertRules(tx, { org_id: org.id, rules, tightened: neverTightened }, app.clock.now()),
    );
    const asked = { key: sha256(user.key), session: null, address: null, org: org.name };
    for (let round = 0; round < 12; round += 1) {
      const found = await findCaller(db, asked, app.clock.now());
      expect(found).toMatchObject({ name: user.name, has_rules: true });
      await transaction(db, (tx) => tx.run(sql`select pg_current_xact_id()`));
    }
    const runs = await runsByKeptPlans();
    expect(runs.get("list-callers-by-rules")).toBeGreaterThanOrEqual(3);
    await db.run(sql`delete from security_rules where org_id = ${org.id}`);
    expect(await findCaller(db, asked, app.clock.now())).toMatchObject({ has_rules: false });
  });
});
