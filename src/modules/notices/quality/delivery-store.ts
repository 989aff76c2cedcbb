import { deliveryStatuses } from "../../../contract/quality.ts";
import type { Executor, Tx } from "../../../db/connect.ts";
import { countRows } from "../../../db/count-rows.ts";
import { bytes, json, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { empty, jsonb, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { FlowNameOptions } from "../../../domain/quality/names.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { PageSlice } from "../../../lib/paging.ts";

type DeliveryStatus = (typeof deliveryStatuses)[number];

/** A delivery as it is shown. */
const delivery = {
  id: uuid,
  received_at: timestamp,
  status: oneOf(deliveryStatuses),
  reason: nullable(text),
  authenticated_by: oneOf(["signature", "api_key"]),
  reported_by_name: text,
  task_id: nullable(text),
  project_key: nullable(text),
  flow_name: nullable(text),
  trail_name: nullable(text),
  attestation_id: nullable(uuid),
  processed_at: nullable(timestamp),
  replay_of: nullable(uuid),
  body_sha256: bytes,
};
export type DeliveryRow = RowOf<typeof delivery>;

const shown = raw(Object.keys(delivery).join(", "));

/** A delivery as it comes in. */
export interface NewDelivery extends Omit<DeliveryRow, "attestation_id"> {
  body: Buffer;
  flow_name_options: FlowNameOptions;
}

/**
 * Inserts a delivery, unless it is an accepted one of an analysis that another delivery has brought already.
 * @returns whether it was inserted.
 */
export async function insertDelivery(tx: Tx, orgId: string, given: NewDelivery): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into quality_deliveries (org_id, id, received_at, body, body_sha256, authenticated_by, reported_by_name,
      flow_name_options, task_id, project_key, status, reason, flow_name, trail_name, processed_at, replay_of)
    values (${orgId}, ${given.id}, ${moment(given.received_at)}, ${given.body}, ${given.body_sha256},
      ${given.authenticated_by}, ${given.reported_by_name}, ${jsonb(given.flow_name_options)}, ${given.task_id},
      ${given.project_key}, ${given.status}, ${given.reason}, ${given.flow_name}, ${given.trail_name},
      ${moment(given.processed_at)}, ${given.replay_of})
    on conflict do nothing`);
  return inserted > 0;
}

/** Which deliveries to list. What is left out does not matter. */
export interface DeliveryFilter {
  status?: readonly DeliveryStatus[] | undefined;
  project_key?: string | undefined;
}

/** Writes which deliveries, as it stands after `from`. */
function matching(orgId: string, { status, project_key }: DeliveryFilter): Sql {
  return sql`quality_deliveries where org_id = ${orgId}
    ${status === undefined ? empty : sql`and status = any(${status}::text[])`}
    ${project_key === undefined ? empty : sql`and project_key = ${project_key}`}`;
}

/** Lists one page of deliveries, newest first. */
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

/** Finds a delivery with its body; undefined when the organization has none of this id. */
export function findDelivery(
  db: Executor,
  orgId: string,
  id: string,
): Promise<(DeliveryRow & { body: Buffer }) | undefined> {
  return db.first(query({ ...delivery, body: bytes })`
    select ${shown}, body from quality_deliveries where org_id = ${orgId} and id = ${id}`);
}

/** A delivery about to be processed. */
const claimedDelivery = {
  body: bytes,
  flow_name_options: json<FlowNameOptions>(),
  reported_by_name: text,
  org_name: text,
};
export type ClaimedDelivery = RowOf<typeof claimedDelivery>;

/**
 * Locks a delivery that waits to be processed until the transaction ends. Undefined when it is there no more: processed
 * already, or turned down.
 */
export function claimDelivery(tx: Tx, orgId: string, id: string): Promise<ClaimedDelivery | undefined> {
  return tx.first(query(claimedDelivery)`
    select d.body, d.flow_name_options, d.reported_by_name, o.name as org_name
    from quality_deliveries as d join organizations as o on o.id = d.org_id
    where d.org_id = ${orgId} and d.id = ${id} and d.status = 'accepted'
    for update of d`);
}

/** How processing ended. */
type DeliveryOutcome =
  | { status: "processed"; attestation_id: string; reason: null }
  | { status: "refused"; attestation_id: null; reason: string };

/** Writes down how a claimed delivery ended. */
export async function updateOutcome(
  tx: Tx,
  orgId: string,
  id: string,
  { status, attestation_id, reason, at }: DeliveryOutcome & { at: Timestamp },
): Promise<void> {
  await tx.run(sql`
    update quality_deliveries
    set status = ${status}, attestation_id = ${attestation_id}, reason = ${reason}, processed_at = ${moment(at)}
    where org_id = ${orgId} and id = ${id}`);
}
