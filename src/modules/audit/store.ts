import { type ExpressionBuilder, sql } from "kysely";

import { instant } from "../../db/columns.ts";
import type { DB } from "../../db/schema.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import { later } from "../../db/transaction.ts";
import type { Actor } from "../../domain/principal.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** What a write was done to. */
export interface AuditedResource {
  resource_type: string;
  /** Its name, number or id, as its URL has it. */
  resource: string;
}

export interface AuditEntry extends AuditedResource {
  actor: Actor;
}

/**
 * Appends to the organization's audit log, in this order and without gaps. The organization's counter stays locked
 * until the transaction ends, which is what makes the order total: append last.
 */
export function insertAuditEntries(tx: Tx, orgId: string, entries: AuditEntry[], at: Timestamp): void {
  if (entries.length === 0) return;
  const column = <T>(read: (entry: AuditEntry) => T): T[] => entries.map(read);
  later(
    tx,
    sql`
    /* insert-audit-entries */ with counter as (
      update org_counters set audit_seq = audit_seq + ${entries.length} where org_id = ${orgId} returning audit_seq
    )
    insert into audit_log (org_id, seq, occurred_at, actor_kind, actor_id, actor_name, api_key_id, action,
      resource_type, resource, request_id, request_digest)
    select ${orgId}, counter.audit_seq - ${entries.length} + entry.position, to_timestamp(${at}::float8),
      actor_kind, actor_id, actor_name, api_key_id, action, resource_type, resource, request_id, request_digest
    from counter, unnest(
      ${column((e) => e.actor.kind)}::text[], ${column((e) => e.actor.id)}::uuid[],
      ${column((e) => e.actor.name)}::text[], ${column((e) => e.actor.api_key_id)}::uuid[],
      ${column((e) => e.actor.action)}::text[], ${column((e) => e.resource_type)}::text[],
      ${column((e) => e.resource)}::text[], ${column((e) => e.actor.request_id)}::text[],
      ${column((e) => e.actor.request_digest)}::bytea[]
    ) with ordinality as entry (actor_kind, actor_id, actor_name, api_key_id, action, resource_type, resource,
      request_id, request_digest, position)`,
  );
}

/** Which entries: exact matches, and inclusive bounds in Unix seconds. */
export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  resource_type?: string | undefined;
  resource?: string | undefined;
  from_timestamp?: number | undefined;
  to_timestamp?: number | undefined;
}

export interface AuditPage {
  page: number;
  per_page: number;
  sort_direction: "asc" | "desc";
}

export interface AuditRow {
  seq: number;
  occurred_at: Timestamp;
  actor: string;
  actor_kind: Actor["kind"];
  actor_id: string | null;
  api_key_id: string | null;
  action: string;
  resource_type: string;
  resource: string;
  request_id: string;
  request_digest: string | null;
}

function isUnfiltered(filter: AuditFilter): boolean {
  const { actor, action, resource_type, resource, from_timestamp, to_timestamp } = filter;
  return [actor, action, resource_type, resource, from_timestamp, to_timestamp].every(
    (value) => value === undefined,
  );
}

function matching(orgId: string, filter: AuditFilter) {
  return (log: ExpressionBuilder<DB, "audit_log">) => {
    const { actor, action, resource_type, resource, from_timestamp, to_timestamp } = filter;
    return log.and([
      log("org_id", "=", orgId),
      ...(actor === undefined ? [] : [log("actor_name", "=", actor)]),
      ...(action === undefined ? [] : [log("action", "=", action)]),
      ...(resource_type === undefined ? [] : [log("resource_type", "=", resource_type)]),
      ...(resource === undefined ? [] : [log("resource", "=", resource)]),
      ...(from_timestamp === undefined ? [] : [log("occurred_at", ">=", instant(from_timestamp))]),
      ...(to_timestamp === undefined ? [] : [log("occurred_at", "<=", instant(to_timestamp))]),
    ]);
  };
}

/** How many entries match. Without a filter that is the counter they are numbered by: nothing is counted. */
export async function countAuditEntries(db: Executor, orgId: string, filter: AuditFilter): Promise<number> {
  if (isUnfiltered(filter)) {
    const counter = await db
      .selectFrom("org_counters")
      .select("audit_seq")
      .where("org_id", "=", orgId)
      .executeTakeFirst();
    return counter?.audit_seq ?? 0;
  }
  const { total } = await db
    .selectFrom("audit_log")
    .select(sql<number>`count(*)`.as("total"))
    .where(matching(orgId, filter))
    .executeTakeFirstOrThrow();
  return total;
}

/**
 * One page of the entries that match, `total` of them in all. Without a filter the numbers on the page are known
 * beforehand, so that the last page costs what the first one does.
 */
export async function listAuditEntries(
  db: Executor,
  orgId: string,
  filter: AuditFilter,
  page: AuditPage & { total: number },
): Promise<AuditRow[]> {
  const { per_page, sort_direction, total } = page;
  const skipped = (page.page - 1) * per_page;
  if (skipped >= total) return [];
  const entries = db
    .selectFrom("audit_log")
    .select([
      "seq",
      "occurred_at",
      "actor_name as actor",
      sql<Actor["kind"]>`actor_kind`.as("actor_kind"),
      sql<string | null>`wire_id(actor_id)`.as("actor_id"),
      sql<string | null>`wire_id(api_key_id)`.as("api_key_id"),
      "action",
      "resource_type",
      "resource",
      "request_id",
      sql<string | null>`encode(request_digest, 'hex')`.as("request_digest"),
    ])
    .orderBy("seq", sort_direction)
    .limit(per_page);
  if (!isUnfiltered(filter)) return entries.where(matching(orgId, filter)).offset(skipped).execute();
  const inOrganization = entries.where("org_id", "=", orgId);
  return sort_direction === "asc"
    ? inOrganization.where("seq", ">", skipped).execute()
    : inOrganization.where("seq", "<=", total - skipped).execute();
}
