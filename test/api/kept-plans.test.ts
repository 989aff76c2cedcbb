import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { connect, type Database } from "../../src/db/connect.ts";
import { reportAttestation } from "../../src/modules/process/attestations/service.ts";
import { findCaller } from "../../src/modules/kernel/access/store.ts";
import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { withDatabase } from "../support/databases.ts";

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

describe("what is run for each report", () => {
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
      const asked = { key: sha256(user.key), session: null, org: org.name };
      // What was written in between is another state of the database, so that callers are looked up again.
      await findCaller(db, asked, app.clock.now());
      await report("trail");
    }
    const runs = await runsByKeptPlans();
    for (const name of ["list-callers", "find-reported", "write-attestations"])
      expect([name, runs.get(name) ?? 0]).toEqual([name, expect.toSatisfy((n: number) => n >= 3)]);
  });
});
