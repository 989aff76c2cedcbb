import { identifier, type Sql, sql } from "../../../db/sql.ts";
import { countsForArtifact, isOnTrail } from "./places-sql.ts";

/** Says whether the attestation `alias` is of a type that rules about controls ask for. */
export function isDecision(alias: string): Sql {
  return sql`${identifier(alias)}.type in ('decision', 'system:decision')`;
}

/**
 * Writes a subquery of the attestations that count for an artifact on its trail, with the control that each is about, as `control`. An
 * override is about that of the decision whose verdict it replaces: the last report of its name and type before it in its place, which is
 * the trail or the artifact. This is found when it is asked for, and so holds for whatever was overridden before it was asked.
 * @param attestations a table or subquery that has all reports on the trail of each name and type that it has.
 * @param artifact see `countsForArtifact`.
 */
export function withControls(attestations: Sql, artifact: string): Sql {
  const shown = sql`id, name, type, is_compliant, is_override, created_at, artifact_fingerprint, target_artifacts, git_commit`;
  return sql`(
      with counting as materialized (
        select ${shown}, control_identifier, ${isOnTrail("a")} as on_trail
        from ${attestations} a where ${countsForArtifact("a", artifact)})
      select ${shown}, control_identifier as control from counting where not ${isDecision("counting")}
      union all
      select ${shown}, first_value(control_identifier) over (partition by name, type, on_trail, reports order by id)
      from (
        -- Each decision and the overrides after it have the same number.
        select *, count(*) filter (where not is_override) over (partition by name, type, on_trail order by id) as reports
        from counting where ${isDecision("counting")}) decisions)`;
}
