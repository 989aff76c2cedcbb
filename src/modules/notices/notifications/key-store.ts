import type { Executor, Tx } from "../../../db/connect.ts";
import { integer, type RowOf, timestamp } from "../../../db/row.ts";
import { moment, query } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** Which of an organization's signing keys is in force, and since when. */
const signingKey = { generation: integer, rotated_at: timestamp };
export type KeyRow = RowOf<typeof signingKey>;

/** Finds an organization's signing key. Undefined when it was never replaced: the first one is in force. */
export function findKey(db: Executor, orgId: string): Promise<KeyRow | undefined> {
  return db.first(query(signingKey)`
    select generation, rotated_at from notification_keys where org_id = ${orgId}`);
}

/** Goes on to the next signing key. */
export function insertNextKey(tx: Tx, orgId: string, at: Timestamp): Promise<KeyRow> {
  return tx.one(query(signingKey)`
    insert into notification_keys as k (org_id, generation, rotated_at) values (${orgId}, 2, ${moment(at)})
    on conflict (org_id) do update set generation = k.generation + 1, rotated_at = excluded.rotated_at
    returning generation, rotated_at`);
}
