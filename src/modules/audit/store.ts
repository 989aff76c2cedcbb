import { sql } from "kysely";

import type { Tx } from "../../db/connect.ts";
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
export async function insertAuditEntries(
  tx: Tx,
  orgId: string,
  entries: AuditEntry[],
  at: Timestamp,
): Promise<void> {
  if (entries.length === 0) return;
  const column = <T>(read: (entry: AuditEntry) => T): T[] => entries.map(read);
  await sql`
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
      request_id, request_digest, position)`.execute(tx);
}
