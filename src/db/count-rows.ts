import type { Executor } from "./executor.ts";
import { integer } from "./row.ts";
import { query, type Sql } from "./sql.ts";

/**
 * Counts rows.
 * @param rows which ones, as it stands after `from`: a table with or without others, and conditions.
 */
export async function countRows(db: Executor, rows: Sql): Promise<number> {
  const { count } = await db.one(query({ count: integer })`select count(*) as count from ${rows}`);
  return count;
}
