import type { Tx } from "../../db/connect.ts";
import { judgingLimits, requireJudgeable } from "../../domain/judging.ts";
import type { Org } from "../environments/find-service.ts";
import { appliedPolicies } from "../policies/applied-service.ts";
import { listRecordedSizes, type RecordedSize } from "./bound-store.ts";

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
): Promise<RecordedSize[]> {
  if (environmentIds.length === 0) return [];
  const sizes = await listRecordedSizes(tx, org.id, environmentIds, judgingLimits.facts + 1);
  const policies = await appliedPolicies(tx, org.id, environmentIds);
  for (const { id, name, facts, most_flows: mostFlows, names } of sizes)
    requireJudgeable(name, { policies: policies.get(id) ?? [], facts, mostFlows, names });
  return sizes;
}
