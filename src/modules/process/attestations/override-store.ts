import type { Tx } from "../../../db/connect.ts";
import { json, type RowOf, text } from "../../../db/row.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { param, query, sql } from "../../../db/sql.ts";
import type { ArtifactReport, AttestationReport } from "../../../domain/compliance/model.ts";
import { artifactObject, attestationObject, listOf } from "../compliance/case-sql.ts";
import { isMadeFor, placesOfArtifact, placesOfAttestation } from "../compliance/places-sql.ts";

/** What an override is about: a name on a trail, and where. */
export interface AskedOverride {
  trail_id: string;
  name: string;
  artifact_fingerprint: string | null;
  target_artifacts: readonly string[] | null;
  git_commit: string | null;
}

const overrideCase = {
  /** Of the trail. */
  template: text,
  artifacts: json<ArtifactReport[]>(),
  attestations: json<AttestationReport[]>(),
};

/** What the type of an override depends on. */
export type OverrideCase = RowOf<typeof overrideCase>;

/**
 * Lists what overrides may override, in their order and in one statement: the artifacts that they are about, and of each type under the
 * name in their places the last report and the last one that is no override, by the heads. Nobody else must be writing to the trails.
 */
export function listOverrideCases(
  tx: Tx,
  orgId: string,
  overrides: readonly AskedOverride[],
): Promise<OverrideCase[]> {
  const org = param(orgId);
  const ofTrail = sql`r.org_id = ${org} and r.trail_id = o.trail_id`;
  return tx.all(query("override-cases", overrideCase)`
    select t.template, found.artifacts, found.attestations
    from rows from (json_to_recordset(${JSON.stringify(overrides)}::json) as (trail_id uuid, name text, artifact_fingerprint text,
      target_artifacts text[], git_commit text))
      with ordinality as o (trail_id, name, artifact_fingerprint, target_artifacts, git_commit, position)
    ${rowById("trails", "t", sql`${org}`, "o.trail_id")}
    cross join lateral (
      with about as materialized (
        select distinct on (r.template_reference_name) r.*
        from (
          select * from artifacts r where ${ofTrail} and r.fingerprint = o.artifact_fingerprint
          union all
          select * from artifacts r where ${ofTrail} and o.artifact_fingerprint is null and ${isMadeFor("o", "r")}) r
        order by r.template_reference_name, r.id desc
      ), places as (
        select p.kind, p.place from ${placesOfAttestation("o")} p where p.kind <> 'name'
        union
        select p.kind, p.place from about cross join lateral ${placesOfArtifact("about")} as p (kind, place)
        where p.kind <> 'trail'
      ), heads as materialized (
        select h.latest_id, h.latest_plain_id from places p
        -- Looked up place by place, whatever the planner expects.
        cross join lateral (
          select * from attestation_heads
          where org_id = ${org} and trail_id = o.trail_id and kind = p.kind and place = p.place and name = o.name offset 0) h)
      select (select ${listOf(artifactObject)} from about a) as artifacts, (
        select ${listOf(attestationObject)}
        from (select latest_id as id from heads union select latest_plain_id from heads) i
        ${rowById("attestations", "a", sql`${org}`, "i.id")}) as attestations
      offset 0) found
    order by o.position`);
}
