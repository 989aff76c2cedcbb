import type { Actor } from "../../src/domain/principal.ts";
import { type ReportedArtifact, reportArtifacts } from "../../src/modules/process/artifacts/service.ts";
import { recorded } from "../../src/modules/kernel/audit/service.ts";
import { type BesideServer, learnTables } from "../database.ts";
import type { Run } from "../model/builds.ts";
import type { Demo } from "../plan.ts";
import { reportOf } from "./runs.ts";

/** The actor of records that are loaded past the API. */
export const loader: Actor = {
  kind: "system",
  id: null,
  name: "pipeline",
  api_key_id: null,
  action: "load_demo",
  request_id: "demo",
  request_digest: null,
};

/** Artifacts written in one transaction. */
const batchSize = 5_000;

const tables = ["artifacts", "builds", "trails", "repos", "flows"] as const;

function* inBatches(runs: Iterable<Run>): Generator<ReportedArtifact[]> {
  let batch: ReportedArtifact[] = [];
  for (const run of runs) {
    for (const build of run.builds)
      batch.push({
        flow_name: run.flow.name,
        artifact: reportOf(run, build),
        actor: loader,
        created_at: run.at,
      });
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Loads what was built before today, with its own times. The API dates reports by the clock, so this calls the service
 * behind it, with all its rules. Not idempotent: reports add up.
 * @param runs in order of time.
 */
export function loadHistory(demo: Demo, beside: BesideServer, runs: Iterable<Run>): Promise<void> {
  const total = demo.amounts.builds - demo.amounts.recentBuilds;
  return demo.progress.step("Builds of the last year", total, async (advance) => {
    let loaded = 0;
    let learnAt = batchSize;
    for (const batch of inBatches(runs)) {
      await recorded(beside, { org: { id: beside.orgId }, actor: loader }, async (tx, record) => {
        await reportArtifacts(beside, tx, beside.orgId, batch);
        record("artifact", `${batch.length} artifacts of the demo`);
      });
      loaded += batch.length;
      advance(batch.length);
      if (loaded < learnAt) continue;
      await learnTables(beside.db, tables);
      learnAt = loaded * 4;
    }
    await learnTables(beside.db, tables);
  });
}
