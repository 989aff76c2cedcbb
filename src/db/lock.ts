import type { Tx } from "./connect.ts";
import { sql } from "./sql.ts";

/**
 * Waits until no other transaction holds the lock of this name, and holds it until this one ends. For rules that span
 * rows, such as a tree without cycles. Take it before any row is locked, or deadlocks follow.
 * @param name what is guarded, with the organization's id.
 */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${name}::text, 0))`);
}

/** Tables that every transaction writes last. Who locks all tables locks them last, so that transactions under way can end. */
export const writtenLast = ["org_counters", "audit_log"] as const;
