import type { Links } from "../../lib/links.ts";

/** SQL of the attestation object, and of what it is made from. All of it is text of ours; values are parameters. */

/** Bases of the absolute URLs in what is read. */
export interface UrlBases {
  api: string;
  web: string;
}

/** The bases of this server's URLs. */
export function urlBases(links: Links): UrlBases {
  return { api: links.api(""), web: links.web("") };
}

/** The organization read from, by id and by the name its URLs have. */
export interface ReadScope {
  id: string;
  name: string;
}

/** The members of a JSON object that begins and ends with its braces, as text; null when there are none. */
const members = (object: string): string => `nullif(ltrim(left((${object})::text, -1), '{'), '')`;

/** The control of `a` attestations that are decisions. */
const decisionMembers = `case when a.type = 'system:decision' and not a.is_override
  then ${members("json_build_object('control', a.control_identifier, 'control_version', a.control_version)")} end`;

/** What `a` attestations override: the latest report of the name in the same place before them, if there was one. */
const overrideMembers = `case when a.is_override then '"overridden_attestation_id":' || coalesce((
    select to_json(wire_id(o.id))::text from attestations o
    where o.org_id = a.org_id and o.trail_id = a.trail_id and o.name = a.name and o.id < a.id and not o.is_override
      and case
        when a.artifact_fingerprint is null
        then o.artifact_fingerprint is null and (a.target_artifacts is null and o.target_artifacts is null
          or a.target_artifacts && o.target_artifacts and a.git_commit = o.git_commit)
        else a.artifact_fingerprint = o.artifact_fingerprint or o.artifact_fingerprint is null and exists (
          select 1 from artifacts r where r.org_id = o.org_id and r.trail_id = o.trail_id
            and r.fingerprint = a.artifact_fingerprint and r.template_reference_name = any (o.target_artifacts)
            and r.git_commit = o.git_commit)
      end
    order by o.id desc limit 1), 'null') end`;

/** A link to something of a flow's attestations. */
const link = (path: string): string =>
  `json_build_object('href', $3::text || '/attestations/' || $2::text || '/' || f.name || ${path})`;

/**
 * Text of the attestation object of the public interface, from `a` attestations, `t` trails, `f` flows and `e` (`itsEvidence`);
 * `$2` is the organization's name, `$3` and `$4` the bases of API and web URLs, `self` the URL it is read by. The
 * common keys come last, so that nothing in a type's own data can take their place. Evidence goes in as it was written:
 * `jsonb` would not keep it.
 */
export function attestationObject(self: string): string {
  return `'{' || concat_ws(',', ${members("a.type_data")}, ${decisionMembers}, ${overrideMembers}, ltrim(json_build_object(
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
    'html_url', $4::text || '/' || $2::text || '/flows/' || f.name || '/trails/' || t.name
      || '?attestation_id=' || wire_id(a.id),
    'flow_name', f.name,
    'trail_name', t.name,
    'reported_by', a.created_by_name,
    'has_audit_package', a.evidence_id is not null,
    '_links', case when a.evidence_id is null then json_build_object('self', ${link(self)}) else json_build_object(
      'self', ${link(self)},
      'evidence', ${link(`'/trail/' || t.name || '/attestation/' || wire_id(a.id) || '/evidence'`)}) end
  )::text, '{'))`;
}

/** The file that came with `a` attestations, if any. */
export const itsEvidence = `left join lateral (
  select file.sha256, wire_id(file.org_id) || case when a.artifact_fingerprint is null then '/trail_attestation/'
    else '/artifact_attestation/' end || wire_id(file.id) || '/' || file.filename as path
  from evidence file where file.org_id = a.org_id and file.id = a.evidence_id) e on true`;

/**
 * Whether `a` was made for the artifact `r` of the same trail: same template name, same commit, whichever came first
 * (contract 7.3).
 */
export const meantBy = `r.org_id = a.org_id and r.trail_id = a.trail_id
  and r.template_reference_name = any (a.target_artifacts) and r.git_commit = a.git_commit`;

/** Where `a` attestations are read by name: on the artifact they are for once that was reported, else on their trail. */
export const selfPath = `case when a.artifact_fingerprint is not null
  then '/artifact/' || a.artifact_fingerprint || '/' || a.name
  else coalesce(case when a.target_artifacts is not null then (
      select '/artifact/' || r.fingerprint || '/' || a.name from artifacts r where ${meantBy} order by r.id limit 1) end,
    '/trail/' || t.name || '/' || a.name) end`;

/** The id of the flow of a name, which may be a former one as long as no other flow took it. `$1` is the organization. */
export function flowNamed(name: string): string {
  return `coalesce(
    (select f.id from flows f where f.org_id = $1 and f.name = ${name}),
    (select f.id from flow_former_names n join flows f on f.org_id = n.org_id and f.id = n.flow_id
      where n.org_id = $1 and n.name = ${name} and f.archived_at is null))`;
}
