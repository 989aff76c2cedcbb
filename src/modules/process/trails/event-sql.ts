import { empty, join, type Parameter, param, raw, type Sql, sql } from "../../../db/sql.ts";
import { repoBytes } from "../repos/bytes-sql.ts";

/** Bytes of JSON in full. It is only unpacked where it was packed. */
const bytesOfJson = (column: string): Sql =>
  raw(`case when ${column} is null then 0 when pg_column_compression(${column}) is null then pg_column_size(${column})
      else octet_length(${column}::text) end`);

/**
 * Bytes of an event, about, by its row `a`.
 * @param beside bytes of its repo, and of an artifact's name that the row has not.
 */
export const eventBytes = {
  artifact: (beside: Sql): Sql =>
    sql`(${bytesOfJson("a.git_commit_info")}) + octet_length(a.filename) + ${beside}`,
  attestation: (beside: Sql): Sql => sql`400 + (${bytesOfJson("a.git_commit_info")}) + ${beside}`,
  /** With the repo as it was known then. */
  trail: (orgId: string): Sql => sql`(${bytesOfJson("a.change")}) + (${bytesOfJson("a.data")}) + coalesce(
      (select ${repoBytes} from repos r where r.org_id = ${orgId} and r.id = a.repo_id and r.version = a.repo_version),
      (select ${repoBytes} from repo_versions r
        where r.org_id = ${orgId} and r.id = a.repo_id and r.version = a.repo_version), 0)`,
};

/** What is shown of a repo, or of a version of it, as the columns of `v`. */
const repoColumns = sql`v.org_id, v.id, v.repo_id, v.name, v.url, v.provider, v.description, v.vcs_instance, v.namespace_path,
  v.additional_info, v.created_at, v.last_modified_at, v.tags`;

/** A repo as events show it, from `r` repos. What was reported of it beside stays as it was written. */
const repoInEvent = sql`json_build_object('inner_id', wire_id(r.id), 'org_id', wire_id(r.org_id),
  'repo_id', r.repo_id, 'name', r.name, 'url', r.url, 'provider', r.provider, 'description', r.description,
  'vcs_instance', r.vcs_instance, 'namespace_path', r.namespace_path, 'additional_info', r.additional_info,
  'created_at', epoch(r.created_at), 'last_modified_at', epoch(r.last_modified_at), 'tags', r.tags)`;

/** Whose trail is changed, by whom, and where the report of that came from, as SQL. */
interface TrailReport {
  /** Id of the organization. */
  org: Parameter;
  /** Id of the user, or null. */
  userId: Sql;
  /** Id of the repo, or null. */
  repoId: Sql;
}

/** The columns of `t` that `beganEvent` and `changedEvent` need. */
export const columnsForEvents = sql`t.org_id, t.id, t.flow_id, t.name, t.description, t.git_commit_info, t.template_id,
  t.origin_url, t.user_data, t.repo_ids`;

/** Columns of `trail_events` that events of a trail itself are kept in. */
export const trailEventColumns = sql`org_id, trail_id, id, occurred_at, type, setting_user_id, repo_id, repo_version,
  repo_count, change`;

/** The facts of the trail `t` that reports change, as they are now, as members of JSON. */
const factsNow = sql`'git_commit_info', t.git_commit_info, 'description', t.description,
  'template_id', wire_id(t.template_id), 'origin_url', t.origin_url, 'user_data', t.user_data::text`;

/** Builds what `trails.begun_as` keeps when the trail `t` is about to change for the first time. */
export const begunAs = sql`coalesce(t.begun_as, json_build_object(${factsNow}))`;

/** Selects the columns of who changed the trail `t`, and of the version that the repo has at this moment. */
function reportColumns({ org, userId, repoId }: TrailReport): Sql {
  return sql`${userId}::uuid, ${repoId}::uuid,
    (select r.version from repos r where r.org_id = ${org}::uuid and r.id = ${repoId}::uuid)`;
}

/** Selects `trailEventColumns` of the event that begins the trail `t`. All else of it is what the trail began as. */
export function beganEvent(event: { org: Parameter; id: Sql; at: Sql; userId: Sql }): Sql {
  return sql`${event.org}::uuid, t.id, ${event.id}::uuid, ${event.at}, 'trail_reported',
    ${reportColumns({ org: event.org, userId: event.userId, repoId: sql`t.repo_ids[1]` })}, cardinality(t.repo_ids), null::json`;
}

/**
 * Selects `trailEventColumns` of an event that changes the trail `t` to what it is now.
 * @param event `changes`: names of what differs, as an array.
 */
export function changedEvent(event: TrailReport & { id: Sql; at: Sql; changes: Sql }): Sql {
  return sql`${event.org}::uuid, t.id, ${event.id}::uuid, ${event.at}, 'trail_updated', ${reportColumns(event)}, null::integer,
    json_build_object(${factsNow}, 'changes', ${event.changes})`;
}

/** Shows a commit in what events tell of a trail: what is not known is null. */
function commitInEvent(commit: Sql): Sql {
  const members = ["sha1", "message", "author", "branch", "timestamp", "url"];
  return sql`case when ${commit} ->> 'sha1' is not null then json_build_object(${join(
    members.map((name) => sql`${raw(`'${name}'`)}, ${commit} -> ${raw(`'${name}'`)}`),
  )}) end`;
}

/** Writes the members of JSON that tell what a trail is, from its facts `f`. */
const trailInEvent = sql`'description', f.facts -> 'description', 'git_commit_info', ${commitInEvent(sql`(f.facts -> 'git_commit_info')`)},
  'template_id', f.facts -> 'template_id', 'origin_url', f.facts -> 'origin_url', 'user_data', f.facts -> 'user_data'`;

/** Builds the data of the event `e` that began the trail `t`. */
const beganData = sql`(select json_build_object(
    'git_commit_info', f.facts -> 'git_commit_info', 'setting_user_id', wire_id(e.setting_user_id),
    'trail_data_json', json_build_object(
      'org_id', wire_id(t.org_id), 'flow_id', wire_id(t.flow_id), 'name', t.name,
      'creating_user_id', wire_id(e.setting_user_id), ${trailInEvent},
      'repo_ids', (select coalesce(json_agg(wire_id(id) order by position), '[]')
        from unnest(t.repo_ids[1:e.repo_count]) with ordinality as repo (id, position))))
  from (select coalesce(t.begun_as, json_build_object(${factsNow})) as facts) f)`;

/** Builds the data of the event `e` that changed a trail. */
const changedData = sql`(select json_build_object(
    'git_commit_info', f.facts -> 'git_commit_info', 'setting_user_id', wire_id(e.setting_user_id),
    'trail_data_json', json_build_object(${trailInEvent}), 'changes', f.facts -> 'changes')
  from (select e.change as facts) f)`;

/** Builds the data of an event `e` of what ran. */
const runningData = sql`(jsonb_build_object('artifact_fingerprint', encode(e.artifact_fingerprint, 'hex'),
    'environment_id', wire_id(e.environment_id), 'environment_name', e.environment_name,
    'snapshot_index', e.snapshot_index, 'template_reference_name', e.template_reference_name)
  || case e.type when 'artifact_stopped_running' then '{}' else jsonb_build_object('replica_number', e.replica_number) end)::json`;

/** Builds the data of the event `e` of the trail `t`. */
const trailEventData = sql`case when e.data is not null then e.data when e.type = 'trail_reported' then ${beganData}
  when e.type = 'trail_updated' then ${changedData} else ${runningData} end`;

/** The same, of changes of the trail itself no more than what changed. */
const briefTrailEventData = sql`case when e.data is not null then e.data when e.type = 'trail_updated' then
  json_build_object('changes', e.change -> 'changes') when e.type = 'trail_reported' then '{}' else ${runningData} end`;

const noRepo = raw("null::json");

/** The repo that the event `e` came from, as it was known then. */
function repoOfEvent(orgId: string): Sql {
  const org = param(orgId);
  return sql`case when e.data is not null then e.data -> 'repo_info' when e.repo_version is not null then (
    select ${repoInEvent} from (
      select ${repoColumns} from repos v where v.org_id = ${org}::uuid and v.id = e.repo_id and v.version = e.repo_version
      union all
      select ${repoColumns} from repo_versions v
      where v.org_id = ${org}::uuid and v.id = e.repo_id and v.version = e.repo_version) r) end`;
}

/** Writes the first members of the data of an event: the commit of `a`, unless it is to be brief. */
const commitMember = (isBrief: boolean): Sql =>
  isBrief ? empty : raw("'git_commit_info', a.git_commit_info, ");

/** Data of the event of an artifact `a`. */
const artifactData = (
  isBrief = false,
): Sql => sql`json_build_object(${commitMember(isBrief)}'artifact_fingerprint', a.fingerprint,
  'artifact_name', a.filename, 'artifact_id', wire_id(a.id), 'template_reference_name', a.template_reference_name,
  'git_commit', a.git_commit)`;

/** Type of the event of an attestation `a` with its `target`. */
const attestationEventType = sql`case when a.artifact_fingerprint is not null then 'artifact_attestation_reported'
  when a.target is not null then 'trail_attestation_for_artifact_reported' else 'trail_attestation_reported' end`;

/**
 * Builds the data of the event of an attestation `a` with its `target`.
 * @param artifactName of the artifact that it is bound to.
 */
function attestationData(isAgain: Sql, artifactName: Sql, isBrief = false): Sql {
  return sql`(jsonb_build_object(${commitMember(isBrief)}'attestation_type', a.type,
      'is_compliant', a.is_compliant, 'attestation_id', wire_id(a.id), 'template_reference_name', a.name,
      'is_reattestation', ${isAgain})
    || jsonb_strip_nulls(jsonb_build_object('artifact_fingerprint', a.artifact_fingerprint, 'artifact_name', ${artifactName},
      'target_artifact', a.target)))::json`;
}

/** Selects the repo that the report `a`, of an artifact or an attestation, came from. */
function repoOfReport(orgId: string): Sql {
  return sql`(select ${repoInEvent} from repos r where r.org_id = ${orgId} and r.id = a.repo_id)`;
}

/**
 * Selects attestations of a trail, each as often as it makes events: once, or once for each artifact that one without
 * a fingerprint was made for. `target` is that artifact's name in the template, `position` counts them.
 * @param attestations what they are taken from.
 */
function attestationsWithTargets(orgId: string, trailId: string, attestations = raw("attestations")): Sql {
  return sql`
      select a.*, target.name as target, target.position from ${attestations} a
      left join unnest(case when a.artifact_fingerprint is null then a.target_artifacts
        else a.target_artifacts[1:1] end) with ordinality as target (name, position) on true
      where a.org_id = ${orgId} and a.trail_id = ${trailId}`;
}

/** Whether the name of an attestation `a` of `attestationsWithTargets` was attested in the same place before. */
const isReattestation = sql`row_number() over (
          partition by a.name, a.artifact_fingerprint,
            case when a.artifact_fingerprint is null then a.target end
          order by a.id) > 1`;

/**
 * Selects everything that happened to a short trail and was reported on it; to be ordered by `occurred_at, id, part`. What artifacts are
 * called is looked up among those of the trail, which are few: a fingerprint may have been reported on thousands of others.
 */
export function everyTrailEvent(orgId: string, trailId: string): Sql {
  const artifactName = sql`(
        select n.filename from named n where n.fingerprint = a.artifact_fingerprint
        order by n.id < a.id desc, n.id desc limit 1)`;
  return sql`
    with named as materialized (
      select id, fingerprint, filename from artifacts where org_id = ${orgId} and trail_id = ${trailId})
    select e.occurred_at, e.id, 1::bigint as part, e.type, ${trailEventData} as data, ${repoOfEvent(orgId)} as repo_info
    from trail_events e join trails t on t.org_id = ${orgId} and t.id = ${trailId}
    where e.org_id = ${orgId} and e.trail_id = ${trailId}
    union all
    select a.created_at as occurred_at, a.id, 1::bigint as part, 'artifact_creation_reported' as type,
      ${artifactData()} as data, ${repoOfReport(orgId)} as repo_info
    from artifacts a where a.org_id = ${orgId} and a.trail_id = ${trailId}
    union all
    select a.created_at, a.id, coalesce(a.position, 1) as part,
      ${attestationEventType} as type, ${attestationData(isReattestation, artifactName)} as data, ${repoOfReport(orgId)} as repo_info
    from (${attestationsWithTargets(orgId, trailId)}) a`;
}

/**
 * Selects which events a trail has: `kind`, `id`, `part` and `again`, by which `eventOfKey` finds them, `occurred_at`, and their `bytes`, about. The artifact
 * that an attestation is bound to is its last report on the trail before the attestation, else its latest one: `artifact_id`.
 */
export function eventKeys(orgId: string, trailId: string): Sql {
  const noText = raw(`null::text collate "C"`);
  const ofRepo = raw("coalesce((select w.bytes from repo_bytes w where w.id = a.repo_id), 0)");
  // Each is weighed once, however many events it makes.
  const weighed = sql`(select a.*, ${eventBytes.attestation(ofRepo)} as bytes from attestations a
          where a.org_id = ${orgId} and a.trail_id = ${trailId} offset 0)`;
  const longestName = sql`(select coalesce(max(octet_length(filename)), 0) from artifacts where org_id = ${orgId} and trail_id = ${trailId})`;
  return sql`
    with repo_bytes as materialized (
      select r.id, ${repoBytes} as bytes from repos r where r.org_id = ${orgId} and r.id in (
        select unnest(t.repo_ids) from trails t where t.org_id = ${orgId} and t.id = ${trailId}))
    select occurred_at, id, part, kind, again, bytes,
      case kind when 's' then coalesce(reported_before, reported_last)::uuid end as artifact_id
    from (
      select e.*, max(artifact) over (partition by fingerprint order by id) as reported_before,
        max(artifact) over (partition by fingerprint) as reported_last
      from (
        select a.occurred_at, a.id, 1::bigint as part, 'e' as kind, false as again, ${noText} as fingerprint, ${noText} as artifact,
          ${eventBytes.trail(orgId)} as bytes
        from trail_events a where a.org_id = ${orgId} and a.trail_id = ${trailId}
        union all
        select a.created_at, a.id, 1, 'a', false, a.fingerprint collate "C", a.id::text collate "C",
          ${eventBytes.artifact(ofRepo)}
        from artifacts a where a.org_id = ${orgId} and a.trail_id = ${trailId}
        union all
        select a.created_at, a.id, coalesce(a.position, 1), 's', ${isReattestation}, a.artifact_fingerprint collate "C", ${noText},
          a.bytes + ${longestName}
        from (${attestationsWithTargets(orgId, trailId, weighed)}) a) e) e`;
}

/**
 * Selects the event that `asked` names: a row of `eventKeys`.
 * @param isBrief leaves out what may be large: commits, repos and what a trail was.
 */
export function eventOfKey(orgId: string, trailId: string, isBrief = false): Sql {
  const [repoThen, repoNow] = isBrief ? [noRepo, noRepo] : [repoOfEvent(orgId), repoOfReport(orgId)];
  const artifactName = sql`(
        select r.filename from artifacts r where r.org_id = ${orgId} and r.id = asked.artifact_id)`;
  return sql`
    select e.occurred_at, e.type, ${isBrief ? briefTrailEventData : trailEventData} as data, ${repoThen} as repo_info
    from trail_events e join trails t on t.org_id = ${orgId} and t.id = ${trailId}
    where asked.kind = 'e' and e.org_id = ${orgId} and e.trail_id = ${trailId} and e.id = asked.id
    union all
    select a.created_at, 'artifact_creation_reported', ${artifactData(isBrief)}, ${repoNow} from artifacts a
    where asked.kind = 'a' and a.org_id = ${orgId} and a.id = asked.id
    union all
    select a.created_at, ${attestationEventType}, ${attestationData(sql`asked.again`, artifactName, isBrief)}, ${repoNow}
    from (
      select a.*, a.target_artifacts[asked.part] as target from attestations a
      where asked.kind = 's' and a.org_id = ${orgId} and a.id = asked.id) a`;
}
