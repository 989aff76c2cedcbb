import { raw, type Sql, sql } from "../../../db/sql.ts";

/** Bytes of what may be large in the repo `r`, or in a former version of it. */
export const repoBytes = raw(
  ["name", "url", "description", "vcs_instance", "namespace_path::text", "additional_info::text"]
    .map((column) => `coalesce(octet_length(r.${column}), 0)`)
    .join(" + "),
);

/** Selects the bytes of what may be large in the repo with this id; none without one. */
export function bytesOfRepo(orgId: string, id: Sql): Sql {
  return sql`coalesce((select ${repoBytes} from repos r where r.org_id = ${orgId} and r.id = ${id}), 0)`;
}
