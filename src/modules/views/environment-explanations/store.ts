import type { Database, Executor } from "../../../db/connect.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
  uuid,
} from "../../../db/row.ts";
import { constant, moment, param, query, sql } from "../../../db/sql.ts";
import { environmentTypes } from "../../../domain/environments.ts";
import type { Evidence } from "../../../domain/snapshot/explain.ts";
import type { SnapshotFlow } from "../../../domain/snapshot/provenance.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { groupBy } from "../../../lib/group.ts";
import { isDecision, withControls } from "../../process/compliance/control-sql.ts";
import { countsInPlace, placesOfArtifact } from "../../process/compliance/places-sql.ts";
import { documentOfVersion, flowsOfVersion } from "../../runtime/snapshots/document-sql.ts";
import type { SnapshotKey } from "../../runtime/snapshots/read/store.ts";

/** Which of what ran is to be explained. What is undefined does not matter. */
export interface ArtifactFilter {
  fingerprints?: readonly string[] | undefined;
  /** Only what does not comply. */
  failing: boolean;
}

/** Columns of a snapshot as it was judged, without what was decided on each artifact. */
const judgedSnapshot = {
  timestamp,
  compliant: nullable(boolean),
  type: oneOf(environmentTypes),
  /** Those applied, with the number of artifacts that do not meet them. */
  policies: json<{ name: string; version: number; failing_artifacts: number }[]>(),
  /** How many artifacts ran. */
  artifacts: integer,
  /** How many of them did not comply. */
  failing: integer,
  /** The versions of those asked for, in the order in which they are shown. */
  chosen: json<number[]>(),
};

export type JudgedSnapshot = RowOf<typeof judgedSnapshot>;

/** Reads a snapshot that exists, with which of its artifacts are asked for. */
export function getJudgedSnapshot(
  db: Executor,
  orgId: string,
  { environment_id, index }: SnapshotKey,
  { fingerprints, failing }: ArtifactFilter,
): Promise<JudgedSnapshot> {
  const wanted = param(fingerprints ?? null);
  return db.one(query(judgedSnapshot)`
    select s.created_at as timestamp, s.compliant, s.type, ran.*, (
      select coalesce(json_agg(json_build_object('name', policy ->> 'name', 'version', policy -> 'version',
        'failing_artifacts', json_array_length(coalesce(s.failing_versions -> (place - 1)::integer, policy -> 'failing_artifacts')))
        order by place), '[]')
      from json_array_elements(s.applied_policies) with ordinality as applied (policy, place)) as policies
    from snapshots s
    cross join lateral (
      select count(*) as artifacts, count(*) filter (where a.compliant = false) as failing,
        coalesce(json_agg(a.id order by shown.position) filter (where
          (not ${failing}::boolean or a.compliant = false)
          and (${wanted}::text[] is null or a.fingerprint = any(${wanted}::text[]))), '[]')
          as chosen
      from unnest(s.artifacts) with ordinality as shown (id, position)
      cross join lateral (
        select id, type, compliant, fingerprint from snapshot_artifacts
        where org_id = ${orgId}::uuid and environment_id = ${environment_id}::uuid and id = shown.id limit 1) a
      where a.type <> 'exited') ran
    where s.org_id = ${orgId}::uuid and s.environment_id = ${environment_id}::uuid and s.index = ${index}::integer`);
}

/** Columns of what ran, as a snapshot recorded it. */
const recorded = {
  name: text,
  fingerprint: text,
  compliant: nullable(boolean),
  doc: text,
  decisions_digest: text,
  flows: json<SnapshotFlow[]>(),
};

export type RecordedRow = RowOf<typeof recorded>;

/** Artifacts read at a time: so many, and of so many bytes, the first one whatever it weighs. */
const slice = { rows: 16, bytes: 128 * 1024 };

/** Lists versions of artifacts by their ids, some at a time: nothing that is read of them ever changes. */
export async function* listRecorded(
  db: Database,
  orgId: string,
  environmentId: string,
  ids: readonly number[],
): AsyncGenerator<RecordedRow[]> {
  const document = documentOfVersion(param(orgId));
  for (let from = 0; from < ids.length;) {
    const asked = ids.slice(from, from + slice.rows);
    const statement = query("explained-artifacts", recorded)`
    select name, fingerprint, compliant, doc, decisions_digest, flows from (
      select *, sum(octet_length(doc)) over (order by position) as bytes from (
        select a.name, a.fingerprint, a.compliant, ${document} as doc, a.decisions_digest,
          ${flowsOfVersion(param(orgId))} as flows, asked.position
        from unnest((select ${asked}::bigint[])) with ordinality as asked (id, position)
        cross join lateral (
          select * from snapshot_artifacts
          where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and id = asked.id limit 1) a
        offset 0) one
    ) shown
    where position = 1 or bytes <= ${constant(slice.bytes)}
    order by position`;
    const rows = await db.sliced(() => db.all(statement));
    yield rows;
    from += rows.length;
  }
}

/** An artifact on its trail in a flow. */
interface EvidencePlace {
  trail_id: string;
  fingerprint: string;
  template_reference_name: string;
  git_commit: string | null;
  git_commit_info: { sha1: string } | null;
}

/** Columns of an attestation that may decide on a rule. */
const evidence = {
  /** Which of the places asked about, from 0. */
  place: integer,
  attestation_id: uuid,
  name: text,
  type: text,
  is_compliant: boolean,
  is_override: boolean,
  control: nullable(text),
  reported_at: timestamp,
};

/**
 * Lists the attestations that may decide on rules about artifacts on their trails, by the place in the list asked about,
 * in order: of each name, type and control the last one until a moment and the last one of all. Most are known from the
 * heads of the trail; the others are looked for among those of the same name.
 */
export async function listEvidence(
  db: Database,
  orgId: string,
  places: readonly EvidencePlace[],
  at: Timestamp,
): Promise<Map<number, Evidence[]>> {
  const asked = JSON.stringify(places.map((each, place) => ({ ...each, place })));
  const org = param(orgId);
  const statement = query("explained-evidence", evidence)`
    select p.place, a.id as attestation_id, a.name, a.type, a.is_compliant, a.is_override,
      a.control, a.created_at as reported_at
    from json_to_recordset(${asked}::json) as p (place integer, trail_id uuid, fingerprint text,
      template_reference_name text, git_commit text, git_commit_info json)
    cross join (select ${moment(at)} as at) until
    cross join lateral ${placesOfArtifact("p")} as counting (kind, place)
    cross join lateral (
      select * from attestation_heads
      where org_id = ${org}::uuid and trail_id = p.trail_id and kind = counting.kind and place = counting.place
      offset 0) h
    cross join lateral (
      select * from attestations where org_id = ${org}::uuid and id = h.latest_id limit 1) latest
    cross join lateral (
      select latest.id, latest.name, latest.type, latest.is_compliant, latest.is_override, null as control, latest.created_at
      where latest.created_at <= until.at and latest.control_identifier is null
        and not (${isDecision("latest")})
      union all (
        select distinct on (told.control, told.created_at <= until.at) told.id, told.name, told.type, told.is_compliant,
          told.is_override, told.control, told.created_at
        from ${withControls(
          sql`(
          select * from attestations
          where (latest.created_at > until.at or latest.control_identifier is not null
              or ${isDecision("latest")})
            and org_id = ${org}::uuid and trail_id = p.trail_id and name = h.name and type = h.type)`,
          "p",
        )} told
        where ${countsInPlace("h.kind", "told", "p")}
        order by told.control, told.created_at <= until.at, told.id desc)
    ) a
    order by p.place, a.id`;
  return groupBy(await db.sliced(() => db.all(statement)), ({ place }) => place);
}

/** Lists what the members of a logical environment are worth now, in their order. */
export function listMemberStates(
  db: Executor,
  orgId: string,
  environmentId: string,
): Promise<{ name: string; state: boolean | null }[]> {
  return db.all(query({ name: text, state: nullable(boolean) })`
    select e.name, e.state from environment_members as m
    join environments as e on e.org_id = m.org_id and e.id = m.member_id
    where m.org_id = ${orgId} and m.logical_id = ${environmentId} order by m.position`);
}
