import type { Tx } from "../../db/connect.ts";
import { evaluateTrail } from "../../domain/compliance/evaluate.ts";
import { printCompliance } from "../../domain/compliance/print.ts";
import type { Template } from "../../domain/template/model.ts";
import { storedTemplate } from "../../domain/template/stored.ts";
import { listTrailCases, putVerdicts, type TrailCase, type Verdict } from "./store.ts";

/** Trails of a flow share their template: reading it once is enough. */
const knownTemplates = new Map<string, Template>();
const maxKnownTemplates = 200;

function templateOf(text: string): Template {
  const known = knownTemplates.get(text);
  if (known !== undefined) return known;
  const template = storedTemplate(text);
  if (knownTemplates.size >= maxKnownTemplates) knownTemplates.clear();
  knownTemplates.set(text, template);
  return template;
}

function judge(trail: TrailCase): Verdict {
  const compliance = evaluateTrail(templateOf(trail.template), trail);
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
