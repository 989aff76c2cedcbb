import { raw, type Sql, sql } from "./sql.ts";

/** Joins the row of an id to what stands before it in a `from`: looked up, whatever the planner expects (decision 0110). */
export function rowById(table: string, alias: string, org: Sql, id: string): Sql {
  return sql`cross join lateral (
      select * from ${raw(table)} where org_id = ${org} and id = ${raw(id)} limit 1) ${raw(alias)}`;
}
