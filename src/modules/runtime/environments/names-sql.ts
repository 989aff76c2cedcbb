import { type Parameter, type Sql, sql } from "../../../db/sql.ts";

/**
 * Finds the environment a name means, as `id` and `by_name`, in a `from`: the one that has it, else the one that had it last,
 * else the one archived last under it. `by_name` tells whether it is its own present name. Not a function of the database: a
 * distributed one has to see which tables a statement is about.
 * @param org the organization's id.
 * @param name may be a column of what stands before it in the `from`.
 */
export function meantEnvironment(org: Parameter | Sql, name: Parameter | Sql): Sql {
  return sql`lateral (
      select candidate.id, candidate.rank = 1 as by_name
      from (
        (select named.id, 1 as rank from environments named
         where named.org_id = ${org}::uuid and named.name = ${name}::text)
        union all
        (select former.environment_id, 2 from environment_former_names former
         where former.org_id = ${org}::uuid and former.name = ${name}::text)
        union all
        (select ended.id, 3 from environments ended
         where ended.org_id = ${org}::uuid and ended.original_name = ${name}::text and ended.archived_at is not null
         order by ended.archived_at desc limit 1)
      ) as candidate
      order by candidate.rank limit 1)`;
}
