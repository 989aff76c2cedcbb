import { type Parameter, type Sql, sql } from "../../../db/sql.ts";

/**
 * Writes SQL for the versions that run in an environment, rows of `snapshot_artifacts`: those that its latest snapshot shows and
 * that have not exited. They are found by its list, each by its key. No index says whether a version has ended, because ending one would
 * have to be written into all indexes then.
 * @param environment the id of the environment.
 */
export function versionsThatRun(org: Parameter, environment: Sql): Sql {
  return sql`(
    select version.* from environment_reports latest
    join snapshots shows on shows.org_id = ${org}::uuid and shows.environment_id = latest.environment_id
      and shows.index = latest.snapshot_count
    cross join lateral unnest(shows.artifacts) as shown (id)
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${org}::uuid and environment_id = latest.environment_id and id = shown.id limit 1) version
    where latest.org_id = ${org}::uuid and latest.environment_id = ${environment} and version.last_index is null)`;
}
