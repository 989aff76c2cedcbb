import { nullable, text, uuid } from "../../../db/row.ts";
import { param, query, type Sql, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import type { Org } from "../../../domain/principal.ts";
import { flowIdNamed } from "../flows/flow-name-sql.ts";
import { attestationObject, itsEvidence, meantBy, readParameters, type Showing } from "./attestation-sql.ts";

const list = { body: text };

/**
 * Reads the JSON text of a trail's attestations of one name, oldest first: those of the trail itself, and those whose
 * artifact is yet to come. Undefined when there is no such trail.
 */
export async function findTrailAttestations(
  db: Executor,
  org: Org,
  how: Showing,
  at: { flow: string; trail: string; name: string },
): Promise<string | undefined> {
  const read = readParameters(org, how);
  const row = await db.first(query("attestations-of-trail", list)`
    select coalesce((
      select '[' || string_agg(${attestationObject(sql`'/trail/' || t.name || '/' || a.name`, read)}, ',' order by a.id)
        || ']'
      from attestations a ${itsEvidence(read.org_id)}
      where a.org_id = ${read.org_id} and a.trail_id = t.id and a.name = ${at.name} and a.artifact_fingerprint is null
        and (a.target_artifacts is null or not exists (select 1 from artifacts r where ${meantBy(read.org_id)}))
    ), '[]') as body
    from flows f join trails t on t.org_id = f.org_id and t.flow_id = f.id and t.name = ${at.trail}
    where f.org_id = ${read.org_id} and f.id = ${flowIdNamed(read.org_id, param(at.flow))}`);
  return row?.body;
}

const fingerprintLength = 64;

/**
 * Reads the JSON text of the attestations of one name on an artifact, on all trails of the flow, oldest first, those made
 * before the artifact included. Undefined when the flow never reported such an artifact.
 * @param at `fingerprint` may be the beginning of one.
 */
export async function findArtifactAttestations(
  db: Executor,
  org: Org,
  how: Showing,
  at: { flow: string; fingerprint: string; name: string },
): Promise<string | undefined> {
  const isWhole = at.fingerprint.length === fingerprintLength;
  const read = readParameters(org, how);
  const [fingerprint, name] = [param(at.fingerprint), param(at.name)];
  // Hexadecimal digits sort before "g".
  const isMeant = (column: Sql): Sql =>
    isWhole
      ? sql`${column} = ${fingerprint}::text`
      : sql`${column} >= ${fingerprint}::text and ${column} < ${fingerprint}::text || 'g'`;
  const self = sql`'/artifact/' || ${fingerprint}::text || '/' || a.name`;
  // "offset 0": found by the fingerprint first, whatever the planner thinks of flows.
  const row = await db.first(query(
    isWhole ? "attestations-of-artifact" : "attestations-of-artifact-prefix",
    list,
  )`
      select coalesce((
        select '[' || string_agg(${attestationObject(self, read)}, ',' order by a.id) || ']'
        from attestations a join trails t on t.org_id = a.org_id and t.id = a.trail_id ${itsEvidence(read.org_id)}
        where a.org_id = ${read.org_id} and a.id in (
          select bound.id from (
            select a.id, a.flow_id from attestations a
            where a.org_id = ${read.org_id} and ${isMeant(sql`a.artifact_fingerprint`)} and a.name = ${name} offset 0
          ) bound
          where bound.flow_id = f.id
          union
          select a.id from (
            select * from artifacts r where r.org_id = ${read.org_id} and ${isMeant(sql`r.fingerprint`)} offset 0) r
          join attestations a on ${meantBy(read.org_id)}
          where r.flow_id = f.id and a.name = ${name} and a.artifact_fingerprint is null)
      ), '[]') as body
      from flows f
      where f.org_id = ${read.org_id} and f.id = ${flowIdNamed(read.org_id, param(at.flow))} and f.id in (
        select r.flow_id from artifacts r where r.org_id = ${read.org_id} and ${isMeant(sql`r.fingerprint`)} offset 0)`);
  return row?.body;
}

/** Finds the name of an attestation of a trail, and the id of the file that came with it; undefined when the trail has none of this id. */
export function findTrailAttestation(
  db: Executor,
  orgId: string,
  at: { flow: string; trail: string; attestation_id: string },
): Promise<{ name: string; evidence_id: string | null } | undefined> {
  const org = param(orgId);
  return db.first(query("attestation-of-trail", { name: text, evidence_id: nullable(uuid) })`
    select a.name, a.evidence_id
    from attestations a
    join trails t on t.org_id = a.org_id and t.id = a.trail_id and t.name = ${at.trail}
    where a.org_id = ${org} and a.flow_id = ${flowIdNamed(org, param(at.flow))} and a.id = ${at.attestation_id}`);
}
