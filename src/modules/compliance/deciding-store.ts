import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import type { ArtifactReport, AttestationReport } from "../../domain/compliance/model.ts";
import { artifactList, attestationList, type TrailCase } from "./store.ts";

/** What decides on a trail, and whether anybody wants to be notified of it. */
export interface DecidingCase extends TrailCase {
  name: string;
  flow_id: string;
  /** Of the verdict that is kept; null when none is, or one from before this was kept. */
  own_digest: string | null;
  /** Name of the flow if an action watches it; else null. */
  watched_flow: string | null;
}

/** What is told of the trail `t`. */
function trailColumns(orgId: string) {
  return sql`t.id as trail_id, t.name, t.flow_id, t.template, t.template_id, t.last_modified_at, kept.evaluated_at,
    kept.own_digest, case when exists (
      select from action_flows w where w.org_id = ${orgId} and w.flow_id = t.flow_id
    ) then (select f.name from flows f where f.org_id = ${orgId} and f.id = t.flow_id) end as watched_flow`;
}

/** The trails of these ids as `t`, with what is kept of the verdict on each. */
function askedTrails(orgId: string, trailIds: readonly string[]) {
  return sql`
    -- Not the parameter itself: its length would count in the plan, which would be made each time.
    from unnest((select ${trailIds}::uuid[])) as asked (id)
    cross join lateral (
      select t.id, t.name, t.flow_id, t.template, t.template_id, t.last_modified_at from trails t
      where t.org_id = ${orgId} and t.id = asked.id limit 1) t
    left join lateral (
      select c.evaluated_at, c.own_digest from trail_compliance c
      where c.org_id = ${orgId} and c.trail_id = t.id limit 1) kept on true`;
}

/** Artifacts or attestations of a trail up to which reading all of them costs less than finding those that decide. */
const few = 100;

/** The cases of trails with everything reported on them, or with more than a few reports of each sort. */
async function listBriefCases(tx: Tx, orgId: string, trailIds: readonly string[]): Promise<DecidingCase[]> {
  const { rows } = await sql<DecidingCase>`/* brief-cases */
    select ${trailColumns(orgId)}, (
      select ${artifactList}
      from (select * from artifacts where org_id = ${orgId} and trail_id = t.id limit ${sql.lit(few + 1)}) a
    ) as artifacts, (
      select ${attestationList}
      from (select * from attestations where org_id = ${orgId} and trail_id = t.id limit ${sql.lit(few + 1)}) a
    ) as attestations
    ${askedTrails(orgId, trailIds)}`.execute(tx);
  return rows;
}

/**
 * What trails are judged by, at a cost that does not grow with what was reported on them: one statement, and a second
 * one when there are trails with many reports. Nobody else must be writing to these trails.
 */
export async function listCases(tx: Tx, orgId: string, trailIds: readonly string[]): Promise<DecidingCase[]> {
  const brief = await listBriefCases(tx, orgId, trailIds);
  const long = brief.filter(
    ({ artifacts, attestations }) => Math.max(artifacts.length, attestations.length) > few,
  );
  if (long.length === 0) return brief;
  const ids = long.map(({ trail_id }) => trail_id);
  const cases = new Map((await listDecidingCases(tx, orgId, ids)).map((one) => [one.trail_id, one] as const));
  return brief.map((one) => cases.get(one.trail_id) ?? one);
}

/** Ids of the first and the last artifact of each name on the trail `t`, found name by name in the index. */
function artifactEnds(orgId: string) {
  const ofTrail = sql`a.org_id = ${orgId} and a.trail_id = t.id`;
  return sql`
    with recursive names as (
      (select a.template_reference_name as name from artifacts a where ${ofTrail}
        order by a.template_reference_name limit 1)
      union all
      select (select a.template_reference_name from artifacts a
        where ${ofTrail} and a.template_reference_name > n.name order by a.template_reference_name limit 1)
      from names n where n.name is not null)
    select n.name, f.id as first_id, l.id as latest_id, l.fingerprint, l.git_commit
    from names n
    cross join lateral (select a.id from artifacts a
      where ${ofTrail} and a.template_reference_name = n.name order by a.template_reference_name, a.id limit 1) f
    cross join lateral (select a.id, a.fingerprint, a.git_commit from artifacts a
      where ${ofTrail} and a.template_reference_name = n.name
      order by a.template_reference_name desc, a.id desc limit 1) l`;
}

/** Heads that count on the trail `t`, with its artifacts as `ends`. */
function countingHeads(orgId: string) {
  return sql`
    select h.* from attestation_heads h where h.org_id = ${orgId} and h.trail_id = t.id and h.kind in ('trail', 'name')
    union all
    select h.* from (select distinct fingerprint from ends) e
    join attestation_heads h on h.org_id = ${orgId} and h.trail_id = t.id and h.kind = 'fingerprint'
      and h.place = e.fingerprint
    union all
    select h.* from ends e
    join attestation_heads h on h.org_id = ${orgId} and h.trail_id = t.id and h.kind = 'commit'
      and h.place = e.name || '@' || md5(e.git_commit)`;
}

/**
 * JSON of the attestations that decide on the trail `t`: what its `heads` name; and where another type's last report came
 * after an override, the one before the override, which it may have overridden.
 */
function decidingAttestations(orgId: string) {
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
            select from attestation_places(a.artifact_fingerprint, a.target_artifacts, a.git_commit) p
            where p.kind = h.kind and p.place = h.place)
        order by a.name desc, a.id desc limit 1) before
      where o.latest_id is distinct from o.latest_plain_id) i
    join attestations a on a.org_id = ${orgId} and a.id = i.id`;
}

/**
 * The cases of trails without the reports that do not decide on them, in one statement that reads no more of a trail the
 * more was reported on it. Nobody else must be writing to these trails. "offset 0" keeps the planner from reading all
 * of the organization in order of id, which it takes for cheap while it knows little of the tables.
 */
export async function listDecidingCases(
  tx: Tx,
  orgId: string,
  trailIds: readonly string[],
): Promise<DecidingCase[]> {
  const { rows } = await sql<DecidingCase>`/* deciding-cases */
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
      offset 0) c`.execute(tx);
  return rows;
}

/** What decides on one report of an artifact, whether or not another artifact has taken its name since. */
export interface ArtifactCase {
  template: string;
  artifact: ArtifactReport;
  attestations: AttestationReport[];
}

interface ArtifactCaseRow extends Omit<ArtifactCase, "template"> {
  digest: string;
  /** In the first row of each digest. */
  template: string | null;
}

/** Heads that count for the artifact `a` and on its trail `t`. */
function headsOfArtifact(orgId: string) {
  const ofTrail = sql`h.org_id = ${orgId} and h.trail_id = t.id`;
  return sql`
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'trail'
    union all
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'fingerprint' and h.place = a.fingerprint
    union all
    select h.* from attestation_heads h where ${ofTrail} and h.kind = 'commit'
      and h.place = a.template_reference_name || '@' || md5(a.git_commit)`;
}

/** What decides on artifacts, by their ids and in that order: one statement. A template they share is sent once. */
export async function listArtifactCases(
  db: Executor,
  orgId: string,
  artifactIds: readonly string[],
): Promise<ArtifactCase[]> {
  const { rows } = await sql<ArtifactCaseRow>`/* artifact-cases */
    with cases as (
      select asked.position, md5(t.template) as digest, t.template, json_build_object('artifact_id', a.id,
        'template_reference_name', a.template_reference_name, 'fingerprint', a.fingerprint,
        'git_commit', a.git_commit, 'reported_at', epoch(a.created_at)) as artifact, c.attestations
      from unnest(${artifactIds}::uuid[]) with ordinality as asked (id, position)
      cross join lateral (select * from artifacts where org_id = ${orgId} and id = asked.id limit 1) a
      cross join lateral (
        select t.id, t.template from trails t where t.org_id = ${orgId} and t.id = a.trail_id limit 1) t
      cross join lateral (
        with heads as materialized (${headsOfArtifact(orgId)})
        select (${decidingAttestations(orgId)}) as attestations offset 0) c)
    select digest, artifact, attestations,
      case when row_number() over (partition by digest order by position) = 1 then template end as template
    from cases order by position`.execute(db);
  const templates = new Map<string, string>();
  for (const { digest, template } of rows) if (template !== null) templates.set(digest, template);
  return rows.map(({ digest, artifact, attestations }) => ({
    template: templates.get(digest)!,
    artifact,
    attestations,
  }));
}
