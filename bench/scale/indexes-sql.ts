import type pg from "pg";

/** What has to be dropped before a table is filled, and how to make it again. */
export interface IndexPlan {
  table: string;
  drop: string;
  make: string;
}

/** Reads the indexes of tables with the constraints that they stand for: first those that are made first. */
export async function planIndexes(client: pg.ClientBase, tables: readonly string[]): Promise<IndexPlan[]> {
  const { rows } = await client.query<IndexPlan>(
    `select i.indrelid::regclass::text as table,
       case when c.oid is null then format('drop index if exists %s', i.indexrelid::regclass)
         else format('alter table %s drop constraint if exists %I', i.indrelid::regclass, c.conname) end as drop,
       case when c.oid is null then pg_get_indexdef(i.indexrelid)
         else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
       end as make
     from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
     where i.indrelid = any($1::regclass[])
     order by i.indrelid::regclass::text, c.contype is not null, i.indexrelid`,
    [tables],
  );
  return rows;
}
