import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { everyTrailEvent } from "./event-store.ts";

/** Who reported something and when, and what came with it. */
export interface ReportRow {
  wire_id: string;
  created_at: Timestamp;
  created_by_name: string;
}

/** An attestation as a document shows it. Texts may be cut. */
export interface AttestationRow extends ReportRow {
  type: string;
  is_compliant: boolean;
  is_override: boolean;
  override_reason: string | null;
  description: string | null;
  file_name: string | null;
  file_size: number | null;
  file_sha256: string | null;
}

/** Attestations by their ids. */
export async function listAttestationsShown(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<AttestationRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<AttestationRow>`/* document-attestations */
    select wire_id(a.id) as wire_id, a.created_at, a.created_by_name, a.type, a.is_compliant, a.is_override,
      case when a.is_override then left(a.type_data ->> 'reason', 1000) end as override_reason,
      left(a.description, 1000) as description, file.filename as file_name, file.size as file_size,
      file.sha256 as file_sha256
    from attestations a left join evidence file on file.org_id = a.org_id and file.id = a.evidence_id
    where a.org_id = ${orgId} and a.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** A report of an artifact as a document shows it. */
export interface ArtifactRow extends ReportRow {
  filename: string;
  git_commit: string | null;
}

/** Reports of artifacts by their ids. */
export async function listArtifactsShown(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<ArtifactRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<ArtifactRow>`/* document-artifacts */
    select wire_id(a.id) as wire_id, a.created_at, a.created_by_name, left(a.filename, 1000) as filename, a.git_commit
    from artifacts a where a.org_id = ${orgId} and a.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** Names and addresses of repos, in the order of their ids. */
export async function listReposShown(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<{ name: string; url: string }[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ name: string; url: string }>`/* document-repos */
    select r.name, r.url from unnest(${ids}::uuid[]) with ordinality as wanted (id, position)
    join repos r on r.org_id = ${orgId} and r.id = wanted.id order by wanted.position`.execute(db);
  return rows;
}

/** An event as a document shows it: the few facts that each type has. */
export interface ShownEvent {
  type: string;
  occurred_at: Timestamp;
  /** Unknown for changes of the trail itself. */
  reported_by: string | null;
  /** Name of the attestation, or of the artifact in the template. */
  name: string | null;
  attestation_type: string | null;
  is_compliant: boolean | null;
  is_reattestation: boolean | null;
  artifact_name: string | null;
  artifact_fingerprint: string | null;
  target_artifact: string | null;
  changes: string[] | null;
  file_name: string | null;
  file_sha256: string | null;
}

/**
 * The latest events of a trail, oldest of them first, and how many there are in all. Nothing in them is large, whatever was
 * reported.
 */
export async function listLatestTrailEvents(
  db: Executor,
  orgId: string,
  trailId: string,
  limit: number,
): Promise<{ events: ShownEvent[]; total: number }> {
  const { rows } = await sql<ShownEvent & { total: number }>`/* latest-trail-events */
    select l.type, l.occurred_at, l.total, coalesce(a.created_by_name, r.created_by_name) as reported_by,
      l.data ->> 'template_reference_name' as name, l.data ->> 'attestation_type' as attestation_type,
      (l.data ->> 'is_compliant')::boolean as is_compliant,
      (l.data ->> 'is_reattestation')::boolean as is_reattestation,
      left(l.data ->> 'artifact_name', 1000) as artifact_name, l.data ->> 'artifact_fingerprint' as artifact_fingerprint,
      l.data ->> 'target_artifact' as target_artifact, l.data -> 'changes' as changes,
      file.filename as file_name, file.sha256 as file_sha256
    from (
      select e.*, count(*) over () as total from (${everyTrailEvent(orgId, trailId)}) e
      order by occurred_at desc, id desc, part desc limit ${limit}::bigint
    ) l
    left join attestations a on a.org_id = ${orgId} and a.id = l.id
    left join artifacts r on r.org_id = ${orgId} and r.id = l.id
    left join evidence file on file.org_id = a.org_id and file.id = a.evidence_id
    order by l.occurred_at, l.id, l.part`.execute(db);
  return { events: rows, total: rows[0]?.total ?? 0 };
}
