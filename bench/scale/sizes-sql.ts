import type pg from "pg";

/** What a table takes, in bytes. Partitions count to the table they are of. */
export interface TableSize {
  table: string;
  heap: number;
  indexes: number;
}

/** Reads what each table takes on disk, the largest first. */
export async function readSizes(client: pg.ClientBase): Promise<TableSize[]> {
  const { rows } = await client.query<TableSize>(
    `select coalesce(p.relname, c.relname) as table, sum(pg_table_size(c.oid))::float8 as heap,
       sum(pg_indexes_size(c.oid))::float8 as indexes
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
     group by 1 order by sum(pg_total_relation_size(c.oid)) desc`,
  );
  return rows;
}
