import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, integer, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { moment, query, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

const length = { org_id: uuid, audit_seq: integer, addresses_erased_to: integer };

/** How many entries a log has, and up to which one their addresses were erased. */
export type LogLength = RowOf<typeof length>;

/** Lists the logs that have entries, of all organizations and of the instance. */
export function listLogLengths(db: Executor): Promise<LogLength[]> {
  return db.all(query("audit-lengths", length)`
    select org_id, audit_seq, addresses_erased_to from org_counters where audit_seq > 0`);
}

const cursor = { org_id: uuid, seq: integer };

/** Lists how far each log was sent to a target; those that are missing were not yet. */
export function listCursors(db: Executor, target: string): Promise<RowOf<typeof cursor>[]> {
  return db.all(query("audit-cursors", cursor)`
    select org_id, seq from audit_cursors where target = ${target}`);
}

/** Notes how far a log was sent to a target. It never moves back. */
export async function upsertCursor(tx: Tx, orgId: string, target: string, seq: number): Promise<void> {
  await tx.run(sql`insert into audit_cursors as known (target, org_id, seq) values (${target}, ${orgId}, ${seq})
    on conflict (target, org_id) do update set seq = greatest(known.seq, excluded.seq)`);
}

/** Notes that a server is to send to targets, whose ids differ: once an hour is enough. */
export async function upsertTargets(
  db: Executor,
  targets: readonly { id: string; name: string }[],
  now: Timestamp,
): Promise<void> {
  await db.run(sql`
    insert into audit_targets as known (id, name, named_at)
    select id, name, ${moment(now)} from unnest(${targets.map(({ id }) => id)}::text[], ${targets.map(({ name }) => name)}::text[]) as target (id, name)
    on conflict (id) do update set name = excluded.name, named_at = excluded.named_at
    where known.named_at < excluded.named_at - interval '1 hour'`);
}

/** Finds the name of an organization; undefined for the log of the instance. */
export async function findLogName(db: Executor, orgId: string): Promise<string | undefined> {
  const found = await db.first(query("audit-log-name", { name: text })`
    select name from organizations where id = ${orgId}`);
  return found?.name;
}

/** Finds when the first entry after one was recorded. */
export async function findTimeAfter(
  db: Executor,
  orgId: string,
  seq: number,
): Promise<Timestamp | undefined> {
  const found = await db.first(query("audit-time-after", { occurred_at: timestamp })`
    select occurred_at from audit_log where org_id = ${orgId} and seq > ${seq} order by seq limit 1`);
  return found?.occurred_at;
}

/** Says whether the rows of the log are being copied, to a table that takes its place. */
export async function isBeingCopied(tx: Tx): Promise<boolean> {
  const { is_copied } = await tx.one(query({ is_copied: boolean })`
    select exists (select from partition_copies where table_name = 'audit_log' and not is_switched) as is_copied`);
  return is_copied;
}

/** Entries whose addresses are erased in one transaction. */
const erasedTogether = 1_000;

/** Finds the last of the next entries after one that were recorded before a moment; undefined when there are no more that old. */
export async function findLastBefore(
  tx: Tx,
  orgId: string,
  { after, before }: { after: number; before: Timestamp },
): Promise<number | undefined> {
  const { last } = await tx.one(query({ last: nullable(integer) })`
    select coalesce(min(seq) filter (where occurred_at >= ${moment(before)}) - 1, max(seq)) as last
    from (
      select seq, occurred_at from audit_log where org_id = ${orgId} and seq > ${after} order by seq limit ${erasedTogether}
    ) next`);
  return last === null || last <= after ? undefined : last;
}

/** Erases the addresses of entries after one up to another. */
export async function eraseAddresses(
  tx: Tx,
  orgId: string,
  { after, last }: { after: number; last: number },
): Promise<void> {
  await tx.run(sql`update audit_log set address = null
    where org_id = ${orgId} and seq > ${after} and seq <= ${last} and address is not null`);
  await tx.run(sql`update org_counters set addresses_erased_to = ${last} where org_id = ${orgId}`);
}
