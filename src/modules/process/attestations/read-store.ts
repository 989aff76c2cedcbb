import { heavyRows, isHeavy, type PageText, pageOf, pageText } from "../../../db/heavy-page.ts";
import { nullable, type RowOf, text, uuid } from "../../../db/row.ts";
import { param, type Parameter, type Query, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import type { Org } from "../../../domain/principal.ts";
import { flowIdNamed } from "../flows/flow-name-sql.ts";
import {
  artifactPath,
  attestationBytes,
  attestationObject,
  itsEvidence,
  meantBy,
  readParameters,
  type Showing,
  trailPath,
} from "./attestation-sql.ts";

/** Finds the text of a list, or which rows it has; undefined when there is no row. */
async function findList(
  db: Executor,
  statement: Query<RowOf<typeof pageText>>,
): Promise<PageText | undefined> {
  const row = await db.first(statement);
  return row && pageOf(row);
}

/**
 * Writes the columns of `pageText` for the attestations of `found`: their ids, and what they weigh in all.
 * @param shown the text of one, from `a` and what else the rows have.
 */
function listColumns(org: Parameter, shown: Sql, rows: Sql): Sql {
  const heavy = isHeavy(sql`found.bytes`);
  const its = sql`a.org_id = ${org} and a.id = any (found.ids)`;
  return sql`case when not ${heavy} then coalesce((
      select '[' || string_agg(${shown}, ',' order by a.id) || ']' from ${rows} where ${its}
    ), '[]') end as list, case when ${heavy} then (
      select ${heavyRows({ id: raw("a.id"), bytes: attestationBytes, order: "a.id" })} from attestations a where ${its}
    ) end as heavy`;
}

/** Selects ids of attestations `a` and their bytes, all in one row. */
const idsAndBytes = sql`select array_agg(a.id) as ids, sum(${attestationBytes}) as bytes from attestations a`;

/**
 * Reads a trail's attestations of one name, oldest first: those of the trail itself, and those whose artifact is yet to
 * come. Undefined when there is no such trail.
 */
export function findTrailAttestations(
  db: Executor,
  org: Org,
  how: Showing,
  at: { flow: string; trail: string; name: string },
): Promise<PageText | undefined> {
  const read = readParameters(org, how);
  const rows = sql`attestations a ${itsEvidence(read.org_id)}`;
  return findList(
    db,
    query("attestations-of-trail", pageText)`
    select ${listColumns(read.org_id, attestationObject(trailPath, read), rows)}
    from flows f join trails t on t.org_id = f.org_id and t.flow_id = f.id and t.name = ${at.trail}
    cross join lateral (
      ${idsAndBytes}
      where a.org_id = ${read.org_id} and a.trail_id = t.id and a.name = ${at.name} and a.artifact_fingerprint is null
        and (a.target_artifacts is null or not exists (select 1 from artifacts r where ${meantBy(read.org_id)}))) found
    where f.org_id = ${read.org_id} and f.id = ${flowIdNamed(read.org_id, param(at.flow))}`,
  );
}

const fingerprintLength = 64;

/**
 * Reads the attestations of one name on an artifact, on all trails of the flow, oldest first, those made
 * before the artifact included. Undefined when the flow never reported such an artifact.
 * @param at `fingerprint` may be the beginning of one.
 */
export function findArtifactAttestations(
  db: Executor,
  org: Org,
  how: Showing,
  at: { flow: string; fingerprint: string; name: string },
): Promise<PageText | undefined> {
  const isWhole = at.fingerprint.length === fingerprintLength;
  const read = readParameters(org, how);
  const [fingerprint, name] = [param(at.fingerprint), param(at.name)];
  // Hexadecimal digits sort before "g".
  const isMeant = (column: Sql): Sql =>
    isWhole
      ? sql`${column} = ${fingerprint}::text`
      : sql`${column} >= ${fingerprint}::text and ${column} < ${fingerprint}::text || 'g'`;
  const rows = sql`attestations a
        join trails t on t.org_id = a.org_id and t.id = a.trail_id ${itsEvidence(read.org_id)}`;
  // "offset 0": found by the fingerprint first, whatever the planner thinks of flows.
  return findList(
    db,
    query(isWhole ? "attestations-of-artifact" : "attestations-of-artifact-prefix", pageText)`
      select ${listColumns(read.org_id, attestationObject(artifactPath(fingerprint), read), rows)}
      from flows f cross join lateral (
        ${idsAndBytes}
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
          where r.flow_id = f.id and a.name = ${name} and a.artifact_fingerprint is null)) found
      where f.org_id = ${read.org_id} and f.id = ${flowIdNamed(read.org_id, param(at.flow))} and f.id in (
        select r.flow_id from artifacts r where r.org_id = ${read.org_id} and ${isMeant(sql`r.fingerprint`)} offset 0)`,
  );
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
