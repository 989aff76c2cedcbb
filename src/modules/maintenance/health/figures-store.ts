import type { Executor } from "../../../db/connect.ts";
import { integer, text } from "../../../db/row.ts";
import { moment, query } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** Lists the bytes of each table with its indexes, those of partitions with the table they are parts of. */
export async function listTableSizes(db: Executor): Promise<[table: string, bytes: number][]> {
  const rows = await db.all(query("table-sizes", { name: text, bytes: integer })`
    select coalesce(root.relname, c.relname)::text as name, sum(pg_total_relation_size(c.oid))::bigint as bytes
    from pg_class c left join pg_class root on root.oid = pg_partition_root(c.oid)
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    group by 1 order by 1`);
  return rows.map(({ name, bytes }) => [name, bytes]);
}

/** Counts the keys that work now and will not in so many days, for each of these numbers of days. */
export async function countExpiringKeys(
  db: Executor,
  now: Timestamp,
  days: readonly number[],
): Promise<[days: string, count: number][]> {
  const rows = await db.all(query("expiring-keys", { days: integer, count: integer })`
    select d.days, count(k.id) as count
    from unnest(${days}::integer[]) as d (days)
    left join api_keys k on k.revoked_at is null and k.expires_at > ${moment(now)}
      and k.expires_at <= ${moment(now)} + d.days * interval '1 day'
    group by d.days order by d.days`);
  return rows.map((row) => [String(row.days), row.count]);
}
