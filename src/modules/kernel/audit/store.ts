import type { Executor, Tx } from "../../../db/connect.ts";
import { countRows } from "../../../db/count-rows.ts";
import { integer, json, nullable, oneOf, type RowOf, text, timestamp } from "../../../db/row.ts";
import { command, empty, join, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { type Actor, actorKinds } from "../../../domain/principal.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";

/** What a write was done to. */
export interface AuditedResource {
  resource_type: string;
  /** Its name, number or id, as its URL has it. */
  resource: string;
}

/** What else an entry says: names and numbers, never secrets. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditEntry extends AuditedResource {
  actor: Actor;
  details?: AuditDetails | undefined;
}

/** Makes the counter that entries of an organization are numbered by, unless it is there. Organizations bring theirs along. */
export function insertAuditCounter(tx: Tx, orgId: string): void {
  tx.send(command("insert-audit-counter")`
    insert into org_counters (org_id) values (${orgId}) on conflict do nothing`);
}

/**
 * Appends to the organization's audit log, in this order and without gaps. The organization's counter stays locked
 * until the transaction ends, which is what makes the order total: append last.
 */
export function insertAuditEntries(
  tx: Tx,
  orgId: string,
  entries: readonly AuditEntry[],
  at: Timestamp,
): void {
  if (entries.length === 0) return;
  tx.send(command("insert-audit-entries")`
    select append_to_audit_log(${orgId}, ${at}, ${auditJson(entries)}::json)`);
}

/** Writes entries as the database's `append_to_audit_log` takes them. */
export function auditJson(entries: readonly AuditEntry[]): string {
  return JSON.stringify(
    entries.map(({ actor, resource_type, resource, details }) => ({
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name: actor.name,
      api_key_id: actor.api_key_id,
      action: actor.action,
      resource_type,
      resource,
      request_id: actor.request_id,
      request_digest: actor.request_digest?.toString("hex") ?? null,
      address: actor.address,
      details,
    })),
  );
}

/** Which entries are wanted: exact matches, and inclusive bounds in Unix seconds. */
export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  resource_type?: string | undefined;
  resource?: string | undefined;
  from_timestamp?: number | undefined;
  to_timestamp?: number | undefined;
}

/** Which page of them, in which order. */
export interface AuditPage extends PageNumbers {
  sort_direction: "asc" | "desc";
}

const entry = {
  seq: integer,
  occurred_at: timestamp,
  actor: text,
  actor_kind: oneOf(actorKinds),
  /** Ids as the wire has them. */
  actor_id: nullable(text),
  api_key_id: nullable(text),
  action: text,
  resource_type: text,
  resource: text,
  request_id: text,
  /** Hexadecimal. */
  request_digest: nullable(text),
  address: nullable(text),
  details: nullable(json<AuditDetails>()),
};

/** An entry of the audit log as it is shown. */
export type AuditRow = RowOf<typeof entry>;

const entryColumns = raw(`seq, occurred_at, actor_name as actor, actor_kind, wire_id(actor_id) as actor_id,
  wire_id(api_key_id) as api_key_id, action, resource_type, resource, request_id,
  encode(request_digest, 'hex') as request_digest, address, details`);

/** Writes a filter as conditions, none for an empty one. What an index has is a number for the value (`value_number`). */
function conditions(orgId: string, filter: AuditFilter): Sql[] {
  const { actor, action, resource_type, resource, from_timestamp, to_timestamp } = filter;
  const isNumbered = (kind: Sql, column: Sql, value: string): Sql =>
    sql`${column} = ${value} and ${kind}(org_id, ${column}) = ${kind}(${orgId}, ${value})`;
  const [number, short] = [raw("value_number"), raw("short_value_number")];
  return [
    ...(actor === undefined ? [] : [isNumbered(number, raw("actor_name"), actor)]),
    ...(action === undefined ? [] : [isNumbered(number, raw("action"), action)]),
    ...(resource_type === undefined ? [] : [isNumbered(short, raw("resource_type"), resource_type)]),
    ...(resource === undefined ? [] : [isNumbered(short, raw("resource"), resource)]),
    ...(from_timestamp === undefined ? [] : [sql`occurred_at >= ${moment(from_timestamp)}`]),
    ...(to_timestamp === undefined ? [] : [sql`occurred_at <= ${moment(to_timestamp)}`]),
  ];
}

/** Reads the number of the last entry, from the counter they are numbered by. */
export async function readLastNumber(db: Executor, orgId: string): Promise<number> {
  const counter = await db.first(query({ audit_seq: integer })`
    select audit_seq from org_counters where org_id = ${orgId}`);
  return counter?.audit_seq ?? 0;
}

/** How many entries match. */
export interface AuditExtent {
  total: number;
  /** Number of the first one, where they are numbered from there on without gaps. */
  first: number | undefined;
}

/** Entries among which gaps are looked for, from the first one that is left on. */
const gapsWithin = 1_000;

/**
 * Looks whether numbers are missing behind the first entry that is left: about the turn of a month entries are numbered in
 * another order than that of their moments, so that removing the month takes some out.
 */
async function hasGaps(db: Executor, orgId: string): Promise<boolean> {
  const { count, span } = await db.one(query({ count: integer, span: integer })`
    select count(*) as count, coalesce(max(seq) - min(seq) + 1, 0) as span
    from (select seq from audit_log where org_id = ${orgId} order by seq limit ${gapsWithin}) as earliest`);
  return count !== span;
}

/** Finds how many entries match. Without a filter that follows from the first and the last number: nothing is counted. */
export async function measureAuditLog(
  db: Executor,
  orgId: string,
  filter: AuditFilter,
): Promise<AuditExtent> {
  const wanted = conditions(orgId, filter);
  if (wanted.length === 0) {
    const ends = await db.first(query({ last: integer, first: nullable(integer) })`
      select audit_seq as last, (select seq from audit_log where org_id = ${orgId} order by seq limit 1) as first
      from org_counters where org_id = ${orgId}`);
    const first = ends?.first ?? undefined;
    if (ends === undefined || first === undefined) return { total: 0, first: undefined };
    // Months are removed from the beginning.
    if (first === 1 || !(await hasGaps(db, orgId))) return { total: ends.last - first + 1, first };
  }
  const where = join([sql`org_id = ${orgId}`, ...wanted], " and ");
  return { total: await countRows(db, sql`audit_log where ${where}`), first: undefined };
}

/**
 * Lists one page of the entries that match. Where their numbers follow each other those on the page are known beforehand, so that
 * the last page costs what the first one does.
 */
export async function listAuditEntries(
  db: Executor,
  orgId: string,
  filter: AuditFilter,
  page: AuditPage & AuditExtent,
): Promise<AuditRow[]> {
  const { sort_direction, total, first } = page;
  const { limit, offset } = pageSlice(page);
  if (offset >= total) return [];
  const isNumbered = first !== undefined;
  const onPage = isNumbered
    ? [sort_direction === "asc" ? sql`seq >= ${first + offset}` : sql`seq < ${first + total - offset}`]
    : conditions(orgId, filter);
  return db.all(query(entry)`
    select ${entryColumns} from audit_log
    where ${join([sql`org_id = ${orgId}`, ...onPage], " and ")}
    order by seq ${raw(sort_direction)}
    limit ${limit} ${isNumbered ? empty : sql`offset ${offset}`}`);
}

/**
 * Lists the first entries that match, or those after one: all pages together look at each entry once, whatever the filter.
 * @param after its number; undefined for the first page.
 */
export function listAuditEntriesAfter(
  db: Executor,
  orgId: string,
  filter: AuditFilter,
  page: { after: number | undefined; limit: number; sort_direction: "asc" | "desc" },
): Promise<AuditRow[]> {
  const { after, limit, sort_direction } = page;
  const later = raw(sort_direction === "asc" ? ">" : "<");
  const place = after === undefined ? [] : [sql`seq ${later} ${after}::bigint`];
  return db.all(query(entry)`
    select ${entryColumns} from audit_log
    where ${join([sql`org_id = ${orgId}`, ...place, ...conditions(orgId, filter)], " and ")}
    order by seq ${raw(sort_direction)} limit ${limit}`);
}
