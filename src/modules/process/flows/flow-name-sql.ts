import { type Parameter, type Sql, sql } from "../../../db/sql.ts";

/**
 * Writes the id of the flow that a name means, null when it means none: the flow that has this name, an archived one by
 * its archived name; else the one that had it before it was renamed. Archived flows have no former names.
 */
export function flowIdNamed(org: Parameter | Sql, name: Parameter | Sql): Sql {
  return sql`coalesce(
        (select named.id from flows named where named.org_id = ${org} and named.name = ${name}),
        (select former.flow_id from flow_former_names former
          where former.org_id = ${org} and former.name = ${name}))`;
}
