import type { Database, Executor } from "../../../db/connect.ts";
import {
  begunBy,
  type BegunPage,
  begunPage,
  idsAtFirst,
  mostBytes,
  weighed,
  wholePage,
} from "../../../db/heavy-page.ts";
import { boolean, integer, json, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import {
  constant,
  empty,
  identifier,
  join,
  param,
  query,
  raw,
  type Sql,
  sql,
  uuidList,
} from "../../../db/sql.ts";
import { hasValue } from "../../../db/value-number.ts";
import { groupBy } from "../../../lib/group.ts";
import type { PageSlice } from "../../../lib/paging.ts";
import { commitPlace, isMadeFor } from "../compliance/places-sql.ts";
import { bytesOfRepo } from "../repos/bytes-sql.ts";
import { largeColumns } from "./columns-sql.ts";

const readArtifact = {
  id: uuid,
  flow_id: uuid,
  flow_name: text,
  flow_tags: json<Record<string, string>>(),
  trail_id: uuid,
  trail_name: text,
  template_reference_name: text,
  fingerprint: text,
  filename: text,
  description: nullable(text),
  git_commit: nullable(text),
  git_commit_info: nullable(json<unknown>()),
  /** JSON text of the repo as it is known today. Its `id` is the provider's. */
  repo_info: nullable(text),
  commit_url: text,
  build_url: text,
  repo_url: nullable(text),
  external_urls: nullable(json<Record<string, { href: string; fingerprint?: string | null }>>()),
  /** JSON text as it was written; so is user data. */
  annotations: nullable(text),
  user_data: nullable(text),
  created_at: timestamp,
  created_by_name: text,
};

/** A report of an artifact as it is read, with what is shown of its flow, trail and repo. */
export type ReadArtifactRow = RowOf<typeof readArtifact>;

/** Selects the reports that `chosen` selects in full, newest first. */
function inFullSql(orgId: string, chosen: Sql, more: Sql): Sql {
  return sql`
    select a.id, a.flow_id, f.name as flow_name, f.tags as flow_tags, a.trail_id, t.name as trail_name,
      a.template_reference_name, a.fingerprint, a.filename, a.description, a.git_commit, a.git_commit_info,
      case when r.id is not null then json_build_object('name', r.name, 'id', r.repo_id, 'url', r.url,
        'description', r.description, 'provider', r.provider, 'namespace_path', r.namespace_path,
        'additional_info', r.additional_info)::text end as repo_info,
      a.commit_url, a.build_url, a.repo_url, a.external_urls, a.annotations::text as annotations,
      a.user_data::text as user_data, a.created_at, a.created_by_name${more}
    from (${chosen}) a
    join flows f on f.org_id = ${orgId} and f.id = a.flow_id
    join trails t on t.org_id = ${orgId} and t.id = a.trail_id
    left join repos r on r.org_id = ${orgId} and r.id = a.repo_id
    order by a.id desc`;
}

const weighedArtifact = { ...readArtifact, ...begunPage };

/** What an attestation that decides on an artifact takes of its answer, in bytes, more or less. */
const evidenceWeight = constant(600);

/** Bytes of what decides on the artifact `page`: many artifacts may share what was attested on their name and commit. */
function evidenceBytes(orgId: string): Sql {
  const count = (kind: Sql, place: Sql): Sql => sql`(
    select count(*) from attestation_heads h
    where h.org_id = ${orgId} and h.trail_id = page.trail_id and h.kind = ${kind} and h.place = ${place})`;
  const onPrint = count(raw("'fingerprint'"), raw("page.fingerprint"));
  return sql`${evidenceWeight} * (${onPrint} + ${count(raw("'commit'"), commitPlace("page"))})`;
}

/** The newest reports of a page, and which others it has. */
export type ArtifactPage = BegunPage<ReadArtifactRow>;

/** Reads the newest of the reports that `chosen` selects in full, as many as are not too much at once. */
async function readPage(db: Executor, orgId: string, chosen: Sql): Promise<ArtifactPage> {
  const rows = sql`(select *, array_agg(id) over () as all_ids from (${chosen}) chosen) page`;
  const columns = largeColumns.map((column) => `${column}::text`);
  const more = sql`${evidenceBytes(orgId)} + ${bytesOfRepo(orgId, raw("page.repo_id"))}`;
  const lightest = sql`
    select *, ${idsAtFirst(raw("all_ids"))}
    from (${weighed(rows, { columns, more, order: "id desc" })}) weighed
    where place = 1 or bytes <= ${constant(mostBytes)}`;
  return begunBy(await db.all(query(weighedArtifact)`${inFullSql(orgId, lightest, sql`, a.ids`)}`));
}

/** Reads all of a page, of which the first part has been read. */
export function listWholePage(
  db: Database,
  orgId: string,
  first: ArtifactPage,
): AsyncGenerator<ReadArtifactRow[]> {
  return wholePage(db, first, (ids) =>
    readPage(db, orgId, sql`select * from artifacts where org_id = ${orgId} and id = any (${ids}::uuid[])`),
  );
}

/** Whether a column begins like this: hexadecimal digits sort before "g", so the range holds exactly such texts. */
function beginsWith(column: Sql, beginning: string): Sql {
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

function onTrail(orgId: string, { flow_id, trail, attestation_id }: ArtifactPlace): Sql {
  const found = [sql`a.org_id = ${orgId} and a.flow_id = ${flow_id}`];
  if (trail !== undefined)
    found.push(sql`a.trail_id = (
      select id from trails where org_id = ${orgId} and flow_id = ${flow_id} and name = ${trail})`);
  if (attestation_id !== undefined)
    found.push(sql`a.trail_id = (
      select trail_id from attestations where org_id = ${orgId} and id = ${attestation_id})`);
  return join(found, " and ");
}

/**
 * Finds the newest report of an artifact with this fingerprint, or beginning of one, or the one that has the id; undefined when
 * there is none.
 */
export function findArtifact(
  db: Executor,
  orgId: string,
  { fingerprint, id }: { fingerprint: string; id: string | undefined },
  place: ArtifactPlace,
): Promise<ReadArtifactRow | undefined> {
  const found = [onTrail(orgId, place), beginsWith(sql`a.fingerprint`, fingerprint)];
  if (id !== undefined) found.push(sql`a.id = ${id}`);
  const chosen = sql`
    select * from artifacts a
    where ${join(found, " and ")}
    order by a.id desc limit 1`;
  return db.first(query(readArtifact)`${inFullSql(orgId, chosen, empty)}`);
}

/** Lists the newest report of each artifact built from this commit, or beginning of one; newest first. */
export function listArtifactsOfCommit(
  db: Executor,
  orgId: string,
  { commit, limit, ...place }: ArtifactPlace & { commit: string; limit: number },
): Promise<ArtifactPage> {
  const chosen = sql`
    select * from (
      select distinct on (a.fingerprint) * from artifacts a
      where ${onTrail(orgId, place)} and ${beginsWith(sql`a.git_commit`, commit)}
      order by a.fingerprint, a.id desc
    ) a order by a.id desc limit ${limit}`;
  return readPage(db, orgId, chosen);
}

/** Which artifacts a list has; undefined matches all. Artifacts of archived flows are in it only if it is of their flow. */
export interface ArtifactFilter {
  flow_id: string | undefined;
  repo_ids: readonly string[] | undefined;
}

function matches(alias: string, orgId: string, { flow_id, repo_ids }: ArtifactFilter): Sql {
  const column = (name: string) => identifier(alias, name);
  const found = [
    flow_id === undefined
      ? sql`${column("flow_id")} not in (select id from flows where org_id = ${orgId} and archived_at is not null)`
      : sql`${column("flow_id")} = ${flow_id}`,
  ];
  // Reports of one repo can be read in their order.
  const [repo_id, ...others] = repo_ids ?? [];
  if (repo_id !== undefined && others.length === 0) found.push(sql`${column("repo_id")} = ${repo_id}`);
  else if (repo_ids !== undefined) found.push(sql`${column("repo_id")} = any (${repo_ids}::uuid[])`);
  return join(found, " and ");
}

/**
 * Lists a page of artifacts, each once in its flow, by its newest report; newest first. Whether a report is the newest is
 * asked of each one on the way, not of all before, as the planner would be free to do with "not exists"; and "offset 0"
 * has the reports of the fingerprint looked up by it, newest first until one fits, and not those of the flow or the repo.
 */
export function listArtifacts(
  db: Executor,
  orgId: string,
  filter: ArtifactFilter,
  page: PageSlice,
): Promise<ArtifactPage> {
  const chosen = sql`
    select * from artifacts a
    where a.org_id = ${orgId} and ${matches("a", orgId, filter)} and a.id = (
      select newest.id from (
        select id, flow_id, repo_id from artifacts where org_id = ${orgId} and fingerprint = a.fingerprint
        order by id desc offset 0
      ) newest
      where newest.flow_id = a.flow_id and ${matches("newest", orgId, filter)} limit 1)
    order by a.id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`;
  return readPage(db, orgId, chosen);
}

const attestationEvidence = {
  attestation_id: uuid,
  /** Null, too, where it is not read, since the texts of all attestations are too much at once; so is the other. */
  description: nullable(text),
  origin_url: nullable(text),
  /** Bytes of texts that are not read. */
  description_left_out: nullable(integer),
  origin_url_left_out: nullable(integer),
  /** SHA-256 of the file that came with it. */
  file_sha256: nullable(text),
};

/** What is shown of an attestation as evidence, beside what verdicts rest on. */
export type EvidenceRow = RowOf<typeof attestationEvidence>;

/** A text of an attestation that may be long. */
export type EvidenceText = "description" | "origin_url";

/** Lists attestations by their ids, as evidence. */
export async function listEvidence(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<EvidenceRow[]> {
  if (ids.length === 0) return [];
  const isRead = sql`bytes_so_far <= ${constant(mostBytes)}`;
  return db.all(query("artifact-evidence", attestationEvidence)`
    select attestation_id, case when ${isRead} then description end as description,
      case when ${isRead} then origin_url end as origin_url,
      case when not ${isRead} then octet_length(description) end as description_left_out,
      case when not ${isRead} then octet_length(origin_url) end as origin_url_left_out, file_sha256
    from (
      select a.id as attestation_id, a.description, a.origin_url, e.sha256 as file_sha256,
        sum(coalesce(octet_length(a.description), 0) + coalesce(octet_length(a.origin_url), 0))
          over (rows unbounded preceding) as bytes_so_far
      from attestations a left join evidence e on e.org_id = a.org_id and e.id = a.evidence_id
      where a.org_id = ${orgId} and a.id = any (${uuidList(ids)}::uuid[])) a`);
}

/** Names a text of an attestation, as `listEvidenceTexts` takes it. */
export function evidenceTextId(attestationId: string, which: EvidenceText): string {
  return which === "description" ? attestationId : `u${attestationId}`;
}

/** Reads texts of attestations, as they stand in JSON. @param ids by `evidenceTextId`. */
export async function listEvidenceTexts(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.all(query("attestation-texts", { id: text, text })`
    select asked.id, coalesce(to_json(case when left(asked.id, 1) = 'u' then a.origin_url else a.description end)::text, 'null') as text
    from unnest(${ids}::text[]) as asked (id)
    join attestations a on a.org_id = ${orgId} and a.id = right(asked.id, 36)::uuid`);
  return new Map(rows.map((row) => [row.id, row.text]));
}

const reported = {
  fingerprint: text,
  occurred_at: timestamp,
  /** Template name of the artifact. */
  artifact_name: text,
  /** Null for the artifact itself, as the type is. */
  attestation_name: nullable(text),
  attestation_type: nullable(text),
  is_override: boolean,
};

/** Something that was reported of an artifact: the artifact itself, or an attestation. */
export type HistoryRow = RowOf<typeof reported>;

/**
 * Lists everything that was reported of artifacts in a flow, or on one of its trails, attestations made before their
 * artifact included; oldest first.
 */
export function listHistory(
  db: Executor,
  orgId: string,
  { fingerprints, ...place }: ArtifactPlace & { fingerprints: readonly string[] },
): Promise<HistoryRow[]> {
  return db.all(query(reported)`
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
      from reports r join attestations a on a.org_id = ${orgId} and a.trail_id = r.trail_id
        and a.artifact_fingerprint is null and ${isMadeFor("a", "r")}
    ) e order by occurred_at, id`);
}

const stay = {
  environment_name: text,
  started_at: timestamp,
  /** Number of the snapshot in which it started. */
  started_in: integer,
  /** Null while it runs, as is the number of the snapshot in which it ended. */
  exited_at: nullable(timestamp),
  exited_in: nullable(integer),
};

/** A time during which an artifact ran in an environment. */
export type Stay = RowOf<typeof stay>;

/**
 * Lists where artifacts run and ran, by fingerprint; oldest first, in environments that are neither archived nor logical.
 * Each start is paired with the exit that follows it in its environment.
 */
export async function listStays(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, readonly Stay[]>> {
  const org = param(orgId);
  const rows = await db.all(query("artifact-stays", { ...stay, fingerprint: text })`
    select s.fingerprint, e.name as environment_name, s.created_at as started_at, s.first_index as started_in,
      exit.created_at as exited_at, s.exited_in
    from (
      -- Backwards, so that the exit nearest after each is the least of those that came before it.
      select fingerprint, environment_id, id, type, created_at, first_index,
        min(first_index) filter (where type = 'exited') over (
          partition by fingerprint, environment_id, name order by first_index desc
          range between unbounded preceding and 1 preceding) as exited_in
      from unnest((select ${fingerprints}::text[])) as asked (print)
      cross join lateral (
        select * from snapshot_artifacts a
        where a.org_id = ${org}::uuid and ${hasValue(org, "a", "fingerprint", sql`asked.print`)}
          and (a.type = 'exited' or a.type like 'started-%')) ran) s
    join environments e on e.org_id = ${org}::uuid and e.id = s.environment_id and e.archived_at is null
      and e.type <> 'logical'
    left join snapshots exit on exit.org_id = ${org}::uuid and exit.environment_id = s.environment_id
      and exit.index = s.exited_in
    where s.type like 'started-%'
    order by s.created_at, s.environment_id, s.id`);
  return groupBy(rows, ({ fingerprint }) => fingerprint);
}
