import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { moment } from "../../db/columns.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** Which of an organization's signing keys is in force, and since when. */
export interface KeyRow {
  generation: number;
  rotated_at: Timestamp;
}

/** Undefined when it was never replaced: the first one is in force. */
export function findKey(db: Executor, orgId: string): Promise<KeyRow | undefined> {
  return db
    .selectFrom("notification_keys")
    .select(["generation", "rotated_at"])
    .where("org_id", "=", orgId)
    .executeTakeFirst();
}

/** Goes on to the next signing key. */
export function insertNextKey(tx: Tx, orgId: string, at: Timestamp): Promise<KeyRow> {
  return tx
    .insertInto("notification_keys")
    .values({ org_id: orgId, generation: 2, rotated_at: moment(at) })
    .onConflict((conflict) =>
      conflict.column("org_id").doUpdateSet({
        generation: sql<number>`notification_keys.generation + 1`,
        rotated_at: moment(at),
      }),
    )
    .returning(["generation", "rotated_at"])
    .executeTakeFirstOrThrow();
}
