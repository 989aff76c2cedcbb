import { sql } from "kysely";

import { jsonb, moment, momentOrNull } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { FlowNameOptions } from "../../domain/quality/names.ts";
import type { Timestamp } from "../../lib/clock.ts";

export type DeliveryStatus = "accepted" | "processed" | "duplicate" | "ignored" | "refused";

/** A delivery as it comes in. */
export interface NewDelivery {
  id: string;
  received_at: Timestamp;
  body: Buffer;
  body_sha256: Buffer;
  authenticated_by: "signature" | "api_key";
  reported_by_name: string;
  flow_name_options: FlowNameOptions;
  task_id: string | null;
  project_key: string | null;
  status: DeliveryStatus;
  reason: string | null;
  flow_name: string | null;
  trail_name: string | null;
  processed_at: Timestamp | null;
  replay_of: string | null;
}

/**
 * Inserts a delivery, unless it is an accepted one of an analysis that another delivery has brought already.
 * @returns whether it was inserted.
 */
export async function insertDelivery(tx: Tx, orgId: string, delivery: NewDelivery): Promise<boolean> {
  const { received_at, processed_at, flow_name_options, ...rest } = delivery;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("quality_deliveries")
    .values({
      ...rest,
      org_id: orgId,
      flow_name_options: jsonb(flow_name_options),
      received_at: moment(received_at),
      processed_at: momentOrNull(processed_at),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** A delivery as it is shown. */
export interface DeliveryRow {
  id: string;
  received_at: Timestamp;
  status: DeliveryStatus;
  reason: string | null;
  authenticated_by: "signature" | "api_key";
  reported_by_name: string;
  task_id: string | null;
  project_key: string | null;
  flow_name: string | null;
  trail_name: string | null;
  attestation_id: string | null;
  processed_at: Timestamp | null;
  replay_of: string | null;
  body_sha256: Buffer;
}

const shown = [
  "id",
  "received_at",
  sql<DeliveryStatus>`status`.as("status"),
  "reason",
  sql<DeliveryRow["authenticated_by"]>`authenticated_by`.as("authenticated_by"),
  "reported_by_name",
  "task_id",
  "project_key",
  "flow_name",
  "trail_name",
  "attestation_id",
  "processed_at",
  "replay_of",
  "body_sha256",
] as const;

/** Which deliveries to list. What is left out does not matter. */
export interface DeliveryFilter {
  status?: readonly DeliveryStatus[] | undefined;
  project_key?: string | undefined;
}

function matching(db: Executor, orgId: string, filter: DeliveryFilter) {
  return db
    .selectFrom("quality_deliveries")
    .where("org_id", "=", orgId)
    .$if(filter.status !== undefined, (query) => query.where("status", "in", filter.status ?? []))
    .$if(filter.project_key !== undefined, (query) =>
      query.where("project_key", "=", filter.project_key ?? null),
    );
}

/** One page of deliveries, newest first. */
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

/** A delivery with its body; undefined when the organization has none of this id. */
export function findDelivery(
  db: Executor,
  orgId: string,
  id: string,
): Promise<(DeliveryRow & { body: Buffer }) | undefined> {
  return db
    .selectFrom("quality_deliveries")
    .select([...shown, "body"])
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** A delivery about to be processed. */
export interface ClaimedDelivery {
  body: Buffer;
  body_sha256: Buffer;
  flow_name_options: FlowNameOptions;
  reported_by_name: string;
  org_name: string;
}

/**
 * Locks a delivery that waits to be processed until the transaction ends. Undefined when it is there no more: processed
 * already, or turned down.
 */
export async function claimDelivery(tx: Tx, orgId: string, id: string): Promise<ClaimedDelivery | undefined> {
  const row = await tx
    .selectFrom("quality_deliveries as d")
    .innerJoin("organizations as o", "o.id", "d.org_id")
    .select(["d.body", "d.body_sha256", "d.flow_name_options", "d.reported_by_name", "o.name as org_name"])
    .where("d.org_id", "=", orgId)
    .where("d.id", "=", id)
    .where("d.status", "=", "accepted")
    .forUpdate("d")
    .executeTakeFirst();
  return row && { ...row, flow_name_options: row.flow_name_options as FlowNameOptions };
}

/** How processing ended. */
export type DeliveryOutcome =
  | { status: "processed"; attestation_id: string; reason: null }
  | { status: "refused"; attestation_id: null; reason: string };

/** Writes down how a claimed delivery ended. */
export async function updateOutcome(
  tx: Tx,
  orgId: string,
  id: string,
  outcome: DeliveryOutcome & { at: Timestamp },
): Promise<void> {
  const { at, ...values } = outcome;
  await tx
    .updateTable("quality_deliveries")
    .set({ ...values, processed_at: moment(at) })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}
