import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import type { Tx } from "../../src/db/connect.ts";
import { integer } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { listPackagedArtifacts } from "../../src/modules/views/audit-packages/store.ts";
import { listFound } from "../../src/modules/views/search/store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf } from "../support/artifacts.ts";
import { reportAll } from "../support/histories.ts";

const artifacts = 120;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  await reportAll(
    app,
    org,
    Array.from({ length: artifacts }, (_, at) => ({
      trail: "run",
      name: `part-${at}`,
      print: `part ${at}`,
      commit: "built",
    })),
  );
});
afterAll(() => app.close());

/** How often the stored verdict, which is long, is read while something is done. */
function verdictsRead(read: (tx: Tx) => Promise<unknown>): Promise<number> {
  const counted = query({ read: integer })`
    select coalesce(sum(s.idx_scan), 0)::integer as read from pg_class c
    join pg_stat_xact_all_tables s on s.relid = c.reltoastrelid where c.relname = 'trail_compliance'`;
  return transaction(app.deps.db, async (tx) => {
    const before = await tx.one(counted);
    await read(tx);
    return (await tx.one(counted)).read - before.read;
  });
}

// Workers have the rows of Citus, and count what is read.
describe.skipIf(inject("cluster"))("a verdict on many artifacts is taken apart once", () => {
  it("for a page of an audit package", async () => {
    const { rows } = await app.deps.db.pool.query<{ id: string }>("select id from trails where org_id = $1", [
      org.id,
    ]);
    const scope = { kind: "trail", trail_id: rows[0]!.id } as const;
    const shown: { artifact_fingerprint: string; status: string }[] = [];
    const read = await verdictsRead(async (tx) => {
      const links = { api: "", web: "", evidence: false };
      for await (const page of listPackagedArtifacts(tx, org, links, scope))
        for (const { json } of page) {
          const { fingerprint, compliance_status } = JSON.parse(json);
          expect(compliance_status).toMatchObject({ artifact_fingerprint: fingerprint, status: "COMPLIANT" });
          shown.push(compliance_status);
        }
    });
    expect(shown).toHaveLength(artifacts);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(5);
  });

  it("for what a search finds", async () => {
    const asked = { fingerprints: [], commits: [commitOf("built")] };
    const read = await verdictsRead(async (tx) => {
      const found = await listFound(tx, org.id, asked, 100);
      expect(found).toHaveLength(100);
      for (const { fingerprint, artifact_row } of found)
        expect(artifact_row).toEqual({ artifact_fingerprint: fingerprint, status: "COMPLIANT" });
    });
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(5);
  });
});
