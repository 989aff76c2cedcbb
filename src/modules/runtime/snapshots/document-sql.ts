import { type Sql, sql } from "../../../db/sql.ts";

/** SQL for the document of the version `a`, a row of `snapshot_artifacts`: its own, or that of the version which it repeats. */
export const documentOfVersion: Sql = sql`coalesce(a.doc, (
  select repeated.doc from snapshot_artifacts repeated
  where repeated.org_id = a.org_id and repeated.environment_id = a.environment_id and repeated.id = a.repeats))`;
