import { raw, sql, type Sql } from "../../../db/sql.ts";

/**
 * The rule which attestations count for an artifact (contract flows 7.3), as SQL. `domain/compliance/places.ts` is the same
 * rule for reports in memory; `test/api/compliance-places.test.ts` holds them equal. Rows are named by their aliases:
 * `attestation` one of `attestations`; `artifact` one of `artifacts`, or anything else with its `fingerprint`,
 * `template_reference_name`, `git_commit` and `git_commit_info`. All fragments take them to be on the same trail.
 */

/**
 * Writes the commit that the artifact was built from, as it was reported: `git_commit` has it where it is one that clients can show, and
 * `r1234`, say, or a commit of Git with SHA-256 stands in `git_commit_info` alone.
 */
export function reportedCommit(artifact: string): Sql {
  const r = raw(artifact);
  return sql`coalesce(${r}.git_commit, ${r}.git_commit_info ->> 'sha1')`;
}

/** Writes the condition that the attestation was made for the artifact's name and commit, whichever of the two was reported first. */
export function isMadeFor(attestation: string, artifact: string): Sql {
  const [a, r] = [raw(attestation), raw(artifact)];
  return sql`${r}.template_reference_name = any(${a}.target_artifacts) and ${a}.git_commit = ${reportedCommit(artifact)}`;
}

/** Writes the condition that the attestation is about the trail itself, and so counts for all artifacts on it. */
export function isOnTrail(attestation: string): Sql {
  const a = raw(attestation);
  return sql`${a}.artifact_fingerprint is null and coalesce(cardinality(${a}.target_artifacts), 0) = 0`;
}

/** Writes the condition that the attestation counts for the artifact: bound to it, made for it, or on the trail itself. */
export function countsForArtifact(attestation: string, artifact: string): Sql {
  const [a, r] = [raw(attestation), raw(artifact)];
  return sql`case when ${a}.artifact_fingerprint is not null then ${a}.artifact_fingerprint = ${r}.fingerprint
      when cardinality(${a}.target_artifacts) > 0
        then ${isMadeFor(attestation, artifact)}
      else true end`;
}

/**
 * Writes the condition that the attestation counts for the artifact in one of `placesOfArtifact`.
 * @param kind column with the kind of the place.
 */
export function countsInPlace(kind: string, attestation: string, artifact: string): Sql {
  const [a, r] = [raw(attestation), raw(artifact)];
  return sql`case ${raw(kind)}
      when 'fingerprint' then ${a}.artifact_fingerprint = ${r}.fingerprint
      when 'trail' then ${isOnTrail(attestation)}
      else ${a}.artifact_fingerprint is null and ${isMadeFor(attestation, artifact)} end`;
}

/** Writes the name of the place, of the kind `commit`, of what was made for the artifact's name and commit; null without a commit. */
export function commitPlace(artifact: string): Sql {
  return sql`${raw(artifact)}.template_reference_name || '@' || md5(${reportedCommit(artifact)})`;
}

/** Rows `(kind, place)` for the places whose attestations count for the artifact. Without a commit one place is null. */
export function placesOfArtifact(artifact: string): Sql {
  return sql`(values ('trail', ''), ('fingerprint', ${raw(artifact)}.fingerprint),
      ('commit', ${commitPlace(artifact)}))`;
}

/**
 * Rows `(kind, place)` for the places where the attestation counts, as `attestation_heads` has them. Beside those that an
 * artifact may have there is the kind `name`: what waits for a name counts there while no artifact has the name.
 */
export function placesOfAttestation(attestation: string): Sql {
  const a = raw(attestation);
  return sql`attestation_places(${a}.artifact_fingerprint, ${a}.target_artifacts, ${a}.git_commit)`;
}
