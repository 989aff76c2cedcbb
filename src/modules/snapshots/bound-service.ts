import type { Tx } from "../../db/connect.ts";
import { countEvaluations, judgingLimits, requireJudgeable } from "../../domain/judging.ts";
import type { Org } from "../environments/find-service.ts";
import { appliedPolicies } from "../policies/applied-service.ts";
import { listRecordedSizes, type RecordedSize } from "./bound-store.ts";
import type { Draft } from "./draft.ts";

/**
 * Makes sure that a snapshot in the making can be judged at once.
 * @param flows how many flows know each fingerprint; without them, each artifact is taken to be known to one.
 * @throws TooMuchToJudge
 */
export function requireDraftJudgeable(
  { target, rules, items }: Draft,
  flows?: ReadonlyMap<string, number>,
): void {
  let [facts, mostFlows, names] = [0, 1, 0];
  for (const { running, fingerprint } of items) {
    if (running === undefined) continue;
    const known = Math.max(1, flows?.get(fingerprint) ?? 0);
    facts += known;
    mostFlows = Math.max(mostFlows, known);
    names += running.name.length;
  }
  requireJudgeable(target.standing.name, { policies: rules.policies, facts, mostFlows, names });
}

/**
 * Makes sure that what runs in environments can be judged by the policies attached there, as far as is known from their
 * latest snapshots: for those that are going to be judged later. Three statements.
 * @returns how much there is to judge in each.
 * @throws TooMuchToJudge for the first by name that asks for too much.
 */
export async function requireRecordedJudgeable(
  tx: Tx,
  org: Org,
  environmentIds: readonly string[],
): Promise<(RecordedSize & { evaluations: number })[]> {
  if (environmentIds.length === 0) return [];
  const sizes = await listRecordedSizes(tx, org.id, environmentIds, judgingLimits.facts + 1);
  const policies = await appliedPolicies(tx, org.id, environmentIds);
  return sizes.map((recorded) => {
    const { id, name, facts, most_flows: mostFlows, names } = recorded;
    const size = { policies: policies.get(id) ?? [], facts, mostFlows, names };
    requireJudgeable(name, size);
    return { ...recorded, evaluations: countEvaluations(size) };
  });
}
