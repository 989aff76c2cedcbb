import { type Parameter, type Sql, sql } from "../../../db/sql.ts";

/**
 * SQL for the document of the version `a`, a row of `snapshot_artifacts`: its own, or that of the version which it repeats.
 * Documents stand apart; those of versions from before `0064` are in their rows.
 */
export function documentOfVersion(org: Parameter | Sql): Sql {
  return sql`coalesce(a.doc, (
  select d.doc from snapshot_documents d
  where d.org_id = ${org}::uuid and d.environment_id = a.environment_id and d.id = coalesce(a.repeats, a.id)), (
  select repeated.doc from snapshot_artifacts repeated
  where repeated.org_id = ${org}::uuid and repeated.environment_id = a.environment_id and repeated.id = a.repeats))`;
}
