import type { Tx } from "../../../db/connect.ts";
import { command, join, raw, type Sql, sql } from "../../../db/sql.ts";
import type { ComplianceState, KeptVerdict } from "../../../domain/compliance/model.ts";
import type { OutcomeNames } from "../../../domain/compliance/outcome.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** A verdict on a trail, ready to be stored. */
export interface Verdict {
  trail_id: string;
  state: ComplianceState;
  /** The state of the trail's own attestations. */
  own_state: ComplianceState;
  /** The states of the artifacts, by template name. */
  artifact_states: Record<string, KeptVerdict["artifact_row"]>;
  /** JSON text of what reads show. */
  status: string;
  /** When the trail itself was last judged anew. */
  evaluated_at: Timestamp;
  /** Digest of what the verdict says of the trail itself. */
  own_digest: string;
  /** When the trail was last reported to. */
  reported_at: Timestamp;
  /** Which attestations were reported, fail and are missing. */
  names: OutcomeNames;
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

/** Sets some columns of a flow's activity to the new values when `condition` holds. */
function columnsIf(condition: Sql, columns: readonly string[]): Sql {
  return join(
    columns.map((name) => {
      const column = raw(name);
      return sql`${column} = case when ${condition} then excluded.${column} else known.${column} end`;
    }),
  );
}

/**
 * Stores verdicts in place of those that trails had, what they come to in short, and notes which trail of each flow was last reported to, and its
 * latest artifact if it is among `origins`, in one statement. Rows are locked in order, so that writers of several
 * trails do not deadlock, and before the organization's counter, which every write takes last.
 */
export function putVerdicts(
  tx: Tx,
  orgId: string,
  verdicts: readonly Verdict[],
  origins: readonly FlowOrigin[],
): void {
  tx.send(command("put-verdicts")`
    with verdicts as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(verdicts)}::jsonb)
        as v (trail_id uuid, state text, own_state text, artifact_states jsonb, status text, evaluated_at float8,
          own_digest text, reported_at float8, names jsonb)
    ), kept as (
      insert into trail_compliance (org_id, trail_id, state, own_state, artifact_states, status, evaluated_at, own_digest)
      select ${orgId}, v.trail_id, v.state, v.own_state, v.artifact_states, v.status::json, to_timestamp(v.evaluated_at),
        v.own_digest
      from verdicts v
      order by v.trail_id
      on conflict (org_id, trail_id) do update
      set state = excluded.state, own_state = excluded.own_state, artifact_states = excluded.artifact_states,
        status = excluded.status, evaluated_at = excluded.evaluated_at, own_digest = excluded.own_digest
    ), outcomes as (
      insert into trail_outcomes as known (org_id, trail_id, state, compliant_since, reported_names, failing_names,
        missing_names)
      select ${orgId}, v.trail_id, v.state, case when v.state = 'COMPLIANT' then to_timestamp(v.reported_at) end,
        n.reported, n.failing, n.missing
      from verdicts v cross join lateral jsonb_to_record(v.names) as n (reported text[], failing text[], missing text[])
      order by v.trail_id
      on conflict (org_id, trail_id) do update
      set state = excluded.state, reported_names = excluded.reported_names, failing_names = excluded.failing_names,
        missing_names = excluded.missing_names,
        compliant_since = case when excluded.state = 'COMPLIANT'
          then coalesce(known.compliant_since, excluded.compliant_since) end
      where (known.state, known.reported_names, known.failing_names, known.missing_names)
        is distinct from (excluded.state, excluded.reported_names, excluded.failing_names, excluded.missing_names)
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
    where ${laterTrail} or ${laterArtifact}`);
}
