import type { PreparedExecutor, PreparedStatement } from "../../db/connect.ts";
import {
  attestationObject,
  flowNamed,
  itsEvidence,
  meantBy,
  type ReadScope,
  type UrlBases,
} from "./attestation-json.ts";

const ofTrail = {
  name: "attestations-of-trail",
  text: `
    select coalesce((
      select '[' || string_agg(${attestationObject("'/trail/' || t.name || '/' || a.name")}, ',' order by a.id) || ']'
      from attestations a ${itsEvidence}
      where a.org_id = t.org_id and a.trail_id = t.id and a.name = $7 and a.artifact_fingerprint is null
        and (a.target_artifacts is null or not exists (select 1 from artifacts r where ${meantBy}))
    ), '[]') as body
    from flows f join trails t on t.org_id = f.org_id and t.flow_id = f.id and t.name = $6
    where f.org_id = $1 and f.id = ${flowNamed("$5")}`,
};

/**
 * JSON text of a trail's attestations of one name, oldest first: those of the trail itself, and those whose artifact
 * is yet to come. Undefined when there is no such trail.
 */
export async function findTrailAttestations(
  db: PreparedExecutor,
  org: ReadScope,
  urls: UrlBases,
  at: { flow: string; trail: string; name: string },
): Promise<string | undefined> {
  const values = [org.id, org.name, urls.api, urls.web, at.flow, at.trail, at.name];
  const [row] = await db.prepared<{ body: string }>(ofTrail, values);
  return row?.body;
}

/** Statement for an artifact, told by a condition on the fingerprint in a column. */
function ofArtifact(name: string, isMeant: (column: string) => string): PreparedStatement {
  return {
    name,
    // "offset 0": found by the fingerprint first, whatever the planner thinks of flows.
    text: `
      select coalesce((
        select '[' || string_agg(${attestationObject("'/artifact/' || $6::text || '/' || a.name")}, ',' order by a.id) || ']'
        from attestations a join trails t on t.org_id = a.org_id and t.id = a.trail_id ${itsEvidence}
        where a.org_id = $1 and a.id in (
          select bound.id from (
            select a.id, a.flow_id from attestations a
            where a.org_id = $1 and ${isMeant("a.artifact_fingerprint")} and a.name = $7 offset 0) bound
          where bound.flow_id = f.id
          union
          select a.id from (
            select * from artifacts r where r.org_id = $1 and ${isMeant("r.fingerprint")} offset 0) r
          join attestations a on ${meantBy}
          where r.flow_id = f.id and a.name = $7 and a.artifact_fingerprint is null)
      ), '[]') as body
      from flows f
      where f.org_id = $1 and f.id = ${flowNamed("$5")} and f.id in (
        select r.flow_id from artifacts r where r.org_id = $1 and ${isMeant("r.fingerprint")} offset 0)`,
  };
}

const ofWholeFingerprint = ofArtifact("attestations-of-artifact", (column) => `${column} = $6::text`);
const ofFingerprintPrefix = ofArtifact(
  "attestations-of-artifact-prefix",
  // Hexadecimal digits sort before "g".
  (column) => `${column} >= $6::text and ${column} < $6::text || 'g'`,
);
const fingerprintLength = 64;

/**
 * JSON text of the attestations of one name on an artifact, on all trails of the flow, oldest first, those made before
 * the artifact included. Undefined when the flow never reported such an artifact.
 * @param at `fingerprint` may be the beginning of one.
 */
export async function findArtifactAttestations(
  db: PreparedExecutor,
  org: ReadScope,
  urls: UrlBases,
  at: { flow: string; fingerprint: string; name: string },
): Promise<string | undefined> {
  const isWhole = at.fingerprint.length === fingerprintLength;
  const statement = isWhole ? ofWholeFingerprint : ofFingerprintPrefix;
  const values = [org.id, org.name, urls.api, urls.web, at.flow, at.fingerprint, at.name];
  const [row] = await db.prepared<{ body: string }>(statement, values);
  return row?.body;
}

const oneOfTrail = {
  name: "attestation-of-trail",
  text: `
    select a.name, a.evidence_id
    from attestations a
    join trails t on t.org_id = a.org_id and t.id = a.trail_id and t.name = $3
    where a.org_id = $1 and a.flow_id = ${flowNamed("$2")} and a.id = $4`,
};

/** The name of an attestation of a trail, and the id of the file that came with it; undefined when the trail has none of this id. */
export async function findTrailAttestation(
  db: PreparedExecutor,
  orgId: string,
  at: { flow: string; trail: string; attestation_id: string },
): Promise<{ name: string; evidence_id: string | null } | undefined> {
  const values = [orgId, at.flow, at.trail, at.attestation_id];
  const [row] = await db.prepared<{ name: string; evidence_id: string | null }>(oneOfTrail, values);
  return row;
}
