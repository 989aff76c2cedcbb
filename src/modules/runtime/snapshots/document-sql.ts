import { type Parameter, raw, type Sql, sql } from "../../../db/sql.ts";

/*
 * What never changes of a version stands apart from its row, which is written anew when the version ends. What has exited
 * has the same as the version which it repeats. Versions from before `0064` and `0072` have it in their rows.
 */

/** Writes SQL for something of the version `a`: its own, or that of the version which it repeats. */
function ofVersion(org: Parameter | Sql, a: string, column: "doc" | "flows"): Sql {
  const row = raw(a);
  const value = raw(column);
  return sql`coalesce(${row}.${value}, (
  select d.${value} from snapshot_documents d
  where d.org_id = ${org}::uuid and d.environment_id = ${row}.environment_id and d.id = coalesce(${row}.repeats, ${row}.id)), (
  select repeated.${value} from snapshot_artifacts repeated
  where repeated.org_id = ${org}::uuid and repeated.environment_id = ${row}.environment_id and repeated.id = ${row}.repeats))`;
}

/** Writes SQL for the document of the version `a`, a row of `snapshot_artifacts`: as it is stored, with marks in it. */
export function documentOfVersion(org: Parameter | Sql, a = "a"): Sql {
  return ofVersion(org, a, "doc");
}

/** Writes SQL for what flows knew of the version `a`, a row of `snapshot_artifacts`: a list of `SnapshotFlow`, as JSON. */
export function flowsOfVersion(org: Parameter | Sql, a = "a"): Sql {
  return ofVersion(org, a, "flows");
}

/**
 * Writes SQL that selects the document of the version `a` as `doc`, and the texts of what it leaves out: as `flows` the flows, null where it
 * leaves out none, and as `places` where it ran.
 */
export function storedDocument(org: Parameter): Sql {
  return sql`
    select coalesce(a.doc, apart.doc, (
        select repeated.doc from snapshot_artifacts repeated
        where repeated.org_id = ${org}::uuid and repeated.environment_id = a.environment_id and repeated.id = a.repeats)) as doc,
      apart.flows::text as flows, ${placesOfVersion(org)}::text as places
    from (select) one left join lateral (
      select d.doc, d.flows from snapshot_documents d
      where d.org_id = ${org}::uuid and d.environment_id = a.environment_id and d.id = coalesce(a.repeats, a.id) limit 1
    ) apart on true`;
}

/** Writes SQL for the ids of these flows, in their order, from the row `a` alone. */
export function flowIdsOfVersion(a = "a"): Sql {
  const row = raw(a);
  return sql`coalesce(${row}.flow_ids, array(
    select (flow ->> 'flow_id')::uuid from json_array_elements(${row}.flows) flow))`;
}

/** Writes SQL for the first of them, as `snapshot_artifacts_flow_events` has it. */
export function firstFlowOfVersion(a = "a"): Sql {
  const row = raw(a);
  return sql`coalesce(${row}.flow_ids[1], (${row}.flows -> 0 ->> 'flow_id')::uuid)`;
}

/** Writes SQL for where the version `a` ran: JSON of a `RunningArtifact` without name and fingerprint. */
export function placesOfVersion(org: Parameter | Sql, a = "a"): Sql {
  const row = raw(a);
  return sql`coalesce(${row}.running, (
  select repeated.running from snapshot_artifacts repeated
  where repeated.org_id = ${org}::uuid and repeated.environment_id = ${row}.environment_id and repeated.id = ${row}.repeats))`;
}

/** Writes SQL for what the version `a` was found by, as a text to compare. */
export function findingsOfVersion(org: Parameter | Sql, a = "a"): Sql {
  const row = raw(a);
  return sql`coalesce(${row}.findings, (
  select d.findings from snapshot_decisions d
  where d.org_id = ${org}::uuid and d.environment_id = ${row}.environment_id and d.digest = ${row}.decisions_digest))`;
}
