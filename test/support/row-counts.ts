import type pg from "pg";

/** Counts the rows of each table, the program's and those of its jobs. @returns counts by the table's name. */
export async function rowCounts(pool: pg.Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; count: string }>(`
    select table_name as name, (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I.%I',
      table_schema, table_name), false, true, '')))[1]::text as count
    from information_schema.tables where table_schema in ('public', 'graphile_worker') and table_type = 'BASE TABLE'`);
  return Object.fromEntries(rows.map(({ name, count }) => [name, Number(count)]));
}
