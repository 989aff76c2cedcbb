import { constant, type Sql, sql } from "../../../../db/sql.ts";
import type { WantedAttestations } from "../../../../domain/policy/evaluation/rules.ts";
import { longestFacts } from "../../../../domain/snapshot/provenance.ts";
import { withControls } from "../../../process/compliance/control-sql.ts";
import { countsForArtifact } from "../../../process/compliance/places-sql.ts";

/**
 * Writes SQL for the rows of `artifacts` that count at run time, as `known`: of each fingerprint, in each flow, the latest
 * report, with the first one's id as `first_id`. Beside them stand the flow as `f` and the verdict on the trail as `c`.
 * "offset 0" and lateral joins keep the planner from reading all of the organization, which it takes for cheap while it
 * knows little of the tables.
 */
export function knownArtifacts(orgId: string, fingerprints: readonly string[]): Sql {
  return sql`unnest((select ${fingerprints}::text[])) as asked (fingerprint)
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
 * Writes SQL for what flows know of the fingerprint that `fingerprint` names, as a text: equal to `factsText` of what
 * `listFacts` finds, which a property test holds. Whatever is reported on a trail writes its verdict again, so the version
 * of that row stands for all of it.
 */
export function presentFacts(orgId: string, fingerprint: Sql): Sql {
  // Many reports cost little but this, so it carries along as little as it can.
  return sql`(
    select case when length(known.text) > ${constant(longestFacts)} then encode(sha256(convert_to(known.text, 'UTF8')), 'hex')
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

/** Writes SQL for the version of what the flow `f` knows by an artifact on a trail with the verdict `c`. */
export function factVersion(artifactId: Sql): Sql {
  return sql`concat_ws(' ', ${artifactId}, coalesce(c.xmin::text, ''), f.xmin::text)`;
}

/** Writes SQL for a text where it is one of these, else null. */
function among(column: Sql, texts: readonly string[]): Sql {
  return sql`case when ${column} = any(${texts}::text[]) then ${column} end`;
}

/**
 * Writes SQL for the attestations that count for the artifact `known` on its trail, in the order of their reports: of those that no
 * rule tells apart the last one. A trail may have very many, and each artifact on it has those of the trail.
 */
export function attestationsOf(
  orgId: string,
  { names, types, told_by: { types: allTypes, controls } }: WantedAttestations,
): Sql {
  const named = sql`(select * from attestations where org_id = ${orgId}::uuid and trail_id = known.trail_id
      and (name = any(${names}::text[]) or type = any(${types}::text[])) offset 0)`;
  // Where no rule asks for a control nobody has to find out whose decisions were overridden.
  const counting =
    controls.length === 0
      ? sql`(
      select a.*, null::text as control from ${named} a where ${countsForArtifact("a", "known")})`
      : withControls(named, "known");
  return sql`(
    select coalesce(json_agg(json_build_object('name', last.name, 'type', last.type, 'is_compliant', last.is_compliant,
      'control', last.control) order by last.id), '[]')
    from (
    select distinct on (1, 2, 3) ${among(sql`a.name`, names)} as told_name, ${among(sql`a.type`, allTypes)} as told_type,
      ${among(sql`a.control`, controls)} as told_control, a.id, a.name, a.type, a.is_compliant, a.control
    from ${counting} a
    order by 1, 2, 3, a.id desc) last)`;
}
