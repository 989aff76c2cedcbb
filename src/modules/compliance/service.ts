import type { Tx } from "../../db/connect.ts";
import { evaluateTrail } from "../../domain/compliance/evaluate.ts";
import { printCompliance } from "../../domain/compliance/print.ts";
import { knownTemplate } from "../flows/known-templates.ts";
import { listTrailCases, putVerdicts, type TrailCase, type Verdict } from "./store.ts";

function judge(trail: TrailCase): Verdict {
  const compliance = evaluateTrail(knownTemplate(trail.template), trail);
  const { last_modified_at: evaluated_at, template_id } = trail;
  return {
    trail_id: trail.trail_id,
    state: compliance.status,
    status: printCompliance(compliance, { evaluated_at, template_id }),
  };
}

/**
 * Judges trails by everything reported on them and keeps the verdicts. Call it last in every transaction that begins a
 * trail, changes its template or reports anything on it, with the trails' rows locked: the verdict is then always that
 * of the reports that can be read beside it. Its time is the trail's `last_modified_at`, the time of the report that
 * led to it (contract flows 6.2). Two statements, whatever the number of trails. Idempotent.
 */
export async function evaluateTrails(tx: Tx, orgId: string, trailIds: Iterable<string>): Promise<void> {
  const ids = [...new Set(trailIds)];
  if (ids.length === 0) return;
  const cases = await listTrailCases(tx, orgId, ids);
  await putVerdicts(tx, orgId, cases.map(judge));
}
