import { notificationStatuses } from "../../../contract/notifications.ts";
import type { Executor, Tx } from "../../../db/connect.ts";
import { countRows } from "../../../db/count-rows.ts";
import { bytes, integer, json, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { empty, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { type OpenTarget, targetTypes } from "../../../domain/actions.ts";
import type { OccurrenceRecord } from "../../../domain/notifications/occurrence.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { deliverTask } from "./store.ts";

type DeliveryStatus = (typeof notificationStatuses)[number];

/** A delivery as it is shown. */
const delivery = {
  id: uuid,
  action_number: integer,
  target_position: integer,
  target_type: oneOf(targetTypes),
  occurrence: json<OccurrenceRecord>(),
  status: oneOf(notificationStatuses),
  attempts: integer,
  created_at: timestamp,
  last_attempt_at: nullable(timestamp),
  next_attempt_at: nullable(timestamp),
  response_status: nullable(integer),
  error: nullable(text),
  replay_of: nullable(uuid),
};
export type DeliveryRow = RowOf<typeof delivery>;

const shown = raw(Object.keys(delivery).join(", "));

/** Which deliveries to list. What is left out does not matter. */
export interface DeliveryFilter {
  action_number: number;
  status?: readonly DeliveryStatus[] | undefined;
}

/** Writes which deliveries, as it stands after `from`. */
function matching(orgId: string, { action_number, status }: DeliveryFilter): Sql {
  const withStatus = status === undefined ? empty : sql`and status = any(${status}::text[])`;
  return sql`notification_deliveries
    where org_id = ${orgId} and action_number = ${action_number} ${withStatus}`;
}

/** Lists one page of an action's deliveries, newest first. */
export function listDeliveries(
  db: Executor,
  orgId: string,
  filter: DeliveryFilter,
  page: PageSlice,
): Promise<DeliveryRow[]> {
  return db.all(query(delivery)`
    select ${shown} from ${matching(orgId, filter)} order by id desc limit ${page.limit} offset ${page.offset}`);
}

/** Counts the deliveries that a filter lets through. */
export function countDeliveries(db: Executor, orgId: string, filter: DeliveryFilter): Promise<number> {
  return countRows(db, matching(orgId, filter));
}

/** Finds one delivery of an action. */
export function findDelivery(
  db: Executor,
  orgId: string,
  { action_number, id }: { action_number: number; id: string },
): Promise<DeliveryRow | undefined> {
  return db.first(query(delivery)`select ${shown} from ${matching(orgId, { action_number })} and id = ${id}`);
}

/** A delivery about to be made, with everything needed for it. */
const dueDelivery = {
  id: uuid,
  action_number: integer,
  target_position: integer,
  target_type: oneOf(targetTypes),
  occurrence: json<OccurrenceRecord>(),
  attempts: integer,
  created_at: timestamp,
  org_name: text,
  /** Of the action as it is now, as are its secrets; null when it is gone. */
  targets: nullable(json<OpenTarget[]>()),
  last_modified_at: nullable(timestamp),
  /** Null also when they were forgotten. */
  target_secrets: nullable(bytes),
  /** Of the organization's signing key; null when it was never replaced. */
  generation: nullable(integer),
  rotated_at: nullable(timestamp),
};

type DueRow = RowOf<typeof dueDelivery>;

/** A delivery about to be made. */
export interface DueDelivery extends Omit<
  DueRow,
  "targets" | "target_secrets" | "last_modified_at" | "generation" | "rotated_at"
> {
  /** As it is now; null when it is gone. */
  action: { targets: OpenTarget[]; target_secrets: Buffer | null; last_modified_at: Timestamp } | null;
  /** Of the organization's signing key. */
  key: { generation: number; rotated_at: Timestamp } | null;
}

/** Finds a waiting delivery after this many attempts, and everything needed for the next one, in one statement. */
export async function findDueDelivery(
  db: Executor,
  orgId: string,
  job: { delivery_id: string; attempts: number },
): Promise<DueDelivery | undefined> {
  const row = await db.first(query("notification-work", dueDelivery)`
    select d.id, d.action_number, d.target_position, d.target_type, d.occurrence, d.attempts, d.created_at,
      o.name as org_name, a.targets, a.target_secrets, a.last_modified_at, k.generation, k.rotated_at
    from notification_deliveries as d
    join organizations as o on o.id = d.org_id
    left join actions as a on a.org_id = d.org_id and a.number = d.action_number
    left join notification_keys as k on k.org_id = d.org_id
    where d.org_id = ${orgId} and d.id = ${job.delivery_id} and d.status = 'waiting' and d.attempts = ${job.attempts}`);
  if (row === undefined) return undefined;
  const { targets, target_secrets, last_modified_at, generation, rotated_at, ...found } = row;
  return {
    ...found,
    action:
      targets === null || last_modified_at === null ? null : { targets, target_secrets, last_modified_at },
    key: generation === null || rotated_at === null ? null : { generation, rotated_at },
  };
}

/** What became of a delivery, or of an attempt at it. */
export interface Outcome {
  status: DeliveryStatus;
  attempts: number;
  /** Null when none was made. */
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
  { id, before }: { id: string; before: number },
  { status, attempts, last_attempt_at, next_attempt_at, response_status, error }: Outcome,
): Promise<boolean> {
  const attempted = last_attempt_at === null ? empty : sql`last_attempt_at = ${moment(last_attempt_at)},`;
  const changed = await tx.run(sql`
    update notification_deliveries
    set status = ${status}, attempts = ${attempts}, ${attempted} next_attempt_at = ${moment(next_attempt_at)},
      response_status = ${response_status}, error = ${error}
    where org_id = ${orgId} and id = ${id} and status = 'waiting' and attempts = ${before}`);
  return changed > 0;
}

/**
 * Counts the deliveries of all organizations that are still to be made: each has a job, and jobs are gone when they are
 * done.
 */
export function countWaiting(db: Executor): Promise<number> {
  return countRows(db, sql`graphile_worker.jobs where task_identifier = ${deliverTask}`);
}

/** Lists all organizations. */
export async function listOrganizations(db: Executor): Promise<string[]> {
  const rows = await db.all(query({ id: uuid })`select id from organizations order by id`);
  return rows.map(({ id }) => id);
}

/** Deliveries that are looked at in one transaction. */
const lookedAtTogether = 1_000;

const deletion = {
  removed: integer,
  /** The last one that was looked at; null when those after it are younger, or there are none. */
  last: nullable(uuid),
};

/**
 * Deletes settled deliveries that were queued before a moment, of some that come after one. Ids are in the order of time.
 */
export function deleteOldDeliveries(
  tx: Tx,
  orgId: string,
  { after, before }: { after: string; before: Timestamp },
): Promise<RowOf<typeof deletion>> {
  return tx.one(query(deletion)`
    with looked as materialized (
      select id, status, created_at < ${moment(before)} as is_old from notification_deliveries
      where org_id = ${orgId} and id > ${after} order by id limit ${lookedAtTogether}
    ), gone as (
      delete from notification_deliveries
      where org_id = ${orgId} and id in (select id from looked where is_old and status <> 'waiting')
      returning id
    )
    select (select count(*) from gone) as removed,
      (select id from (select id, is_old from looked order by id offset ${lookedAtTogether - 1}) l where is_old) as last`);
}
