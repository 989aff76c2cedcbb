import { empty, join, type Parameter, param, raw, type Sql, sql } from "../../../db/sql.ts";
import type { Org } from "../../../domain/principal.ts";
import type { Links } from "../../../lib/links.ts";
import { isMadeFor } from "../compliance/places-sql.ts";

/** How attestations are shown. */
export interface Showing {
  /** Bases of absolute URLs. */
  api: string;
  web: string;
  /** With what is known of the file that came with each. */
  evidence: boolean;
}

/** Says how attestations are shown: with this server's URLs, and as much as a caller asked to include. */
export function showing(links: Links, include: readonly "evidence"[] = []): Showing {
  return { api: links.api(""), web: links.web(""), evidence: include.includes("evidence") };
}

/** Makes the parameters that statements about attestations share, the organization's id with them. */
export function readParameters(org: Org, { api, web, evidence }: Showing) {
  return {
    org_id: param(org.id),
    org_name: param(org.name),
    api: param(api),
    web: param(web),
    evidence: param(evidence),
  };
}

/** Parameters that statements about attestations share: the organization, and the bases of URLs. */
type ReadParameters = ReturnType<typeof readParameters>;

/** The members of a JSON object that begins and ends with its braces, as text; null when there are none. */
const members = (object: Sql): Sql => sql`nullif(ltrim(left((${object})::text, -1), '{'), '')`;

/** The control of `a` attestations that are decisions. */
const decisionMembers = sql`case when a.type = 'system:decision' and not a.is_override
  then ${members(sql`json_build_object('control', a.control_identifier, 'control_version', a.control_version)`)} end`;

/** The id of the last report before `a` under its name in the same place that is no override. @param more what is asked of it. */
const lastBefore = (org: Parameter, more: Sql): Sql => sql`(
    select o.id from attestations o
    where o.org_id = ${org} and o.trail_id = a.trail_id and o.name = a.name and o.id < a.id and not o.is_override ${more}
      and case
        when a.artifact_fingerprint is null and o.artifact_fingerprint is null
        then a.target_artifacts is null and o.target_artifacts is null
          or a.target_artifacts && o.target_artifacts and a.git_commit = o.git_commit
        when a.artifact_fingerprint is null
        then exists (
          select 1 from artifacts r where r.org_id = ${org} and r.trail_id = a.trail_id
            and r.fingerprint = o.artifact_fingerprint and ${isMadeFor("a", "r")})
        else a.artifact_fingerprint = o.artifact_fingerprint or o.artifact_fingerprint is null and exists (
          select 1 from artifacts r where r.org_id = ${org} and r.trail_id = o.trail_id
            and r.fingerprint = a.artifact_fingerprint and ${isMadeFor("o", "r")})
      end
    order by o.id desc limit 1)`;

/** What `a` attestations override: the last report of their type, or of any, if none of their type was there (`domain/compliance/rows.ts`). */
const overrideMembers = (
  org: Parameter,
): Sql => sql`case when a.is_override then '"overridden_attestation_id":' || coalesce(to_json(wire_id(coalesce(
    ${lastBefore(org, sql`and o.type = a.type`)}, ${lastBefore(org, empty)})))::text, 'null') end`;

/** What is known of the file that came with `a` attestations, from `e` (`itsEvidence`). */
const evidenceMember = sql`'"evidence":' || case when e.sha256 is null then 'null' else json_build_object(
    'filename', e.filename, 'size', e.size, 'content_type', e.content_type, 'sha256', e.sha256)::text end`;

/**
 * Writes the text of the attestation object of the public interface, from `a` attestations, `t` trails, `f` flows and `e`
 * (`itsEvidence`). The common keys come last, so that nothing in a type's own data can take their place. Evidence goes in
 * as it was written: `jsonb` would not keep it.
 * @param self the path of the URL it is read by, after the name of its flow.
 */
export function attestationObject(self: Sql, { org_id, org_name, api, web, evidence }: ReadParameters): Sql {
  const link = (path: Sql): Sql =>
    sql`json_build_object('href', ${api}::text || '/attestations/' || ${org_name}::text || '/' || f.name || ${path})`;
  return sql`'{' || concat_ws(',', ${members(sql`a.type_data`)}, ${decisionMembers}, ${overrideMembers(org_id)},
    case when ${evidence}::boolean then ${evidenceMember} end, ltrim(json_build_object(
    'schema_version', 2,
    'attestation_id', wire_id(a.id),
    'attestation_name', a.name,
    'attestation_type', a.type,
    'is_compliant', a.is_compliant,
    'origin_url', a.origin_url,
    'artifact_fingerprint', a.artifact_fingerprint,
    'target_artifacts', a.target_artifacts,
    'git_commit_info', case when a.git_commit_info is not null then json_build_object(
      'sha1', a.git_commit_info -> 'sha1', 'message', a.git_commit_info -> 'message',
      'author', a.git_commit_info -> 'author', 'branch', a.git_commit_info -> 'branch',
      'timestamp', a.git_commit_info -> 'timestamp', 'url', a.git_commit_info -> 'url') end,
    'evidence_archive_path', e.path,
    'evidence_archive_fingerprint', e.sha256,
    'user_data', coalesce(a.user_data, '{}'),
    'description', a.description,
    'annotations', a.annotations,
    'external_urls', a.external_urls,
    'created_at', epoch(a.created_at),
    'html_url', ${web}::text || '/' || ${org_name}::text || '/flows/' || f.name || '/trails/' || t.name
      || '?attestation_id=' || wire_id(a.id),
    'flow_name', f.name,
    'trail_name', t.name,
    'reported_by', a.created_by_name,
    'has_audit_package', a.evidence_id is not null,
    '_links', case when a.evidence_id is null then json_build_object('self', ${link(self)}) else json_build_object(
      'self', ${link(self)},
      'evidence', ${link(sql`'/trail/' || t.name || '/attestation/' || wire_id(a.id) || '/evidence'`)}) end
  )::text, '{'))`;
}

/** Joins the file that came with `a` attestations, if any, as `e`. */
export const itsEvidence = (org: Parameter): Sql => sql`left join lateral (
  select file.sha256, file.filename, file.size, file.content_type, wire_id(file.org_id) || case when a.artifact_fingerprint is null then '/trail_attestation/'
    else '/artifact_attestation/' end || wire_id(file.id) || '/' || file.filename as path
  from evidence file where file.org_id = ${org} and file.id = a.evidence_id) e on true`;

/** Writes the condition that `a` was made for the artifact `r` of the same trail, both of the organization. */
export const meantBy = (org: Parameter): Sql =>
  sql`a.org_id = ${org} and r.org_id = ${org} and r.trail_id = a.trail_id and ${isMadeFor("a", "r")}`;

/** Writes where `a` attestations are read by name: on the artifact they are for once that was reported, else on their trail. */
export const selfPath = (org: Parameter): Sql => sql`case when a.artifact_fingerprint is not null
  then '/artifact/' || a.artifact_fingerprint || '/' || a.name
  else coalesce(case when a.target_artifacts is not null then (
      select '/artifact/' || r.fingerprint || '/' || a.name from artifacts r where ${meantBy(org)} order by r.id limit 1) end,
    '/trail/' || t.name || '/' || a.name) end`;

/** Where `a` attestations were asked for by name on their trail `t`. */
export const trailPath = sql`'/trail/' || t.name || '/' || a.name`;

/** Writes where `a` attestations were asked for by name on an artifact. */
export const artifactPath = (fingerprint: Parameter): Sql =>
  sql`'/artifact/' || ${fingerprint}::text || '/' || a.name`;

/** Columns of what an attestation may say at length. */
export const largeColumns = [
  "type_data",
  "user_data",
  "annotations",
  "external_urls",
  "git_commit_info",
  "description",
  "origin_url",
  "target_artifacts",
] as const;

/** Bytes of what may be large in `a` attestations, more or less as the attestation object has them. */
export const attestationBytes = join(
  largeColumns.map((column) => raw(`coalesce(octet_length(a.${column}::text), 0)`)),
  " + ",
);
