import type { Database } from "../../src/db/connect.ts";

/** Lists tables with rows of organizations of which PostgreSQL has neither been told nor found out anything: none before PostgreSQL 18, which cannot be told. */
export async function untoldTables({ pool }: Database): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and current_setting('server_version_num')::integer >= 180000
       and not exists (select from pg_stats s where s.schemaname = 'public' and s.tablename = c.relname and s.attname = 'org_id')
     order by 1`,
  );
  return rows.map(({ name }) => name);
}
