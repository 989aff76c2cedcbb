import { type Sql, sql } from "../../../db/sql.ts";

/**
 * Selects what verdicts of trails say of names of artifacts, as `(trail_id, name, said)`. Each verdict is taken apart once, however many of its
 * names are asked for: looking a name up in it reads all of it. To be materialized.
 * @param asked selects trails and names of artifacts, as `(trail_id, name)`.
 */
export function saidOfNames(org: Sql, asked: Sql): Sql {
  return sql`
    with asked_names (trail_id, name) as materialized (${asked})
    select t.trail_id, said.name, said.said
    from (select distinct trail_id from asked_names) t
    cross join lateral (
      select status from trail_compliance where org_id = ${org} and trail_id = t.trail_id limit 1) v
    cross join lateral json_each(v.status -> 'artifacts_statuses') as said (name, said)
    where (t.trail_id, said.name) in (select trail_id, name from asked_names)`;
}
