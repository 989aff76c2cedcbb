import type { Executor, Tx } from "../../../db/connect.ts";
import { json, nullable, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { query, type Sql, sql } from "../../../db/sql.ts";
import type { ArtifactReport, AttestationReport } from "../../../domain/compliance/model.ts";
import { present } from "../../../lib/present.ts";
import { artifactList, attestationList, isComplete, someArtifacts, someAttestations } from "./case-sql.ts";
import { commitPlace, placesOfAttestation } from "./places-sql.ts";

const trailCase = {
  trail_id: uuid,
  template: text,
  template_id: uuid,
  last_modified_at: timestamp,
  /** When the stored verdict was reached. Null when none is stored, or one from before this was. */
  evaluated_at: nullable(timestamp),
  artifacts: json<ArtifactReport[]>(),
  attestations: json<AttestationReport[]>(),
};

/** Everything that decides on a trail. */
type TrailCase = RowOf<typeof trailCase>;

const decidingCase = {
  ...trailCase,
  name: text,
  flow_id: uuid,
  /** Digest of the stored verdict. Null when none is stored, or one from before this was. */
  own_digest: nullable(text),
  /** Name of the flow if an action watches it; else null. */
  watched_flow: nullable(text),
};

/** Everything that decides on a trail, what is stored of its verdict, and whether an action watches its flow. */
export type DecidingCase = RowOf<typeof decidingCase>;

// "offset 0" in these statements keeps the planner from reading all of the organization in order of id, which it takes for
// cheap while it knows little of the tables.

/** Lists trails with everything reported on them, in one statement. */
export function listTrailCases(
  db: Executor,
  orgId: string,
  trailIds: readonly string[],
): Promise<TrailCase[]> {
  return db.all(query("trail-cases", trailCase)`
    select t.id as trail_id, t.template, t.template_id, t.last_modified_at, (
      select c.evaluated_at from trail_compliance c where c.org_id = ${orgId} and c.trail_id = t.id
    ) as evaluated_at, (
      select ${artifactList}
      from (select * from artifacts where org_id = ${orgId} and trail_id = t.id offset 0) a
    ) as artifacts, (
      select ${attestationList}
      from (select * from attestations where org_id = ${orgId} and trail_id = t.id offset 0) a
    ) as attestations
    from unnest((select ${trailIds}::uuid[])) as asked (id)
    ${rowById("trails", "t", sql`${orgId}`, "asked.id")}`);
}

/** Columns of the trail `t`, and of its stored verdict `stored`, that judging it needs. */
function trailColumns(orgId: string): Sql {
  return sql`t.id as trail_id, t.name, t.flow_id, t.template, t.template_id, t.last_modified_at, stored.evaluated_at,
    stored.own_digest, case when exists (
      select from action_flows w where w.org_id = ${orgId} and w.flow_id = t.flow_id
    ) then (select f.name from flows f where f.org_id = ${orgId} and f.id = t.flow_id) end as watched_flow`;
}

/** Rows of the trails with these ids as `t`, each with its stored verdict as `stored`. */
function askedTrails(orgId: string, trailIds: readonly string[]): Sql {
  return sql`
    -- Not the parameter itself: its length would count in the plan, which would be made each time.
    from unnest((select ${trailIds}::uuid[])) as asked (id)
    ${rowById("trails", "t", sql`${orgId}`, "asked.id")}
    left join lateral (
      select c.evaluated_at, c.own_digest from trail_compliance c
      where c.org_id = ${orgId} and c.trail_id = t.id limit 1) stored on true`;
}

/** Lists trails with everything reported on them, or with one more than a few reports of each sort. */
function listBriefCases(tx: Tx, orgId: string, trailIds: readonly string[]): Promise<DecidingCase[]> {
  return tx.all(query("brief-cases", decidingCase)`
    select ${trailColumns(orgId)}, ${someArtifacts(orgId)} as artifacts, ${someAttestations(orgId)} as attestations
    ${askedTrails(orgId, trailIds)}`);
}

/**
 * Lists what decides on trails, at a cost that does not grow with what was reported on them: one statement, and a second
 * one when there are trails with many reports. Nobody else must be writing to these trails.
 */
export async function listCases(tx: Tx, orgId: string, trailIds: readonly string[]): Promise<DecidingCase[]> {
  const brief = await listBriefCases(tx, orgId, trailIds);
  const long = brief.filter((one) => !isComplete(one));
  if (long.length === 0) return brief;
  const ids = long.map(({ trail_id }) => trail_id);
  const cases = new Map((await listDecidingCases(tx, orgId, ids)).map((one) => [one.trail_id, one] as const));
  return brief.map((one) => cases.get(one.trail_id) ?? one);
}

/** Ids of the first and the last artifact of each name on the trail `t`, found name by name in the index. */
function artifactEnds(orgId: string): Sql {
  const ofTrail = sql`a.org_id = ${orgId} and a.trail_id = t.id`;
  return sql`
    with recursive names as (
      (select a.template_reference_name as name from artifacts a where ${ofTrail}
        order by a.template_reference_name limit 1)
      union all
      select (select a.template_reference_name from artifacts a
        where ${ofTrail} and a.template_reference_name > n.name order by a.template_reference_name limit 1)
      from names n where n.name is not null)
    select n.name as template_reference_name, f.id as first_id, l.id as latest_id, l.fingerprint, l.git_commit
    from names n
    cross join lateral (select a.id from artifacts a
      where ${ofTrail} and a.template_reference_name = n.name order by a.template_reference_name, a.id limit 1) f
    cross join lateral (select a.id, a.fingerprint, a.git_commit from artifacts a
      where ${ofTrail} and a.template_reference_name = n.name
      order by a.template_reference_name desc, a.id desc limit 1) l`;
}

/** Heads that count on the trail `t`, with its artifacts as `ends`. */
function countingHeads(orgId: string): Sql {
  return sql`
    select h.* from attestation_heads h where h.org_id = ${orgId} and h.trail_id = t.id and h.kind in ('trail', 'name')
    union all
    select h.* from (select distinct fingerprint from ends) e
    join attestation_heads h on h.org_id = ${orgId} and h.trail_id = t.id and h.kind = 'fingerprint'
      and h.place = e.fingerprint
    union all
    select h.* from ends e
    join attestation_heads h on h.org_id = ${orgId} and h.trail_id = t.id and h.kind = 'commit'
      and h.place = ${commitPlace("e")}`;
}

/**
 * JSON of the attestations that decide on the trail `t`: what its `heads` name; and where another type's last report came
 * after an override, the one before the override, which it may have overridden.
 */
function decidingAttestations(orgId: string): Sql {
  return sql`
    select ${attestationList}
    from (
    select first_id as id from heads
    union select latest_id from heads
    union select latest_plain_id from heads
    union select before.id from heads o
      join heads h on h.name = o.name and h.latest_plain_id > o.latest_id
      cross join lateral (
        select a.id from attestations a
        where a.org_id = ${orgId} and a.trail_id = t.id and a.name = h.name and a.type = h.type
          and a.id < o.latest_id and not a.is_override and exists (
            select from ${placesOfAttestation("a")} p where p.kind = h.kind and p.place = h.place)
        order by a.name desc, a.id desc limit 1) before
      where o.latest_id is distinct from o.latest_plain_id) i
    join attestations a on a.org_id = ${orgId} and a.id = i.id`;
}

/**
 * Lists trails without the reports that do not decide on them, in one statement that reads no more of a trail the more was
 * reported on it. Nobody else must be writing to these trails.
 */
export function listDecidingCases(
  tx: Tx,
  orgId: string,
  trailIds: readonly string[],
): Promise<DecidingCase[]> {
  return tx.all(query("deciding-cases", decidingCase)`
    select ${trailColumns(orgId)}, c.artifacts, c.attestations
    ${askedTrails(orgId, trailIds)}
    cross join lateral (
      with ends as materialized (${artifactEnds(orgId)}), heads as materialized (${countingHeads(orgId)})
      select (
        select ${artifactList}
        from (select first_id as id from ends union select latest_id from ends) i
        join artifacts a on a.org_id = ${orgId} and a.id = i.id
      ) as artifacts, (
        ${decidingAttestations(orgId)}
      ) as attestations
      offset 0) c`);
}

const artifactCase = {
  digest: text,
  /** In the first row of each digest. */
  template: nullable(text),
  artifact: json<ArtifactReport>(),
  attestations: json<AttestationReport[]>(),
};

/** What decides on one report of an artifact, whether or not another artifact has taken its name since. */
type ArtifactCase = Omit<RowOf<typeof artifactCase>, "digest" | "template"> & { template: string };

/** Heads that count for the artifact `a` and on its trail `t`. */
function headsOfArtifact(orgId: string): Sql {
  const ofTrail = sql`h.org_id = ${orgId} and h.trail_id = t.id`;
  return sql`
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'trail'
    union all
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'fingerprint' and h.place = a.fingerprint
    union all
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'commit' and h.place = ${commitPlace("a")}`;
}

/** Lists what decides on artifacts, by their ids and in that order: one statement. A template they share is sent once. */
export async function listArtifactCases(
  db: Executor,
  orgId: string,
  artifactIds: readonly string[],
): Promise<ArtifactCase[]> {
  const rows = await db.all(query("artifact-cases", artifactCase)`
    with cases as (
      select asked.position, md5(t.template) as digest, t.template, json_build_object('artifact_id', a.id,
        'template_reference_name', a.template_reference_name, 'fingerprint', a.fingerprint,
        'git_commit', a.git_commit, 'reported_at', epoch(a.created_at)) as artifact, c.attestations
      from unnest((select ${artifactIds}::uuid[])) with ordinality as asked (id, position)
      ${rowById("artifacts", "a", sql`${orgId}`, "asked.id")}
      ${rowById("trails", "t", sql`${orgId}`, "a.trail_id")}
      cross join lateral (
        with heads as materialized (${headsOfArtifact(orgId)})
        select (${decidingAttestations(orgId)}) as attestations offset 0) c)
    select digest, artifact, attestations,
      case when row_number() over (partition by digest order by position) = 1 then template end as template
    from cases order by position`);
  const templates = new Map<string, string>();
  for (const { digest, template } of rows) if (template !== null) templates.set(digest, template);
  return rows.map(({ digest, artifact, attestations }) => ({
    template: present(templates.get(digest), "the first row with a digest has its template"),
    artifact,
    attestations,
  }));
}
