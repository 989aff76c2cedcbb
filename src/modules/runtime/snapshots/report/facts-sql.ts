import { constant, type Sql, sql } from "../../../../db/sql.ts";
import { longestFacts } from "../../../../domain/snapshot/provenance.ts";

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
