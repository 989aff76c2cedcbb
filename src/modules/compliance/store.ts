import { type RawBuilder, sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { later } from "../../db/transaction.ts";
import type { ComplianceState, KeptVerdict, TrailReports } from "../../domain/compliance/model.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** Everything that decides on a trail. */
export interface TrailCase extends TrailReports {
  trail_id: string;
  template: string;
  template_id: string;
  last_modified_at: Timestamp;
  /** When the verdict that is kept was reached. Null when none is, or one from before this was kept. */
  evaluated_at: Timestamp | null;
}

/** The artifacts `a` of a case as JSON, in the order of their reports. */
export const artifactList = sql`coalesce(json_agg(json_build_object('artifact_id', a.id, 'template_reference_name',
  a.template_reference_name, 'fingerprint', a.fingerprint, 'git_commit', a.git_commit,
  'reported_at', epoch(a.created_at)) order by a.id), '[]')`;

/** The attestations `a` of a case as JSON, in the order of their reports. */
export const attestationList = sql`coalesce(json_agg(json_build_object('attestation_id', a.id, 'name', a.name, 'type', a.type,
  'is_compliant', a.is_compliant, 'is_override', a.is_override, 'artifact_fingerprint', a.artifact_fingerprint,
  'target_artifacts', a.target_artifacts, 'git_commit', a.git_commit,
  'reported_at', epoch(a.created_at)) order by a.id), '[]')`;

/**
 * The cases of trails, in one statement. To keep a verdict on them nobody else must be writing to them. "offset 0" keeps
 * the planner from reading all of the organization in order of id, which it takes for cheap while it knows little of the
 * tables.
 */
export async function listTrailCases(
  db: Executor,
  orgId: string,
  trailIds: readonly string[],
): Promise<TrailCase[]> {
  const { rows } = await sql<TrailCase>`/* trail-cases */
    select t.id as trail_id, t.template, t.template_id, t.last_modified_at, (
      select c.evaluated_at from trail_compliance c where c.org_id = ${orgId} and c.trail_id = t.id
    ) as evaluated_at, (
      select ${artifactList}
      from (select * from artifacts where org_id = ${orgId} and trail_id = t.id offset 0) a
    ) as artifacts, (
      select ${attestationList}
      from (select * from attestations where org_id = ${orgId} and trail_id = t.id offset 0) a
    ) as attestations
    from unnest(${trailIds}::uuid[]) as asked (id)
    cross join lateral (
      select t.id, t.template, t.template_id, t.last_modified_at from trails t
      where t.org_id = ${orgId} and t.id = asked.id limit 1) t`.execute(db);
  return rows;
}

/** A verdict ready to be kept. */
export interface Verdict {
  trail_id: string;
  state: ComplianceState;
  /** Of the trail's own attestations. */
  own_state: ComplianceState;
  /** Of the artifacts, by template name. */
  artifact_states: Record<string, KeptVerdict["artifact_row"]>;
  /** JSON text of what reads show. */
  status: string;
  /** When the trail itself was last judged anew. */
  evaluated_at: Timestamp;
  /** Of what the verdict says of the trail itself. */
  own_digest: string;
}

/** Where the latest of some artifacts of a flow comes from. */
export interface FlowOrigin {
  flow_id: string;
  artifact_id: string;
  repo_id: string | null;
  /** Given with the artifact, in place of its repo's. */
  repo_url: string | null;
}

const laterTrail = sql`(excluded.last_modified_at, excluded.trail_id) >= (known.last_modified_at, known.trail_id)`;
const laterArtifact = sql`coalesce(excluded.artifact_id > known.artifact_id, excluded.artifact_id is not null)`;

/** Takes over some columns of a flow's activity when `condition` holds. */
function columnsIf(condition: RawBuilder<unknown>, columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(
    columns.map((name) => {
      const column = sql.raw(name);
      return sql`${column} = case when ${condition} then excluded.${column} else known.${column} end`;
    }),
  );
}

/**
 * Keeps verdicts in place of those that trails had, and notes which trail of each flow was last reported to, and its
 * latest artifact if it is among `origins`, in one statement. Rows are locked in order, so that writers of several
 * trails do not deadlock, and before the organization's counter, which every write takes last.
 */
export function putVerdicts(
  tx: Tx,
  orgId: string,
  verdicts: readonly Verdict[],
  origins: readonly FlowOrigin[],
): void {
  later(
    tx,
    sql`/* put-verdicts */
    with verdicts as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(verdicts)}::jsonb) 
        as v (trail_id uuid, state text, own_state text, artifact_states jsonb, status text, evaluated_at float8,
          own_digest text)
    ), kept as (
      insert into trail_compliance (org_id, trail_id, state, own_state, artifact_states, status, evaluated_at, own_digest)
      select ${orgId}, v.trail_id, v.state, v.own_state, v.artifact_states, v.status::json, to_timestamp(v.evaluated_at),
        v.own_digest
      from verdicts v
      order by v.trail_id
      on conflict (org_id, trail_id) do update
      set state = excluded.state, own_state = excluded.own_state, artifact_states = excluded.artifact_states,
        status = excluded.status, evaluated_at = excluded.evaluated_at, own_digest = excluded.own_digest
    )
    insert into flow_activity as known (org_id, flow_id, trail_id, last_modified_at, state, active_minute, json,
      artifact_id, repo_id, repo_url)
    select distinct on (t.flow_id) ${orgId}::uuid, t.flow_id, t.id, t.last_modified_at, v.state,
      date_trunc('minute', t.last_modified_at at time zone 'UTC'),
      epoch(t.last_modified_at)::text || ',"latest_state":"' || v.state || '"}',
      o.artifact_id, o.repo_id, o.repo_url
    from verdicts v cross join lateral (
      select t.id, t.flow_id, t.last_modified_at from trails t
      where t.org_id = ${orgId} and t.id = v.trail_id limit 1) t
    left join jsonb_to_recordset(${JSON.stringify(origins)}::jsonb)
      as o (flow_id uuid, artifact_id uuid, repo_id uuid, repo_url text) on o.flow_id = t.flow_id
    order by t.flow_id, t.last_modified_at desc, t.id desc
    on conflict (org_id, flow_id) do update
    set ${columnsIf(laterTrail, ["trail_id", "last_modified_at", "state", "active_minute", "json"])},
      ${columnsIf(laterArtifact, ["artifact_id", "repo_id", "repo_url"])}
    where ${laterTrail} or ${laterArtifact}`,
  );
}
