import type { Executor } from "../../../db/connect.ts";
import { integer, type RowOf, text } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";

const size = { name: text, rows: integer, bytes: integer };

/** Reads how many rows tables have, about, and the bytes they take with their indexes. Partitions count as parts of theirs. */
export function readTableSizes(db: Executor, names: readonly string[]): Promise<RowOf<typeof size>[]> {
  return db.all(query(size)`
    select c.relname as name, greatest(0, sum(p.reltuples))::bigint as rows,
      sum(pg_total_relation_size(p.oid))::bigint as bytes
    from pg_class c join pg_class p on p.oid = c.oid and c.relkind = 'r'
      or c.relkind = 'p' and p.oid in (select relid from pg_partition_tree(c.oid) where isleaf)
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname = any(${names}::text[])
    group by c.relname order by c.relname`);
}
