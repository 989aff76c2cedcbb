import { sql } from "kysely";

import { moment, momentOrNull } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { OpenTarget } from "../../domain/actions.ts";
import type { OccurrenceRecord } from "../../domain/notifications/occurrence.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { deliverTask } from "./store.ts";

export type DeliveryStatus = "waiting" | "delivered" | "failed" | "cancelled";

/** A delivery as it is shown. */
export interface DeliveryRow {
  id: string;
  action_number: number;
  target_position: number;
  target_type: OpenTarget["type"];
  occurrence: OccurrenceRecord;
  status: DeliveryStatus;
  attempts: number;
  created_at: Timestamp;
  last_attempt_at: Timestamp | null;
  next_attempt_at: Timestamp | null;
  response_status: number | null;
  error: string | null;
  replay_of: string | null;
}

const shown = [
  "id",
  "action_number",
  "target_position",
  sql<OpenTarget["type"]>`target_type`.as("target_type"),
  sql<OccurrenceRecord>`occurrence`.as("occurrence"),
  sql<DeliveryStatus>`status`.as("status"),
  "attempts",
  "created_at",
  "last_attempt_at",
  "next_attempt_at",
  "response_status",
  "error",
  "replay_of",
] as const;

/** Which deliveries to list. What is left out does not matter. */
export interface DeliveryFilter {
  action_number: number;
  status?: readonly DeliveryStatus[] | undefined;
}

function matching(db: Executor, orgId: string, { action_number, status }: DeliveryFilter) {
  return db
    .selectFrom("notification_deliveries")
    .where("org_id", "=", orgId)
    .where("action_number", "=", action_number)
    .$if(status !== undefined, (query) => query.where("status", "in", status ?? []));
}

/** One page of an action's deliveries, newest first. */
export function listDeliveries(
  db: Executor,
  orgId: string,
  filter: DeliveryFilter,
  page: { limit: number; offset: number },
): Promise<DeliveryRow[]> {
  return matching(db, orgId, filter)
    .select(shown)
    .orderBy("id", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

export async function countDeliveries(db: Executor, orgId: string, filter: DeliveryFilter): Promise<number> {
  const { count } = await matching(db, orgId, filter)
    .select(sql<number>`count(*)`.as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** One delivery of an action. */
export function findDelivery(
  db: Executor,
  orgId: string,
  key: { action_number: number; id: string },
): Promise<DeliveryRow | undefined> {
  return matching(db, orgId, { action_number: key.action_number })
    .select(shown)
    .where("id", "=", key.id)
    .executeTakeFirst();
}

/** A delivery about to be made. */
export interface Work extends Pick<
  DeliveryRow,
  "id" | "action_number" | "target_position" | "target_type" | "occurrence" | "attempts" | "created_at"
> {
  org_name: string;
  /** Of the action as it is now; null when it is gone. */
  action: { targets: OpenTarget[]; target_secrets: Buffer } | null;
  /** Of the organization's signing key. */
  key: { generation: number; rotated_at: Timestamp } | null;
}

/** A waiting delivery after this many attempts, and everything needed for the next one, in one statement. */
export async function findWork(
  db: Executor,
  orgId: string,
  job: { delivery_id: string; attempts: number },
): Promise<Work | undefined> {
  const { rows } = await sql<
    Omit<Work, "action" | "key"> & {
      targets: OpenTarget[] | null;
      target_secrets: Buffer | null;
      generation: number | null;
      rotated_at: Timestamp | null;
    }
  >`/* notification-work */
    select d.id, d.action_number, d.target_position, d.target_type, d.occurrence, d.attempts, d.created_at,
      o.name as org_name, a.targets, a.target_secrets, k.generation, k.rotated_at
    from notification_deliveries as d
    join organizations as o on o.id = d.org_id
    left join actions as a on a.org_id = d.org_id and a.number = d.action_number
    left join notification_keys as k on k.org_id = d.org_id
    where d.org_id = ${orgId} and d.id = ${job.delivery_id} and d.status = 'waiting' and d.attempts = ${job.attempts}
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { targets, target_secrets, generation, rotated_at, ...work } = row;
  return {
    ...work,
    action: targets === null || target_secrets === null ? null : { targets, target_secrets },
    key: generation === null || rotated_at === null ? null : { generation, rotated_at },
  };
}

/** What became of a delivery, or of an attempt at it. */
export interface Outcome {
  status: DeliveryStatus;
  attempts: number;
  last_attempt_at: Timestamp | null;
  next_attempt_at: Timestamp | null;
  response_status: number | null;
  error: string | null;
}

/**
 * Writes down what became of an attempt, unless somebody else has.
 * @param before the attempts made before it.
 * @returns whether it was written.
 */
export async function updateOutcome(
  tx: Tx,
  orgId: string,
  delivery: { id: string; before: number },
  outcome: Outcome,
): Promise<boolean> {
  const { last_attempt_at, next_attempt_at, ...values } = outcome;
  const { numUpdatedRows } = await tx
    .updateTable("notification_deliveries")
    .set({
      ...values,
      ...(last_attempt_at === null ? {} : { last_attempt_at: moment(last_attempt_at) }),
      next_attempt_at: momentOrNull(next_attempt_at),
    })
    .where("org_id", "=", orgId)
    .where("id", "=", delivery.id)
    .where("status", "=", "waiting")
    .where("attempts", "=", delivery.before)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deliveries of all organizations that are still to be made: each has a job, and jobs are gone when they are done. */
export async function countWaiting(db: Executor): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from graphile_worker.jobs where task_identifier = ${deliverTask}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Removes settled deliveries of all organizations queued before a moment. @returns how many. */
export async function deleteOldDeliveries(tx: Tx, before: Timestamp): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom("notification_deliveries")
    .where("status", "<>", "waiting")
    .where("created_at", "<", sql<number>`to_timestamp(${before}::float8)`)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
