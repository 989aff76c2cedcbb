import { type RawBuilder, sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A report of an artifact as it is read, with what is shown of its flow, trail and repo. */
export interface ReadArtifactRow {
  id: string;
  flow_id: string;
  flow_name: string;
  flow_tags: Record<string, string>;
  trail_id: string;
  trail_name: string;
  template_reference_name: string;
  fingerprint: string;
  filename: string;
  description: string | null;
  git_commit: string | null;
  git_commit_info: unknown;
  /** As it is known today. `id` is the provider's. */
  repo_info: string | null;
  commit_url: string;
  build_url: string;
  repo_url: string | null;
  external_urls: Record<string, { href: string; fingerprint?: string | null }> | null;
  annotations: string | null;
  /** JSON text as it was written; so are annotations. */
  user_data: string | null;
  created_at: Timestamp;
  created_by_name: string;
}

/** `chosen`, which selects reports as `a`, in full, newest first. */
function inFull(chosen: RawBuilder<unknown>): RawBuilder<ReadArtifactRow> {
  return sql<ReadArtifactRow>`
    select a.id, a.flow_id, f.name as flow_name, f.tags as flow_tags, a.trail_id, t.name as trail_name,
      a.template_reference_name, a.fingerprint, a.filename, a.description, a.git_commit, a.git_commit_info,
      case when r.id is not null then json_build_object('name', r.name, 'id', r.repo_id, 'url', r.url,
        'description', r.description, 'provider', r.provider, 'namespace_path', r.namespace_path,
        'additional_info', r.additional_info)::text end as repo_info,
      a.commit_url, a.build_url, a.repo_url, a.external_urls, a.annotations::text as annotations, a.user_data::text as user_data, a.created_at,
      a.created_by_name
    from (${chosen}) a
    join flows f on f.org_id = a.org_id and f.id = a.flow_id
    join trails t on t.org_id = a.org_id and t.id = a.trail_id
    left join repos r on r.org_id = a.org_id and r.id = a.repo_id
    order by a.id desc`;
}

/** Hexadecimal digits sort before "g", so the range holds exactly the texts that begin like this. */
function beginsWith(column: RawBuilder<unknown>, beginning: string): RawBuilder<unknown> {
  return sql`(${column} >= ${beginning} and ${column} < ${`${beginning}g`})`;
}

/** Which reports of artifacts; undefined matches all. */
export interface ArtifactPlace {
  flow_id: string;
  /** Name of the trail. */
  trail: string | undefined;
  /** Any attestation of the trail. */
  attestation_id: string | undefined;
}

function onTrail(orgId: string, { flow_id, trail, attestation_id }: ArtifactPlace): RawBuilder<unknown> {
  const found = [sql`a.org_id = ${orgId} and a.flow_id = ${flow_id}`];
  if (trail !== undefined)
    found.push(sql`a.trail_id = (
      select id from trails where org_id = ${orgId} and flow_id = ${flow_id} and name = ${trail})`);
  if (attestation_id !== undefined)
    found.push(sql`a.trail_id = (
      select trail_id from attestations where org_id = ${orgId} and id = ${attestation_id})`);
  return sql.join(found, sql` and `);
}

/** The newest report of an artifact with this fingerprint, or beginning of one; undefined when there is none. */
export async function findArtifact(
  db: Executor,
  orgId: string,
  fingerprint: string,
  place: ArtifactPlace,
): Promise<ReadArtifactRow | undefined> {
  const { rows } = await inFull(sql`
    select * from artifacts a
    where ${onTrail(orgId, place)} and ${beginsWith(sql`a.fingerprint`, fingerprint)}
    order by a.id desc limit 1`).execute(db);
  return rows[0];
}

/** The newest report of each artifact built from this commit, or beginning of one; newest first. */
export async function listArtifactsOfCommit(
  db: Executor,
  orgId: string,
  { commit, limit, ...place }: ArtifactPlace & { commit: string; limit: number },
): Promise<ReadArtifactRow[]> {
  const { rows } = await inFull(sql`
    select * from (
      select distinct on (a.fingerprint) * from artifacts a
      where ${onTrail(orgId, place)} and ${beginsWith(sql`a.git_commit`, commit)}
      order by a.fingerprint, a.id desc
    ) a order by a.id desc limit ${limit}`).execute(db);
  return rows;
}

/** Which artifacts a list has; undefined matches all. Artifacts of archived flows are in it only if it is of their flow. */
export interface ArtifactFilter {
  flow_id: string | undefined;
  repo_ids: readonly string[] | undefined;
}

function matches(alias: string, orgId: string, { flow_id, repo_ids }: ArtifactFilter): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  const found = [
    flow_id === undefined
      ? sql`${column("flow_id")} not in (select id from flows where org_id = ${orgId} and archived_at is not null)`
      : sql`${column("flow_id")} = ${flow_id}`,
  ];
  // Reports of one repo can be read in their order.
  if (repo_ids?.length === 1) found.push(sql`${column("repo_id")} = ${repo_ids[0]}`);
  else if (repo_ids !== undefined) found.push(sql`${column("repo_id")} = any (${repo_ids}::uuid[])`);
  return sql.join(found, sql` and `);
}

/**
 * A page of artifacts, each once in its flow, by its newest report; newest first. Whether a report is the newest is asked of
 * each one on the way, not of all before, as the planner would be free to do with "not exists"; and "offset 0" has all
 * reports of the fingerprint looked up by it, and not those of the flow or the repo read in order until one fits.
 */
export async function listArtifacts(
  db: Executor,
  orgId: string,
  filter: ArtifactFilter,
  page: { limit: number; offset: number },
): Promise<ReadArtifactRow[]> {
  const { rows } = await inFull(sql`
    select * from artifacts a
    where a.org_id = ${orgId} and ${matches("a", orgId, filter)} and a.id = (
      select newest.id from (
        select id, flow_id, repo_id from artifacts where org_id = ${orgId} and fingerprint = a.fingerprint offset 0
      ) newest
      where newest.flow_id = a.flow_id and ${matches("newest", orgId, filter)}
      order by newest.id desc limit 1)
    order by a.id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`).execute(db);
  return rows;
}

/** What evidence shows of an attestation, beside what verdicts rest on. */
export interface EvidenceRow {
  attestation_id: string;
  description: string | null;
  origin_url: string | null;
  /** SHA-256 of the file that came with it. */
  file_sha256: string | null;
}

/** Attestations by their ids, as evidence. */
export async function listEvidence(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<EvidenceRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<EvidenceRow>`/* artifact-evidence */
    select a.id as attestation_id, a.description, a.origin_url, e.sha256 as file_sha256
    from attestations a left join evidence e on e.org_id = a.org_id and e.id = a.evidence_id
    where a.org_id = ${orgId} and a.id = any (${ids}::uuid[])`.execute(db);
  return rows;
}

/** Something that was reported of an artifact: the artifact itself, or an attestation. */
export interface HistoryRow {
  fingerprint: string;
  occurred_at: Timestamp;
  /** Template name of the artifact. */
  artifact_name: string;
  /** Null for the artifact itself, as the type is. */
  attestation_name: string | null;
  attestation_type: string | null;
  is_override: boolean;
}

/** Everything that was reported of artifacts in a flow, or on one of its trails, those waiting for them included; oldest first. */
export async function listHistory(
  db: Executor,
  orgId: string,
  { fingerprints, ...place }: ArtifactPlace & { fingerprints: readonly string[] },
): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    with reports as materialized (
      select a.* from artifacts a
      where ${onTrail(orgId, place)} and a.fingerprint = any (${fingerprints}::text[])
    )
    select fingerprint, occurred_at, artifact_name, attestation_name, attestation_type, is_override from (
      select r.fingerprint, r.created_at as occurred_at, r.id, r.template_reference_name as artifact_name,
        null as attestation_name, null as attestation_type, false as is_override
      from reports r
      union
      select a.artifact_fingerprint, a.created_at, a.id, a.target_artifacts[1], a.name, a.type, a.is_override
      from attestations a
      where ${onTrail(orgId, place)} and a.artifact_fingerprint = any (${fingerprints}::text[])
      union
      select r.fingerprint, a.created_at, a.id, r.template_reference_name, a.name, a.type, a.is_override
      from reports r join attestations a on a.org_id = r.org_id and a.trail_id = r.trail_id
        and a.artifact_fingerprint is null and r.template_reference_name = any (a.target_artifacts)
        and a.git_commit = r.git_commit
    ) e order by occurred_at, id`.execute(db);
  return rows;
}
