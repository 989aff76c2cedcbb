import type { Tx } from "../../../db/connect.ts";
import { moment, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** How an attempt to reach a target ended. */
export interface TargetOutcome {
  action_number: number;
  /** When the action that the attempt was made for was last modified. */
  last_modified_at: Timestamp;
  /** Place in the action's list of targets. */
  position: number;
  succeeded: boolean;
  at: Timestamp;
}

/**
 * Writes down how an attempt ended, unless the action is gone or was modified meanwhile: its targets may be others. Who
 * modifies it waits until the transaction ends. Times never go back.
 */
export async function putOutcome(tx: Tx, orgId: string, outcome: TargetOutcome): Promise<void> {
  const { action_number, last_modified_at, position, succeeded, at } = outcome;
  await tx.run(sql`
    insert into action_target_outcomes as o (org_id, action_number, position, last_success_at, last_failure_at)
    select ${orgId}::uuid, a.number, ${position}::integer, case when ${succeeded} then ${moment(at)} end,
      case when not ${succeeded} then ${moment(at)} end
    from actions as a
    where a.org_id = ${orgId} and a.number = ${action_number} and a.last_modified_at = ${moment(last_modified_at)}
    for share
    on conflict (org_id, action_number, position) do update set
      last_success_at = greatest(o.last_success_at, excluded.last_success_at),
      last_failure_at = greatest(o.last_failure_at, excluded.last_failure_at)`);
}

/** Deletes how attempts ended, because the targets are others now. */
export async function deleteOutcomes(tx: Tx, orgId: string, actionNumber: number): Promise<void> {
  await tx.run(sql`
    delete from action_target_outcomes where org_id = ${orgId} and action_number = ${actionNumber}`);
}
