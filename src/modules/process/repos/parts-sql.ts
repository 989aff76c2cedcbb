import { join, type Parameter, raw, type Sql, sql } from "../../../db/sql.ts";

/** Parts of what identifies repos; parts that are undefined do not matter. `id` is the internal one; null fits none. */
export interface RepoParts {
  id: string | null | undefined;
  repo_id: string | undefined;
  name: string | undefined;
}

const partTypes = { id: "uuid", repo_id: "text", name: "text" } as const;

/**
 * Selects the ids of an organization's repos that every given part fits.
 * @returns the SQL and a name for it, which says which parts are given: each combination finds repos by another index.
 */
export function reposWith(org: Parameter, parts: RepoParts): { ids: Sql; shape: string } {
  const given = (["id", "repo_id", "name"] as const).filter((part) => parts[part] !== undefined);
  const conditions = given.map(
    (part) => sql` and ${raw(part)} = ${parts[part] ?? null}::${raw(partTypes[part])}`,
  );
  return {
    ids: sql`select id from repos where org_id = ${org}${join(conditions, "")} order by id`,
    shape: given.join("-").replace("_", "-"),
  };
}
