import { constant, raw, type Sql, sql } from "../../../db/sql.ts";
import type { TrailReports } from "../../../domain/compliance/model.ts";
import { reportedCommit } from "./places-sql.ts";

/** JSON of the artifact `a` of a case. */
export const artifactObject = sql`json_build_object('artifact_id', a.id, 'template_reference_name',
  a.template_reference_name, 'fingerprint', a.fingerprint, 'git_commit', ${reportedCommit("a")},
  'reported_at', epoch(a.created_at))`;

/** JSON of the attestation `a` of a case. */
export const attestationObject = sql`json_build_object('attestation_id', a.id, 'name', a.name, 'type', a.type,
  'is_compliant', a.is_compliant, 'is_override', a.is_override, 'artifact_fingerprint', a.artifact_fingerprint,
  'target_artifacts', a.target_artifacts, 'git_commit', a.git_commit, 'reported_at', epoch(a.created_at))`;

/** Writes a JSON array of `a`, in the order of their reports. */
export function listOf(object: Sql): Sql {
  return sql`coalesce(json_agg(${object} order by a.id), '[]')`;
}

/**
 * What decides on a trail at most: so many artifacts, and so many names of artifacts that attestations are for, where one that is for the trail, or
 * for one artifact, counts as one. Judging that many takes seconds, and writes a verdict of more than a hundred megabytes.
 */
export const mostDeciding = 300_000;

const most = constant(mostDeciding);

/**
 * Selects a line for each `a`, as `readLines` reads them, in the order of their reports: the driver would read JSON in one go, however much there
 * is. Null, and no line is written, where all of them together count for more than may decide.
 * @param count what one counts for.
 */
function linesOf(object: Sql, { columns, from, count }: { columns: Sql; from: Sql; count: Sql }): Sql {
  return sql`
    select case when coalesce(max(a.counted), 0) <= ${most} then
      coalesce(string_agg(${object}::text, ',' || chr(10) order by a.id) filter (where a.counted <= ${most}), '') end
    from (select ${columns}, sum(${count}) over () as counted ${from}) a`;
}

/** Selects lines of the artifacts `a` of a case, as `linesOf` does. */
export function artifactLines(from: Sql): Sql {
  const columns = sql`a.id, a.template_reference_name, a.fingerprint, a.git_commit, a.git_commit_info, a.created_at`;
  return linesOf(artifactObject, { columns, from, count: sql`1` });
}

/** Selects lines of the attestations `a` of a case, as `linesOf` does. */
export function attestationLines(from: Sql): Sql {
  const columns = sql`a.id, a.name, a.type, a.is_compliant, a.is_override, a.artifact_fingerprint, a.target_artifacts,
    a.git_commit, a.created_at`;
  return linesOf(attestationObject, {
    columns,
    from,
    count: sql`greatest(1, cardinality(a.target_artifacts))`,
  });
}

/** Artifacts or attestations of a trail up to which reading all of them costs less than finding those that decide. */
const few = 100;
const limit = constant(few + 1);

/** Artifacts that all attestations of a trail may be for together; with more of them they are read as if they were more than a few. */
const fewTargets = constant(2000);

/** Stands for more than a few. */
const moreThanFew = raw(
  `'[${Array(few + 1)
    .fill("null")
    .join(",")}]'::json`,
);

/** Says whether `someArtifacts` and `someAttestations` have read all there are. */
export function isComplete({ artifacts, attestations }: TrailReports): boolean {
  return Math.max(artifacts.length, attestations.length) <= few;
}

// In the order of an index by trail, which no other has: the planner takes others for as good while it knows nothing of the table.

/** Selects the JSON of the artifacts of the trail `t`, or of one more than a few. */
export function someArtifacts(orgId: string): Sql {
  return sql`(
      select ${listOf(artifactObject)}
      from (
        select * from artifacts where org_id = ${orgId} and trail_id = t.id
        order by template_reference_name, id limit ${limit}) a)`;
}

/** Selects the JSON of the attestations of the trail `t`; of one more than a few, which are empty, where they are more or are for very many artifacts. */
export function someAttestations(orgId: string): Sql {
  return sql`(
      select case when max(a.targets) > ${fewTargets} then ${moreThanFew} else coalesce(
        json_agg(${attestationObject} order by a.id) filter (where a.targets <= ${fewTargets}), '[]') end
      from (
        select first.*, sum(coalesce(cardinality(first.target_artifacts), 0)) over () as targets from (
          select * from attestations where org_id = ${orgId} and trail_id = t.id order by name, id limit ${limit}) first) a)`;
}
