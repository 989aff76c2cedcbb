import { type RawBuilder, sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { KeptVerdict } from "../../domain/compliance/model.ts";
import type { WantedAttestations } from "../../domain/policy/evaluation/rules.ts";
import { type FlowFact, longestFacts } from "../../domain/snapshot/provenance.ts";

/**
 * SQL for the rows of `artifacts` that count at run time: of each fingerprint, in each flow, the latest report, with the
 * first one's id as `first_id`. "offset 0" and lateral joins keep the planner from reading all of the organization,
 * which it takes for cheap while it knows little of the tables.
 */
function knownArtifacts(orgId: string, fingerprints: readonly string[]): RawBuilder<unknown> {
  return sql`unnest(${fingerprints}::text[]) as asked (fingerprint)
    cross join lateral (
      select distinct on (a.flow_id) a.*, first_value(a.id) over (partition by a.flow_id order by a.id) as first_id
      from (
        select id, flow_id, trail_id, fingerprint, template_reference_name, git_commit, commit_url, build_url,
          git_commit_info, repo_id
        from artifacts where org_id = ${orgId}::uuid and fingerprint = asked.fingerprint offset 0) a
      order by a.flow_id, a.id desc
    ) as known
    cross join lateral (
      select name, tags, xmin from flows where org_id = ${orgId}::uuid and id = known.flow_id limit 1) f
    left join lateral (
      select own_state, artifact_states, xmin from trail_compliance
      where org_id = ${orgId}::uuid and trail_id = known.trail_id limit 1) c on true`;
}

/**
 * SQL for what flows know of the fingerprint that `fingerprint` names, as a text: the `factsText` of what `listFacts` finds.
 * Whatever is reported on a trail writes its verdict again, so the version of that row stands for all of it.
 */
export function presentFacts(orgId: string, fingerprint: RawBuilder<unknown>): RawBuilder<string> {
  // Many reports cost little but this, so it carries along as little as it can.
  return sql<string>`(
    select case when length(known.text) > ${sql.lit(longestFacts)} then encode(sha256(convert_to(known.text, 'UTF8')), 'hex')
      else coalesce(known.text, '') end
    from (
      select string_agg(${factVersion(sql`a.id`)}, ',' order by a.first_id) as text
      from (
        select distinct on (a.flow_id) a.flow_id, a.id, a.trail_id,
          first_value(a.id) over (partition by a.flow_id order by a.id) as first_id
        from (
          select id, flow_id, trail_id from artifacts
          where org_id = ${orgId}::uuid and fingerprint = ${fingerprint} offset 0) a
        order by a.flow_id, a.id desc
      ) a
      cross join lateral (select xmin from flows where org_id = ${orgId}::uuid and id = a.flow_id limit 1) f
      left join lateral (
        select xmin from trail_compliance where org_id = ${orgId}::uuid and trail_id = a.trail_id limit 1) c on true
    ) known)`;
}

/** SQL for the version of what the flow `f` knows by an artifact on a trail with the verdict `c`. */
function factVersion(artifactId: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`concat_ws(' ', ${artifactId}, coalesce(c.xmin::text, ''), f.xmin::text)`;
}

/** What a flow knows of a fingerprint, with the verdicts of the trail it was reported on, where there are any. */
export type FlowFactRow = Omit<FlowFact, "compliance_state"> & KeptVerdict;

/** SQL for a text where it is one of these, else null. */
function among(column: RawBuilder<unknown>, texts: readonly string[]): RawBuilder<unknown> {
  return sql`case when ${column} = any(${texts}::text[]) then ${column} end`;
}

/**
 * Attestations that count for an artifact on its trail, in the order of their reports: of those that no rule tells apart the
 * last one. A trail may have very many, and each artifact on it has those of the trail.
 */
function attestationsOf(
  orgId: string,
  { names, types, told_by: { types: allTypes, controls } }: WantedAttestations,
): RawBuilder<unknown> {
  return sql`(
    select coalesce(json_agg(json_build_object('name', last.name, 'type', last.type, 'is_compliant', last.is_compliant,
      'control', last.control_identifier) order by last.id), '[]')
    from (
    select distinct on (1, 2, 3) ${among(sql`a.name`, names)} as told_name, ${among(sql`a.type`, allTypes)} as told_type,
      ${among(sql`a.control_identifier`, controls)} as told_control, a.id, a.name, a.type, a.is_compliant,
      a.control_identifier
    from (select * from attestations where org_id = ${orgId}::uuid and trail_id = known.trail_id
      and (name = any(${names}::text[]) or type = any(${types}::text[])) offset 0) a
    where case when a.artifact_fingerprint is not null then a.artifact_fingerprint = known.fingerprint
      when cardinality(a.target_artifacts) > 0
        then known.template_reference_name = any(a.target_artifacts) and a.git_commit = known.git_commit
      else true end
    order by 1, 2, 3, a.id desc) last)`;
}

/**
 * What every flow that knows one of these fingerprints knows of it, by its latest report there: one statement. In order
 * of fingerprints; the flow that knew it first comes first.
 * @param wanted which attestations; policies alone ask for them.
 * @param limit the most rows that are answered; null for all.
 */
export async function listFacts(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
  wanted: WantedAttestations | "none",
  limit: number | null = null,
): Promise<FlowFactRow[]> {
  const attestations = wanted === "none" ? sql`'[]'::json` : attestationsOf(orgId, wanted);
  // Two statements, so two names.
  const name = sql.raw(`/* ${wanted === "none" ? "runtime-facts" : "runtime-facts-wanted"} */`);
  const { rows } = await sql<FlowFactRow>`${name}
    select known.fingerprint, known.id as artifact_id, known.flow_id, f.name as flow_name, known.trail_id,
      t.name as trail_name, f.tags, known.template_reference_name, known.git_commit, known.commit_url, known.build_url,
      known.git_commit_info, known.repo_id, c.own_state as trail_state,
      c.artifact_states -> known.template_reference_name as artifact_row,
      ${factVersion(sql`known.id`)} as version, ${attestations} as attestations
    from ${knownArtifacts(orgId, fingerprints)}
    cross join lateral (
      select name from trails where org_id = ${orgId}::uuid and id = known.trail_id limit 1) t
    order by known.fingerprint, known.first_id limit ${limit}::bigint`.execute(db);
  return rows;
}

/** How many flows know each of these fingerprints; those that none knows are missing. One statement. */
export async function countFlows(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ fingerprint: string; flows: number }>`/* runtime-facts-counted */
    select asked.fingerprint, known.flows from unnest(${fingerprints}::text[]) as asked (fingerprint)
    cross join lateral (
      select count(distinct flow_id)::integer as flows from artifacts
      where org_id = ${orgId}::uuid and fingerprint = asked.fingerprint) known
    where known.flows > 0`.execute(db);
  return new Map(rows.map(({ fingerprint, flows }) => [fingerprint, flows]));
}
