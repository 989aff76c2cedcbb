import type { Tx } from "../../../db/connect.ts";
import { integer, oneOf, type RowOf, text, uuid } from "../../../db/row.ts";
import { command, query } from "../../../db/sql.ts";
import { targetTypes, type TargetType } from "../../../domain/actions.ts";
import type { Occurrence, OccurrenceRecord } from "../../../domain/notifications/occurrence.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** A target of an action that listens to what is like one of the occurrences asked about. */
const listener = {
  trigger: text,
  subject_id: uuid,
  action_number: integer,
  target_position: integer,
  target_type: oneOf(targetTypes),
};
export type Listener = RowOf<typeof listener>;

/**
 * Lists who listens to occurrences: each target of each action with their trigger that watches their subject, once for all
 * occurrences of the same trigger and subject.
 */
export function listListeners(
  tx: Tx,
  orgId: string,
  occurrences: readonly Occurrence[],
): Promise<Listener[]> {
  const asked = new Map(
    occurrences.map(({ trigger, subject: { kind, id } }) => [`${trigger} ${id}`, { trigger, kind, id }]),
  );
  return tx.all(query("listeners", listener)`
    select asked.trigger, asked.id as subject_id, a.number as action_number, (target.position - 1)::integer as target_position,
      target.value ->> 'type' as target_type
    from jsonb_to_recordset(${JSON.stringify([...asked.values()])}::jsonb) as asked (trigger text, kind text, id uuid)
    cross join lateral (
      select action_number from action_environments
      where org_id = ${orgId} and environment_id = asked.id and asked.kind = 'environment'
      union all
      select action_number from action_flows where org_id = ${orgId} and flow_id = asked.id and asked.kind = 'flow'
    ) as watching
    join actions a on a.org_id = ${orgId} and a.number = watching.action_number and asked.trigger = any (a.triggers)
    cross join jsonb_array_elements(a.targets) with ordinality as target (value, position)
    order by a.number, target.position`);
}

/** The job that makes one attempt at a delivery. */
export const deliverTask = "deliver_notification";

/** What that job is queued with. */
export interface DeliverJob {
  org_id: string;
  delivery_id: string;
  /** Attempts made before it. An attempt that was written down is not repeated by the same job. */
  attempts: number;
  /** How often it was put back before anything was sent; left out for never. */
  postponed?: 0 | 1 | 2;
}

/** A delivery about to be queued. */
export interface NewDelivery {
  id: string;
  action_number: number;
  target_position: number;
  target_type: TargetType;
  occurrence: OccurrenceRecord;
  created_at: Timestamp;
  replay_of: string | null;
}

/**
 * Inserts deliveries, each with the job of its first attempt, in one statement.
 * @param deliveries each a `NewDelivery`, as JSON.
 */
export async function insertDeliveries(tx: Tx, orgId: string, deliveries: readonly string[]): Promise<void> {
  await tx.run(command("insert-deliveries")`
    with input as materialized (
      select * from jsonb_to_recordset(${`[${deliveries.join(",")}]`}::jsonb) as i (id uuid, action_number integer,
        target_position integer, target_type text, occurrence jsonb, created_at float8, replay_of uuid)
    ), queued as (
      insert into notification_deliveries (org_id, id, action_number, target_position, target_type, occurrence,
        created_at, next_attempt_at, replay_of)
      select ${orgId}, id, action_number, target_position, target_type, occurrence, to_timestamp(created_at),
        to_timestamp(created_at), replay_of
      from input order by id
    )
    select count(*) from graphile_worker.add_jobs((
      select array_agg(row(${deliverTask}::text, json_strip_nulls(json_build_object('org_id', ${orgId}::uuid, 'delivery_id', id,
          'attempts', 0, 'traceparent', ${tx.traceparent ?? null}::text)), null, null, 25, null, null, null
        )::graphile_worker.job_spec order by id)
      from input))`);
}
