import { raw, type Sql, sql } from "../../../db/sql.ts";
import { isSilent, silentFrom } from "./silent-sql.ts";

/**
 * Writes what the list of environments tells of each where that is asked for: its id, where it stands in the tree of spaces, whether its
 * reporter is silent, how many snapshots there are and what the latest one counted. Two rows are looked up for each.
 * @param alias of the `environments` row.
 * @param org the organization's id.
 * @param at the moment that silence is told for, in Unix seconds.
 */
export function summaryJson(alias: string, org: Sql, at: number): Sql {
  const e = raw(alias);
  const silent = isSilent(alias, at);
  const latest = sql`(select ',"snapshot_count":' || r.snapshot_count || ',"artifact_compliance_count":' || s.artifact_compliance_count
    from environment_reports r
    join snapshots s on s.org_id = r.org_id and s.environment_id = r.environment_id and s.index = r.snapshot_count
    where r.org_id = ${org} and r.environment_id = ${e}.id)`;
  return sql`',"id":"' || wire_id(${e}.id) || '","space_id":' || coalesce('"' || wire_id(${e}.space_id) || '"', 'null')
    || ',"is_stale":' || ${silent} || ',"stale_since":' || coalesce(case when ${silent} then epoch(${silentFrom(alias)})::text end, 'null')
    || coalesce(${latest}, ',"snapshot_count":0,"artifact_compliance_count":null')`;
}
