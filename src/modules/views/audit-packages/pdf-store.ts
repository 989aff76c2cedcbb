import type { z } from "zod";

import type { ArtifactComplianceStatus, AttestationComplianceStatus } from "../../../contract/trails.ts";
import {
  boolean,
  float,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
} from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";
import type { Executor } from "../../../db/connect.ts";
import { complianceStates } from "../../../domain/compliance/model.ts";
import { eventKeys, eventOfKey } from "../../process/trails/event-sql.ts";

/** What the verdict says of one attestation name. */
export type AttestationStatus = z.output<typeof AttestationComplianceStatus>;

/** What the verdict says of one artifact name, without the attestations on it. */
export type ArtifactStatus = Pick<
  z.output<typeof ArtifactComplianceStatus>,
  "artifact_fingerprint" | "artifact_id" | "status" | "unexpected"
>;

/** A place of the verdict: one attestation name on the trail or on an artifact, or an artifact name. */
export type Slot =
  | { kind: "attestation"; artifact: string | null; status: AttestationStatus }
  | { kind: "artifact"; artifact: string; status: ArtifactStatus };

/** How many places of a kind a verdict says the same of. */
export interface SlotCount {
  kind: Slot["kind"];
  status: Slot["status"]["status"];
  is_compliant: boolean | null;
  count: number;
}

/** Columns of a verdict as a document shows it. */
const verdict = {
  state: oneOf(complianceStates),
  evaluated_at: float,
  /** Attestations of the trail, then each artifact followed by its attestations. */
  slots: json<Slot[]>(),
  /** Of all places, shown or not. */
  counts: json<SlotCount[]>(),
};

export type VerdictShown = RowOf<typeof verdict>;

/** Reads the verdict on a trail with the first of its places, in its order, and counts all: it may have any number. */
export function findVerdictShown(
  db: Executor,
  orgId: string,
  trailId: string,
  limit: number,
): Promise<VerdictShown> {
  return db.one(query("document-verdict", verdict)`
    with verdict as materialized (
      select c.state, c.status from trail_compliance c where c.org_id = ${orgId} and c.trail_id = ${trailId}
    ), slots as materialized (
      select 'attestation' as kind, null::text as artifact, said.value as status, 0::bigint as place, said.at
      from verdict v cross join json_array_elements(v.status -> 'attestations_statuses') with ordinality as said (value, at)
      union all
      select of.kind, named.artifact, of.status, named.place, of.at
      from verdict v cross join json_each(v.status -> 'artifacts_statuses') with ordinality as named (artifact, value, place)
      cross join json_to_record(named.value) as said (status text, artifact_id text, artifact_fingerprint text,
        unexpected boolean, attestations_statuses json)
      cross join lateral (
        select 'artifact' as kind, json_build_object('status', said.status, 'artifact_id', said.artifact_id,
          'artifact_fingerprint', said.artifact_fingerprint, 'unexpected', said.unexpected) as status, 0::bigint as at
        union all
        select 'attestation', a.value, a.at
        from json_array_elements(said.attestations_statuses) with ordinality as a (value, at)) of
    )
    select v.state, (v.status ->> 'evaluated_at')::double precision as evaluated_at,
      (select coalesce(json_agg(json_build_object('kind', s.kind, 'artifact', s.artifact, 'status', s.status)
          order by s.place, s.at), '[]')
        from (select * from slots order by place, at limit ${limit}::bigint) s) as slots,
      (select coalesce(json_agg(json_build_object('kind', n.kind, 'status', n.status, 'is_compliant', n.is_compliant,
          'count', n.count)), '[]')
        from (select s.kind, said.status, said.is_compliant, count(*) as count
          from slots s cross join json_to_record(s.status) as said (status text, is_compliant boolean)
          group by s.kind, said.status, said.is_compliant) n) as counts
    from verdict v`);
}

/** Columns that say who reported something, and when. */
const report = { wire_id: text, created_at: timestamp, created_by_name: text };

export type ReportRow = RowOf<typeof report>;

/** Columns of an attestation as a document shows it, with the file that came with it. Texts may be cut. */
const attestation = {
  ...report,
  type: text,
  is_compliant: boolean,
  is_override: boolean,
  override_reason: nullable(text),
  description: nullable(text),
  file_name: nullable(text),
  file_size: nullable(integer),
  file_sha256: nullable(text),
};

export type AttestationRow = RowOf<typeof attestation>;

/** Lists attestations by their ids. */
export async function listAttestationsShown(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<AttestationRow[]> {
  if (ids.length === 0) return [];
  return db.all(query("document-attestations", attestation)`
    select wire_id(a.id) as wire_id, a.created_at, a.created_by_name, a.type, a.is_compliant, a.is_override,
      case when a.is_override then left(a.type_data ->> 'reason', 1000) end as override_reason,
      left(a.description, 1000) as description, file.filename as file_name, file.size as file_size,
      file.sha256 as file_sha256
    from attestations a left join evidence file on file.org_id = a.org_id and file.id = a.evidence_id
    where a.org_id = ${orgId} and a.id = any(${ids}::uuid[])`);
}

/** Columns of a report of an artifact as a document shows it. */
const artifact = { ...report, filename: text, git_commit: nullable(text) };

export type ArtifactRow = RowOf<typeof artifact>;

/** Lists reports of artifacts by their ids. */
export async function listArtifactsShown(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<ArtifactRow[]> {
  if (ids.length === 0) return [];
  return db.all(query("document-artifacts", artifact)`
    select wire_id(a.id) as wire_id, a.created_at, a.created_by_name, left(a.filename, 1000) as filename, a.git_commit
    from artifacts a where a.org_id = ${orgId} and a.id = any(${ids}::uuid[])`);
}

/** Lists names and addresses of repos, in the order of their ids. */
export async function listReposShown(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<{ name: string; url: string }[]> {
  if (ids.length === 0) return [];
  return db.all(query("document-repos", { name: text, url: text })`
    select r.name, r.url from unnest(${ids}::uuid[]) with ordinality as wanted (id, position)
    join repos r on r.org_id = ${orgId} and r.id = wanted.id order by wanted.position`);
}

/** Columns of an event as a document shows it: the few facts that each type has. */
const shownEvent = {
  type: text,
  occurred_at: timestamp,
  /** Unknown for changes of the trail itself. */
  reported_by: nullable(text),
  /** Name of the attestation, or of the artifact in the template. */
  name: nullable(text),
  attestation_type: nullable(text),
  is_compliant: nullable(boolean),
  is_reattestation: nullable(boolean),
  artifact_name: nullable(text),
  artifact_fingerprint: nullable(text),
  target_artifact: nullable(text),
  changes: nullable(json<string[]>()),
  file_name: nullable(text),
  file_sha256: nullable(text),
};

export type ShownEvent = RowOf<typeof shownEvent>;

/**
 * Lists the latest events of a trail, oldest of them first, and counts all. Nothing in them is large, whatever was reported, and nothing is
 * made of others.
 */
export async function listLatestTrailEvents(
  db: Executor,
  orgId: string,
  trailId: string,
  limit: number,
): Promise<{ events: ShownEvent[]; total: number }> {
  const rows = await db.all(query("latest-trail-events", { ...shownEvent, total: integer })`
    select l.type, l.occurred_at, l.total, coalesce(a.created_by_name, r.created_by_name) as reported_by,
      l.data ->> 'template_reference_name' as name, l.data ->> 'attestation_type' as attestation_type,
      (l.data ->> 'is_compliant')::boolean as is_compliant,
      (l.data ->> 'is_reattestation')::boolean as is_reattestation,
      left(l.data ->> 'artifact_name', 1000) as artifact_name, l.data ->> 'artifact_fingerprint' as artifact_fingerprint,
      l.data ->> 'target_artifact' as target_artifact, l.data -> 'changes' as changes,
      file.filename as file_name, file.sha256 as file_sha256
    from (
      select asked.id, asked.part, asked.total, e.*
      from (
        select k.*, count(*) over () as total from (${eventKeys(orgId, trailId)}) k
        order by occurred_at desc, id desc, part desc limit ${limit}::bigint) asked
      cross join lateral (select * from (${eventOfKey(orgId, trailId, true)}) e offset 0) e
    ) l
    left join attestations a on a.org_id = ${orgId} and a.id = l.id
    left join artifacts r on r.org_id = ${orgId} and r.id = l.id
    left join evidence file on file.org_id = a.org_id and file.id = a.evidence_id
    order by l.occurred_at, l.id, l.part`);
  return { events: rows, total: rows[0]?.total ?? 0 };
}
