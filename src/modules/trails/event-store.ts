import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { repoInEvent } from "./repo-in-event.ts";

/** An event of a trail. `data` holds what is particular to its type, and `git_commit_info`. */
export interface TrailEventRow {
  type: string;
  occurred_at: Timestamp;
  data: unknown;
  /** JSON text of the repo it came from, whose `additional_info` an object would not keep as it was written. */
  repo_info: string | null;
}

/** Reports of artifacts, each an event. */
function artifactEvents(orgId: string, trailId: string) {
  return sql`
    select a.created_at as occurred_at, a.id, 1::bigint as part, 'artifact_creation_reported' as type,
      json_build_object('git_commit_info', a.git_commit_info, 'artifact_fingerprint', a.fingerprint, 'artifact_name', a.filename, 'artifact_id', wire_id(a.id),
        'template_reference_name', a.template_reference_name, 'git_commit', a.git_commit) as data, ${repoOf("a")} as repo_info
    from artifacts a where a.org_id = ${orgId} and a.trail_id = ${trailId}`;
}

function repoOf(alias: string) {
  const { org, repo } = { org: sql.ref(`${alias}.org_id`), repo: sql.ref(`${alias}.repo_id`) };
  return sql`(select ${repoInEvent} from repos r where r.org_id = ${org} and r.id = ${repo})`;
}

/**
 * Attestations: one event each, and one for each artifact that one without a fingerprint was made for. An attestation is
 * a reattestation when its name was attested in the same place before.
 */
function attestationEvents(orgId: string, trailId: string) {
  return sql`
    select a.created_at, a.id, coalesce(a.position, 1) as part,
      case when a.artifact_fingerprint is not null then 'artifact_attestation_reported'
        when a.target is not null then 'trail_attestation_for_artifact_reported'
        else 'trail_attestation_reported' end as type,
      (jsonb_build_object('git_commit_info', a.git_commit_info, 'attestation_type', a.type, 'is_compliant', a.is_compliant, 'attestation_id', wire_id(a.id),
        'template_reference_name', a.name, 'is_reattestation', row_number() over (
          partition by a.name, a.artifact_fingerprint,
            case when a.artifact_fingerprint is null then a.target end
          order by a.id) > 1)
      || jsonb_strip_nulls(jsonb_build_object('artifact_fingerprint', a.artifact_fingerprint, 'artifact_name', (
          select r.filename from artifacts r
          where r.org_id = a.org_id and r.trail_id = a.trail_id and r.fingerprint = a.artifact_fingerprint
          order by r.id < a.id desc, r.id desc limit 1),
        'target_artifact', a.target)))::json as data, ${repoOf("a")} as repo_info
    from (
      select a.*, target.name as target, target.position from attestations a
      left join unnest(case when a.artifact_fingerprint is null then a.target_artifacts
        else a.target_artifacts[1:1] end) with ordinality as target (name, position) on true
      where a.org_id = ${orgId} and a.trail_id = ${trailId}) a`;
}

/** Everything that happened to a trail and was reported on it, as SQL; ordered by `occurred_at, id, part`. */
export function everyTrailEvent(orgId: string, trailId: string) {
  return sql`
    select e.occurred_at, e.id, 1::bigint as part, e.type, e.data,
      e.data -> 'repo_info' as repo_info
    from trail_events e where e.org_id = ${orgId} and e.trail_id = ${trailId}
    union all ${artifactEvents(orgId, trailId)}
    union all ${attestationEvents(orgId, trailId)}`;
}

/** Everything that happened to a trail and was reported on it, in the order in which it happened. */
export async function listTrailEvents(
  db: Executor,
  orgId: string,
  trailId: string,
): Promise<TrailEventRow[]> {
  const { rows } = await sql<TrailEventRow>`/* trail-events */
    select occurred_at, type, data, repo_info::text as repo_info from (${everyTrailEvent(orgId, trailId)}) e
    order by occurred_at, id, part`.execute(db);
  return rows;
}
