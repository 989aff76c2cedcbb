import type { Tx } from "../../db/connect.ts";
import type { PolicyVersion } from "../../domain/policy/evaluation/model.ts";

/** The latest version of every policy attached to each environment, in the order of attachment. */
export function appliedPolicies(
  _tx: Tx,
  _orgId: string,
  _environmentIds: readonly string[],
): Promise<Map<string, PolicyVersion[]>> {
  return Promise.resolve(new Map());
}
