import type { Tx } from "../../db/connect.ts";
import { evaluateTrail } from "../../domain/compliance/evaluate.ts";
import type { ComplianceState } from "../../domain/compliance/model.ts";
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

/** A trail of a flow that an action watches, and what it was judged to be. */
export interface WatchedTrail {
  trail_id: string;
  name: string;
  status: ComplianceState;
  flow: { id: string; name: string };
}

/**
 * Judges trails by everything reported on them and keeps the verdicts. Call it last in every transaction that begins a
 * trail, changes its template or reports anything on it, with the trails' rows locked: the verdict is then always that
 * of the reports that can be read beside it. Its time is the trail's `last_modified_at`, the time of the report that
 * led to it (contract flows 6.2). Two statements, whatever the number of trails. Idempotent.
 * @returns the trails somebody may want to be notified of.
 */
export async function evaluateTrails(
  tx: Tx,
  orgId: string,
  trailIds: Iterable<string>,
): Promise<WatchedTrail[]> {
  const ids = [...new Set(trailIds)];
  if (ids.length === 0) return [];
  const cases = await listTrailCases(tx, orgId, ids);
  const verdicts = cases.map(judge);
  await putVerdicts(tx, orgId, verdicts);
  return cases.flatMap(({ trail_id, name, flow_id, watched_flow }, index) =>
    watched_flow === null
      ? []
      : { trail_id, name, status: verdicts[index]!.state, flow: { id: flow_id, name: watched_flow } },
  );
}
