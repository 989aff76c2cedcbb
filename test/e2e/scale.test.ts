// What the benchmark of large installations is measured with has to be as if it had been reported.
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { withClient, withPostgres } from "../../bench/scale/connection.ts";
import { makeEpochs } from "../../bench/scale/make.ts";
import { readSeed, type SeedRows } from "../../bench/scale/seed-rows.ts";
import { reportSeed, scaleOrg } from "../../bench/scale/seed.ts";
import { startServer, stopAll } from "../../bench/processes.ts";
import { withDatabase } from "../../bench/data.ts";
import { transaction } from "../../src/db/transaction.ts";
import { evaluateTrails } from "../../src/modules/process/compliance/service.ts";
import { builtProgram } from "../support/program.ts";
import { amount } from "../support/thorough.ts";

const reported = 40;
const epochs = amount(12, 25);
let folder: string;
let seedDir: string;
let madeDir: string;
let rows: SeedRows;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-scale-"));
  seedDir = join(folder, "seed");
  madeDir = join(folder, "made");
  await chmod(folder, 0o755);
  await mkdir(seedDir, { mode: 0o755 });
  const server = await startServer(seedDir, { program: builtProgram() });
  await reportSeed(server, reported);
  await server.stop();
  rows = await withPostgres(seedDir, {}, (connection) =>
    withClient(connection, (client) => readSeed(client, scaleOrg)),
  );
  await cp(seedDir, madeDir, { recursive: true });
  await makeEpochs(madeDir, rows, epochs);
}, 240_000);
afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true, force: true });
});

describe("a multiple of what was reported", () => {
  it("has the verdicts that judging it again gives, and dense numbers", async () => {
    const server = await startServer(madeDir, { program: builtProgram() });
    await withDatabase(madeDir, async (db) => {
      const verdicts = async (): Promise<unknown[]> =>
        (
          await db.pool.query(
            `select trail_id, state, own_state, artifact_states,
               regexp_replace(status::text, '"evaluated_at":[0-9.]+', '', 'g') as status
             from trail_compliance where org_id = $1 order by trail_id`,
            [rows.orgId],
          )
        ).rows;
      const before = await verdicts();
      expect(before.length).toBeGreaterThan(16 * epochs);
      const { rows: trails } = await db.pool.query<{ id: string }>(
        "select id from trails where org_id = $1",
        [rows.orgId],
      );
      await transaction(db, (tx) =>
        evaluateTrails(
          tx,
          rows.orgId,
          trails.map(({ id }) => id),
          { kind: "attestations", own: new Set(trails.map(({ id }) => id)) },
        ),
      );
      expect(await verdicts()).toEqual(before);
      const { rows: dense } = await db.pool.query(
        `select (select count(*) = max(number) and max(number) = $2 from builds where org_id = $1) as builds,
           (select count(*) = max(seq) and max(seq) = (select audit_seq from org_counters where org_id = $1)
            from audit_log where org_id = $1) as audit,
           (select sum(trails) from trail_tallies where org_id = $1) = (select count(*) from trails where org_id = $1) as trails`,
        [rows.orgId, rows.counts.builds * epochs],
      );
      expect(dense).toEqual([{ builds: true, audit: true, trails: true }]);
    });
    await server.stop();
  }, 120_000);
});
