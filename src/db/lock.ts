import { sql } from "kysely";

import type { Tx } from "./connect.ts";

/**
 * Waits until no other transaction holds the lock of this name, and holds it until this one ends. For rules that span
 * rows, such as a tree without cycles. Take it before any row is locked, or deadlocks follow.
 * @param name what is guarded, with the organization's id.
 */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}::text, 0))`.execute(tx);
}
