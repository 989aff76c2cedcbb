import type { Tx } from "../../../db/connect.ts";
import { nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { installationId } from "./key-rules-sql.ts";

const unused = {
  id: uuid,
  /** The organization of a service account's key; null for a person's. */
  org_id: nullable(uuid),
  account: nullable(text),
  last_used_at: timestamp,
};

/** A key that nobody uses, and when it was used last, or made. */
export type UnusedKeyRow = RowOf<typeof unused>;

/** SQL for: when the key was used last, was given another secret, or was made. */
const used = sql`greatest(k.created_at, k.rotated_at, k.last_used_at)`;

/** SQL for: the shortest time, in days, of the rules that apply to the key; null where none does. */
const unusedDays = sql`(select min(rule.unused_days) from security_rules rule where rule.org_id in (${installationId}, k.org_id))`;

/** SQL for: the key still works at a moment, and was not used for longer by then than the rules let it. */
function isUnusedAt(at: Timestamp) {
  return sql`(k.expires_at is null or k.expires_at > ${moment(at)}) and k.revoked_at is null
    and ${used} + ${unusedDays} * interval '1 day' <= ${moment(at)}`;
}

/** SQL for: how many days its owner is told before. */
const warnDays = sql`(select min(rule.warn_days) from security_rules rule
  where rule.org_id in (${installationId}, k.org_id) and rule.unused_days is not null)`;

const columns = sql`k.id, k.org_id,
  (select s.name from service_accounts s where s.org_id = k.org_id and s.id = k.service_account_id) as account,
  ${used} as last_used_at`;

/** Notes that owners are warned of keys that nobody uses, and lists those, some at a time. One that was used since its warning is warned of anew. */
export function updateUnusedWarned(tx: Tx, at: Timestamp, limit: number): Promise<UnusedKeyRow[]> {
  return tx.all(query(unused)`
    update api_keys k set unused_warned_at = ${moment(at)}
    where k.id in (
      select k.id from api_keys k
      where ${isUnusedAt(at)}
        and (k.unused_warned_at is null or k.unused_warned_at < ${used})
      order by k.id limit ${limit} for update skip locked)
    returning ${columns}`);
}

/** Ends keys that were not used since their owners were warned, and lists those, some at a time. */
export function updateUnusedRevoked(tx: Tx, at: Timestamp, limit: number): Promise<UnusedKeyRow[]> {
  return tx.all(query(unused)`
    update api_keys k set revoked_at = ${moment(at)}
    where k.id in (
      select k.id from api_keys k
      where ${isUnusedAt(at)}
        and k.unused_warned_at > ${used}
        and k.unused_warned_at + ${warnDays} * interval '1 day' <= ${moment(at)}
      order by k.id limit ${limit} for update skip locked)
    returning ${columns}`);
}
