import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import type { VersionSummary } from "../../src/domain/snapshot/judging-plan.ts";
import { getReportedRecord } from "../../src/modules/runtime/snapshots/report/environment-store.ts";
import { listVersionSummaries } from "../../src/modules/runtime/snapshots/report/version-store.ts";
import { listWhatRuns } from "../../src/modules/runtime/snapshots/report/versions-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import { build } from "../support/deployments.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
let other: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  other = await startTestApp({}, { beside: app });
});
afterAll(async () => {
  await other.close();
  await app.close();
});

/** An organization with the environment `prod`, and its id. */
async function orgWithProd(): Promise<{ org: TestOrg; id: string }> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  const { rows } = await app.deps.db.pool.query<{ id: string }>(
    "select id from environments where org_id = $1",
    [org.id],
  );
  return { org, id: rows[0]!.id };
}

const byId = (left: VersionSummary, right: VersionSummary): number => left.id - right.id;

/** What a server takes for what runs, when nothing can be stale. */
function taken({ deps }: TestApp, org: TestOrg, id: string): Promise<VersionSummary[]> {
  return transaction(deps.db, async (tx) => {
    const record = await getReportedRecord(tx, org.id, id);
    return (await listWhatRuns(deps, tx, org.id, record, false)).toSorted(byId);
  });
}

/** What runs by the record. */
async function recorded(org: TestOrg, id: string): Promise<VersionSummary[]> {
  return (await listVersionSummaries(app.deps.db, org.id, id, false)).toSorted(byId);
}

describe("what runs, as servers remember it", () => {
  it("is what the record says, whichever of them took the reports, and whatever else changed verdicts", async () => {
    const names = ["web", "api", "db", "proxy", "cache"];
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ runs: fc.subarray(names), on: fc.constantFrom(0, 1) }) },
      { weight: 1, arbitrary: fc.record({ builds: fc.constantFrom(...names) }) },
      { weight: 1, arbitrary: fc.record({ allows: fc.constantFrom(...names) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        const { org, id } = await orgWithProd();
        await createPolicy(org, "origin", policyText("provenance: {required: true}"));
        await attachPolicies(org, "prod", "origin");
        for (const each of steps) {
          if ("builds" in each) await build(org, each.builds, "shop");
          else if ("allows" in each)
            await org.member.put(`/allowlists/${org.name}/prod`, {
              artifact_name: each.allows,
              artifact_fingerprint: fingerprintOf(each.allows),
              description: "ours",
            });
          else {
            const server = [app, other][each.on]!;
            const snapshotter = server.as(org.snapshotter.key!);
            expect((await reportServer({ ...org, snapshotter }, "prod", each.runs)).status).toBeLessThan(300);
          }
          const truth = await recorded(org, id);
          expect(await taken(app, org, id)).toEqual(truth);
          expect(await taken(other, org, id)).toEqual(truth);
        }
      }),
      { numRuns: amount(5, 12) },
    );
  });

  it("is read again when its snapshot is not one of those before", async () => {
    const { org, id } = await orgWithProd();
    await reportServer(org, "prod", ["web", "api"]);
    const names = async () => (await taken(app, org, id)).map(({ name }) => name);
    expect(await names()).toEqual(["api", "web"]);
    const { pool } = app.deps.db;
    /** Changes what cannot change, as if another server had become the primary. */
    const replace = async (table: string, change: string): Promise<void> => {
      await pool.query(`alter table ${table} disable trigger user`);
      await pool.query(`update ${table} set ${change} and org_id = $1`, [org.id]);
      await pool.query(`alter table ${table} enable trigger user`);
    };
    await replace("snapshot_artifacts", "name = 'lost' where name = 'api'");
    expect(await names()).toEqual(["api", "web"]);
    await replace("snapshots", "created_at = '2020-01-01T00:00:00Z' where index = 1");
    expect(await names()).toEqual(["lost", "web"]);
  });
});
