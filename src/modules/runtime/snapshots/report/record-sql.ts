import { type Parameter, type Sql, sql } from "../../../../db/sql.ts";
import { trustedMember } from "../../../../domain/snapshot/documents.ts";
import { flowIdsOfVersion, flowsOfVersion } from "../document-sql.ts";

/*
 * The parts of the statement that appends snapshots, each a common table expression. All see the tables as they were
 * before any of them wrote. `s` are the snapshots of the statement, `v` the versions that are new in them, and `org` is the
 * id of the organization, one parameter for all.
 */

const snapshotColumns = sql`environment_id uuid, index integer, at_seconds float8, rows_before bigint,
  own_events_before bigint, compliant boolean, type text, cause text, counts json, running_count integer,
  unproven_count integer, allowed_count integer, applied_policies json, failing_versions json,
  artifacts bigint[], ended bigint[], confirmed json, events integer, kinds json,
  was_compliant boolean, has_policies boolean, policies_changed boolean,
  artifact_count bigint, judged_by text, report_digest text, seen_seq bigint, report_gaps real[], learned_limit real`;

const versionColumns = sql`environment_id uuid, id bigint, type text, was integer, now integer, repeats bigint,
  name text, fingerprint text, compliant boolean, running json, flows json, flow_ids uuid[], provenance uuid[],
  repo_ids uuid[], digest text, facts text, follows text[], doc text, decisions_digest text`;

const lineageColumns = sql`environment_id uuid, flow_id uuid, template_reference_name text, fingerprint text,
  name text, trail_name text, git_commit text, commit_url text, compliance_state text, started boolean`;

/** Writes SQL for the rows `s`: snapshots, with how many events there were before them. */
export function givenSnapshots(org: Parameter, snapshots: string): Sql {
  return sql`
    select i.*, to_timestamp(i.at_seconds) as moment, coalesce((
        select event_count from snapshots before
        where before.org_id = ${org}::uuid and before.environment_id = i.environment_id
          and before.index = i.index - 1), 0) as events_before
    from json_to_recordset(${snapshots}::json) as i (${snapshotColumns})`;
}

/** Writes SQL that ends versions which snapshots no longer show, or not as they were. */
export function endVersions(org: Parameter): Sql {
  return sql`
    update snapshot_artifacts a set last_index = old.index - 1
    from (select s.environment_id, s.index, unnest(s.ended) as id from s) old
    where a.org_id = ${org}::uuid and a.environment_id = old.environment_id and a.id = old.id
      and a.last_index is null`;
}

/** Writes SQL that notes which versions hold by what flows know now. */
export function confirmVersions(org: Parameter): Sql {
  return sql`
    update snapshot_artifacts a set facts = known.facts
    from (
      select s.environment_id, c.id, c.facts from s, json_to_recordset(s.confirmed) as c (id bigint, facts text)
    ) known
    where a.org_id = ${org}::uuid and a.environment_id = known.environment_id and a.id = known.id
      and a.last_index is null`;
}

/** Writes SQL for the rows `v`: versions. */
export function givenVersions(versions: string): Sql {
  return sql`select * from json_to_recordset(${versions}::json) as i (${versionColumns})`;
}

/** Writes SQL that inserts the documents of the versions `v`, of those that have one of their own, with their flows. */
export function addDocuments(org: Parameter): Sql {
  return sql`
    insert into snapshot_documents (org_id, environment_id, id, doc, flows)
    select ${org}::uuid, v.environment_id, v.id, v.doc, v.flows from v where v.doc is not null order by v.environment_id, v.id`;
}

/**
 * Writes SQL that inserts the versions `v` and returns them for `addRunning` and `tellTrails`. What has exited repeats the
 * version it had: of that it has what is filtered by, and refers to it for all that is shown. Nothing is compared with it.
 * Its row is short. In turns with the others they fill the pages that are being begun; one after the other they would fill what is
 * left on old pages, each of which would be written whole once more after a checkpoint.
 */
export function addVersions(org: Parameter): Sql {
  return sql`
    insert into snapshot_artifacts (org_id, environment_id, id, first_index, last_index, created_at, name, fingerprint,
      type, event_number, was, now, compliant, running, flow_ids, provenance, repo_ids, digest, facts, follows,
      decisions_digest, repeats)
    select ${org}::uuid, v.environment_id, v.id, s.index, case when v.repeats is not null then s.index end, s.moment,
      coalesce(v.name, o.name), coalesce(v.fingerprint, o.fingerprint), v.type,
      case when v.type <> 'unchanged' then s.events_before + s.own_events_before + count(*) filter (where v.type <> 'unchanged')
        over (partition by v.environment_id order by v.id) end, v.was, v.now,
      case when v.repeats is null then v.compliant else o.compliant end, v.running,
      coalesce(v.flow_ids, ${flowIdsOfVersion("o")}), coalesce(v.provenance, o.provenance),
      coalesce(v.repo_ids, o.repo_ids), coalesce(v.digest, ''), coalesce(v.facts, ''), coalesce(v.follows, '{}'),
      coalesce(v.decisions_digest, o.decisions_digest), v.repeats
    from v
    join s on s.environment_id = v.environment_id
    left join lateral (
      select * from snapshot_artifacts o
      where o.org_id = ${org}::uuid and o.environment_id = v.environment_id and o.id = v.repeats limit 1
    ) o on true
    order by row_number() over (partition by v.repeats is null order by v.environment_id, v.id)
    returning environment_id, id, first_index, last_index, created_at, name, type, now, fingerprint, flows, flow_ids,
      compliant, repo_ids, repeats, first_start(running, created_at) as started_at`;
}

/** Writes SQL that lists what of `added` runs now, as what is looked for in all environments. */
export function addRunning(org: Parameter): Sql {
  return sql`
    insert into running_artifacts (org_id, environment_id, id, name_start, fingerprint, verdict, allow_listed, flow_ids,
      repo_id, started_at)
    select ${org}::uuid, a.environment_id, a.id, lower(left(a.name, 200)), a.fingerprint,
      case a.compliant when false then 0 when true then 1 else 2 end,
      position(${trustedMember}::text in v.doc) > 0,
      a.flow_ids, a.repo_ids[1], a.started_at
    from added a
    join v on v.environment_id = a.environment_id and v.id = a.id
    join environments e on e.org_id = ${org}::uuid and e.id = a.environment_id and e.type <> 'logical'
    where a.last_index is null`;
}

/** Writes SQL that takes versions which have ended off that list. */
export function dropRunning(org: Parameter): Sql {
  return sql`
    delete from running_artifacts r
    using (select s.environment_id, unnest(s.ended) as id from s) old
    where r.org_id = ${org}::uuid and r.environment_id = old.environment_id and r.id = old.id`;
}

/** Writes SQL that inserts what policies decided, and found, unless it is known in the environment. */
export function addDecisions(org: Parameter, decisions: string): Sql {
  return sql`
    insert into snapshot_decisions (org_id, environment_id, digest, decisions, findings)
    select ${org}::uuid, d.environment_id, d.digest, d.decisions, d.findings
    from json_to_recordset(${decisions}::json) as d (environment_id uuid, digest text, decisions text, findings text)
    on conflict do nothing`;
}

/**
 * Writes SQL that tells trails that their artifacts, of `added`, started or stopped to run. Logical environments tell
 * nothing: their members have. The ids are of the form that all have (`createIdSource`), in the order of the snapshot.
 */
export function tellTrails(org: Parameter): Sql {
  return sql`
    insert into trail_events (org_id, trail_id, id, occurred_at, type, artifact_fingerprint, environment_id,
      environment_name, snapshot_index, template_reference_name, replica_number)
    select ${org}::uuid, (flow ->> 'trail_id')::uuid,
      (lpad(to_hex((extract(epoch from a.created_at) * 1000)::bigint), 12, '0')
        || '7' || lpad(to_hex((s.rows_before + row_number() over (order by a.environment_id, a.id)) % 4096), 3, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 17, 12) || '0000')::uuid,
      a.created_at, case a.type when 'exited' then 'artifact_stopped_running' else 'artifact_started_running' end,
      decode(a.fingerprint, 'hex'), e.id, e.name, a.first_index, flow ->> 'template_reference_name',
      case when a.type <> 'exited' then a.now end
    from added a
    join s on s.environment_id = a.environment_id
    join environments e on e.org_id = ${org}::uuid and e.id = a.environment_id and e.type <> 'logical'
    left join v on v.environment_id = a.environment_id and v.id = a.id
    cross join lateral json_array_elements(coalesce(v.flows, ${flowsOfVersion(org)})) flow
    where a.type = 'exited' or a.type like 'started-%'`;
}

/** Writes SQL that remembers what ran last under each flow and template name: what comes next is compared with it. */
export function putLineage(org: Parameter, lineage: string): Sql {
  return sql`
    insert into environment_lineage (org_id, environment_id, flow_id, template_reference_name, fingerprint,
      started_index, name, trail_name, git_commit, commit_url, compliance_state)
    select ${org}::uuid, i.environment_id, i.flow_id, i.template_reference_name, i.fingerprint,
      case when i.started then s.index else coalesce((
        -- It did not start now, and keeps the start it has.
        select known.started_index from environment_lineage known
        where known.org_id = ${org}::uuid and known.environment_id = i.environment_id
          and known.flow_id = i.flow_id and known.template_reference_name = i.template_reference_name
          and known.fingerprint = i.fingerprint), s.index) end,
      i.name, i.trail_name, i.git_commit, i.commit_url,
      i.compliance_state
    from json_to_recordset(${lineage}::json) as i (${lineageColumns})
    join s on s.environment_id = i.environment_id
    on conflict (org_id, environment_id, flow_id, template_reference_name, fingerprint) do update
    set started_index = excluded.started_index, name = excluded.name,
      trail_name = excluded.trail_name, git_commit = excluded.git_commit, commit_url = excluded.commit_url,
      compliance_state = excluded.compliance_state`;
}

/** Writes SQL that inserts the snapshots that have all of their artifacts. */
export function addSnapshots(org: Parameter): Sql {
  return sql`
    insert into snapshots (org_id, environment_id, index, created_at, compliant, type, cause,
      event_count, artifact_compliance_count, applied_policies, failing_versions, artifacts, started_count, exited_count, verdict_count,
      changed_count, was_compliant, has_policies, policies_changed)
    select ${org}::uuid, environment_id, index, moment, compliant, type, cause, events_before + events, counts,
      applied_policies, failing_versions, artifacts, (kinds ->> 'started')::integer, (kinds ->> 'exited')::integer,
      (kinds ->> 'verdict')::integer, (kinds ->> 'changed')::integer, was_compliant, has_policies, policies_changed
    from s where artifacts is not null`;
}

/** Writes SQL that notes how far the snapshots have come, and what the next report is recognised by. */
export function putRecords(org: Parameter): Sql {
  return sql`
    insert into environment_reports as r (org_id, environment_id, snapshot_count, artifact_count, latest_at,
      judged_by, report_digest, seen_seq, report_gaps, is_stale)
    select ${org}::uuid, environment_id, index, artifact_count, moment, judged_by, coalesce(report_digest, ''),
      coalesce(seen_seq, 0), coalesce(report_gaps, '{}'), report_digest is null
    from s where artifacts is not null
    on conflict (org_id, environment_id) do update
    set snapshot_count = excluded.snapshot_count, artifact_count = excluded.artifact_count,
      latest_at = excluded.latest_at, judged_by = excluded.judged_by,
      report_digest = coalesce(nullif(excluded.report_digest, ''), r.report_digest),
      seen_seq = greatest(excluded.seen_seq, r.seen_seq), is_stale = excluded.is_stale and r.is_stale,
      -- Whether a report led here or something else, it is the report that has a rhythm.
      report_gaps = case when excluded.report_digest = '' then r.report_gaps else excluded.report_gaps end`;
}

/** Writes SQL that gives environments the state that their new snapshots found. */
export function updateEnvironments(org: Parameter): Sql {
  return sql`
    update environments e
    set state = s.compliant, last_changed_at = s.moment, last_modified_at = s.moment,
      last_reported_at = case when s.report_digest is null then e.last_reported_at else s.moment end,
      learned_limit = case when s.report_digest is null then e.learned_limit else s.learned_limit end,
      artifact_count = s.running_count, failing_count = (s.counts ->> 'false')::integer,
      unproven_count = s.unproven_count, allowed_count = s.allowed_count
    from s where e.org_id = ${org}::uuid and e.id = s.environment_id and s.artifacts is not null`;
}
