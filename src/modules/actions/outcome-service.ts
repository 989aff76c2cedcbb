import type { Tx } from "../../db/connect.ts";
import { putOutcome, type TargetOutcome } from "./outcome-store.ts";

/** Writes down, in the caller's transaction, how an attempt to reach a target of an action ended. Idempotent. */
export function noteOutcome(tx: Tx, orgId: string, outcome: TargetOutcome): Promise<void> {
  return putOutcome(tx, orgId, outcome);
}
