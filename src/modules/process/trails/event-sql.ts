import { type Sql, sql } from "../../../db/sql.ts";

/** A repo as events show it, from `r` repos. What was reported of it beside stays as it was written. */
const repoInEvent = sql`json_build_object('inner_id', wire_id(r.id), 'org_id', wire_id(r.org_id),
  'repo_id', r.repo_id, 'name', r.name, 'url', r.url, 'provider', r.provider, 'description', r.description,
  'vcs_instance', r.vcs_instance, 'namespace_path', r.namespace_path, 'additional_info', r.additional_info,
  'created_at', epoch(r.created_at), 'last_modified_at', epoch(r.last_modified_at), 'tags', r.tags)`;

/** Who changed a trail, and its commit then, as SQL. */
interface TrailReport {
  /** Wire id of the user, or null. */
  userId: Sql;
  /** The commit as `showCommit` makes it, as JSON. */
  commit: Sql;
}

/** The columns of `t` that `firstEvent` and `updateEvent` need. */
export const columnsForEvents = sql`t.org_id, t.id, t.flow_id, t.name, t.description, t.git_commit_info, t.template_id,
  t.origin_url, t.user_data, t.repo_ids`;

/** Writes the members of JSON that tell what the trail `t` is. */
function trailInEvent(commit: Sql): Sql {
  return sql`'description', t.description, 'git_commit_info', ${commit}, 'template_id', wire_id(t.template_id),
    'origin_url', t.origin_url, 'user_data', t.user_data::text`;
}

/** Builds the data of the event that begins the trail `t`. Its repo is shown as it is known at this moment. */
export function firstEvent({ userId, commit }: TrailReport): Sql {
  return sql`json_build_object(
    'git_commit_info', t.git_commit_info,
    'repo_info', (select ${repoInEvent} from repos r where r.org_id = t.org_id and r.id = t.repo_ids[1]),
    'setting_user_id', ${userId},
    'trail_data_json', json_build_object(
      'org_id', wire_id(t.org_id), 'flow_id', wire_id(t.flow_id), 'name', t.name, 'creating_user_id', ${userId},
      ${trailInEvent(commit)},
      'repo_ids', (select coalesce(json_agg(wire_id(id)), '[]') from unnest(t.repo_ids) as id)))`;
}

/**
 * Builds the data of an event that changes the trail `t` to what it is now.
 * @param changes names of what differs, as an array. @param repoId of the repo that the report came from, or null.
 */
export function updateEvent({
  userId,
  commit,
  changes,
  repoId,
}: TrailReport & { changes: Sql; repoId: Sql }): Sql {
  return sql`json_build_object(
    'git_commit_info', t.git_commit_info,
    'repo_info', (select ${repoInEvent} from repos r where r.org_id = t.org_id and r.id = ${repoId}),
    'setting_user_id', ${userId},
    'trail_data_json', json_build_object(${trailInEvent(commit)}),
    'changes', ${changes})`;
}

/** Data of the event of an artifact `a`. */
export const artifactData = sql`json_build_object('git_commit_info', a.git_commit_info, 'artifact_fingerprint', a.fingerprint,
  'artifact_name', a.filename, 'artifact_id', wire_id(a.id), 'template_reference_name', a.template_reference_name,
  'git_commit', a.git_commit)`;

/** Type of the event of an attestation `a` with its `target`. */
export const attestationEventType = sql`case when a.artifact_fingerprint is not null then 'artifact_attestation_reported'
  when a.target is not null then 'trail_attestation_for_artifact_reported' else 'trail_attestation_reported' end`;

/**
 * Builds the data of the event of an attestation `a` with its `target`. Artifacts are found by their fingerprint, of which
 * there are few.
 */
export function attestationData(isAgain: Sql): Sql {
  return sql`(jsonb_build_object('git_commit_info', a.git_commit_info, 'attestation_type', a.type,
      'is_compliant', a.is_compliant, 'attestation_id', wire_id(a.id), 'template_reference_name', a.name,
      'is_reattestation', ${isAgain})
    || jsonb_strip_nulls(jsonb_build_object('artifact_fingerprint', a.artifact_fingerprint, 'artifact_name', (
        select r.filename from (
          select * from artifacts where org_id = a.org_id and fingerprint = a.artifact_fingerprint offset 0) r
        where r.trail_id = a.trail_id order by r.id < a.id desc, r.id desc limit 1),
      'target_artifact', a.target)))::json`;
}

/** The repo that the report `a`, of an artifact or an attestation, came from. */
export const repoOfReport = sql`(select ${repoInEvent} from repos r where r.org_id = a.org_id and r.id = a.repo_id)`;

/**
 * Selects the attestations of a trail, each as often as it makes events: once, or once for each artifact that one without
 * a fingerprint was made for. `target` is that artifact's name in the template, `position` counts them.
 */
export function attestationsWithTargets(orgId: string, trailId: string): Sql {
  return sql`
      select a.*, target.name as target, target.position from attestations a
      left join unnest(case when a.artifact_fingerprint is null then a.target_artifacts
        else a.target_artifacts[1:1] end) with ordinality as target (name, position) on true
      where a.org_id = ${orgId} and a.trail_id = ${trailId}`;
}

/** Whether the name of an attestation `a` of `attestationsWithTargets` was attested in the same place before. */
export const isReattestation = sql`row_number() over (
          partition by a.name, a.artifact_fingerprint,
            case when a.artifact_fingerprint is null then a.target end
          order by a.id) > 1`;

/** Selects everything that happened to a trail and was reported on it; to be ordered by `occurred_at, id, part`. */
export function everyTrailEvent(orgId: string, trailId: string): Sql {
  return sql`
    select e.occurred_at, e.id, 1::bigint as part, e.type, e.data,
      e.data -> 'repo_info' as repo_info
    from trail_events e where e.org_id = ${orgId} and e.trail_id = ${trailId}
    union all
    select a.created_at as occurred_at, a.id, 1::bigint as part, 'artifact_creation_reported' as type,
      ${artifactData} as data, ${repoOfReport} as repo_info
    from artifacts a where a.org_id = ${orgId} and a.trail_id = ${trailId}
    union all
    select a.created_at, a.id, coalesce(a.position, 1) as part,
      ${attestationEventType} as type, ${attestationData(isReattestation)} as data, ${repoOfReport} as repo_info
    from (${attestationsWithTargets(orgId, trailId)}) a`;
}
