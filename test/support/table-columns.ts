import type { TestApp } from "./app.ts";

/** Lists the columns of a table that rows are copied with, for SQL, but for those that a copy has of its own. */
export async function columnsBut(app: TestApp, table: string, own: readonly string[]): Promise<string> {
  const { rows } = await app.deps.db.pool.query<{ names: string }>(
    `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attname <> all ($2)`,
    [table, own],
  );
  return rows[0]!.names;
}
