import type { Tx } from "../../../db/connect.ts";
import { type RowOf, text, uuid } from "../../../db/row.ts";
import { command, query } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { writeJson } from "../../../lib/exact-json.ts";
import { placesOfAttestation } from "../compliance/places-sql.ts";

/** An attestation as it is stored. Whatever is bound to a fingerprint names its artifact in `target_artifacts`. */
export interface NewAttestation {
  id: string;
  flow_id: string;
  trail_id: string;
  name: string;
  /** As reads show it: `generic`, `sonar`, `custom:<name>`, … An override has the type it overrides. */
  type: string;
  is_compliant: boolean;
  is_override: boolean;
  artifact_fingerprint: string | null;
  target_artifacts: string[] | null;
  git_commit_info: { sha1: string } | null;
  repo_id: string | null;
  description: string | null;
  origin_url: string | null;
  external_urls: unknown;
  annotations: unknown;
  user_data: unknown;
  /** What is particular to the type, under the key that reads show it by. */
  type_data: Record<string, unknown>;
  /** The control that a decision is about; it need not exist. */
  control_identifier: string | null;
  /** The file that came with it. */
  evidence_id: string | null;
  created_at: Timestamp;
  created_by_name: string;
}

/**
 * Inserts attestations in one statement; decisions keep the version that their control has now. Their trails must exist
 * and be locked, and their artifacts, if any, must be on the trails. Keeps the heads that trails are judged by.
 */
export function insertAttestations(tx: Tx, orgId: string, attestations: readonly NewAttestation[]): void {
  const input = writeJson(attestations);
  tx.send(command("insert-attestations")`
    with reported as (
    insert into attestations (org_id, id, flow_id, trail_id, name, type, is_compliant, is_override,
      artifact_fingerprint, target_artifacts, git_commit, git_commit_info, repo_id, description, origin_url,
      external_urls, annotations, user_data, type_data, control_identifier, control_version, evidence_id, created_at,
      created_by_name)
    select ${orgId}, id, flow_id, trail_id, name, type, is_compliant, is_override, artifact_fingerprint,
      target_artifacts, git_commit_info ->> 'sha1', git_commit_info, repo_id, description, origin_url, external_urls,
      annotations, user_data, type_data, control_identifier,
      (select c.version from controls c where c.org_id = ${orgId} and c.identifier = i.control_identifier),
      evidence_id, to_timestamp(created_at), created_by_name
    from json_to_recordset(${input}::json) as i (id uuid, flow_id uuid, trail_id uuid, name text, type text,
      is_compliant boolean, is_override boolean, artifact_fingerprint text, target_artifacts text[],
      git_commit_info jsonb, repo_id uuid, description text, origin_url text, external_urls jsonb, annotations json,
      user_data json, type_data json, control_identifier text, evidence_id uuid, created_at float8, created_by_name text)
    order by id
    returning id, trail_id, name, type, is_override, artifact_fingerprint, target_artifacts, git_commit)
    insert into attestation_heads as h (org_id, trail_id, kind, place, name, type, first_id, latest_id, latest_plain_id)
    select ${orgId}, a.trail_id, p.kind, p.place, a.name, a.type, (array_agg(a.id order by a.id))[1],
      (array_agg(a.id order by a.id desc))[1], (array_agg(a.id order by a.id desc) filter (where not a.is_override))[1]
    from reported a
    cross join lateral ${placesOfAttestation("a")} p
    group by a.trail_id, p.kind, p.place, a.name, a.type
    order by a.trail_id, p.kind, p.place, a.name, a.type
    on conflict (org_id, trail_id, kind, place, name, type) do update set
      first_id = least(h.first_id, excluded.first_id), latest_id = greatest(h.latest_id, excluded.latest_id),
      latest_plain_id = greatest(h.latest_plain_id, excluded.latest_plain_id)`);
}

const namedArtifact = { trail_id: uuid, fingerprint: text, name: text };

/**
 * Lists the template names under which trails last reported artifacts, in one statement. Those never reported are left
 * out.
 */
export function listArtifactNames(
  tx: Tx,
  orgId: string,
  artifacts: readonly { trail_id: string; fingerprint: string }[],
): Promise<RowOf<typeof namedArtifact>[]> {
  return tx.all(query("attested-artifacts", namedArtifact)`
    select asked.trail_id, asked.fingerprint, a.name
    from unnest(${artifacts.map((one) => one.trail_id)}::uuid[], ${artifacts.map((one) => one.fingerprint)}::text[])
      as asked (trail_id, fingerprint)
    cross join lateral (
      select a.template_reference_name as name from artifacts a
      where a.org_id = ${orgId} and a.trail_id = asked.trail_id and a.fingerprint = asked.fingerprint
      order by a.id desc limit 1) a`);
}
