import { type RawBuilder, sql } from "kysely";

import type { Tx } from "../../db/connect.ts";
import type { ConfirmedVersion, NewVersion } from "../../domain/snapshot/versions.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A snapshot to which artifacts are written. */
export interface OpenSnapshot {
  environment_id: string;
  index: number;
  at_seconds: Timestamp;
  /** How many of its versions, and events among them, were written before. */
  rows_before: number;
  own_events_before: number;
}

/** A snapshot that has all of its artifacts. */
export interface WholeSnapshot extends OpenSnapshot {
  compliant: boolean | null;
  type: string;
  cause: string;
  counts: Record<string, number>;
  /** Ids of versions, in the order in which they are shown. */
  artifacts: number[];
  /** Ids of versions that are not in it, or not as they were. */
  ended: number[];
  confirmed: ConfirmedVersion[];
  events: number;
  artifact_count: number;
  judged_by: string;
  /** Of the report that led to it; null for what no report led to. */
  report_digest: string | null;
  seen_seq: number | null;
  report_gaps: number[] | null;
  learned_limit: number | null;
}

/** A version as it is written, with the digest of what policies decided in place of that. */
export interface VersionEntry extends Omit<NewVersion, "decisions"> {
  environment_id: string;
  decisions_digest: string | null;
}

/** What is written at once: each a JSON text of a list, because it is long and was made bit by bit. */
export interface WrittenTogether {
  /** `OpenSnapshot` of every version; `WholeSnapshot`, with `applied_policies`, of what is complete. */
  snapshots: string;
  /** `VersionEntry`. */
  versions: string;
  /** `environment_id`, `digest` and `decisions`. */
  decisions: string;
  /** `LineageEntry` with `environment_id`, each once. */
  lineage: string;
}

const snapshotColumns = sql`environment_id uuid, index integer, at_seconds float8, rows_before bigint,
  own_events_before bigint, compliant boolean, type text, cause text, counts json, applied_policies json, artifacts bigint[], ended bigint[], confirmed json, events integer,
  artifact_count bigint, judged_by text, report_digest text, seen_seq bigint, report_gaps real[], learned_limit real`;

const versionColumns = sql`environment_id uuid, id bigint, type text, was integer, now integer, repeats bigint,
  name text, fingerprint text, compliant boolean, running json, flows json, provenance uuid[], repo_ids uuid[],
  findings text, digest text, facts text, follows text[], doc text, decisions_digest text`;

const lineageColumns = sql`environment_id uuid, flow_id uuid, template_reference_name text, fingerprint text,
  name text, trail_name text, git_commit text, commit_url text, compliance_state text, started boolean`;

/**
 * Tells trails that their artifacts, of `added`, started or stopped to run. Logical environments tell nothing: their
 * members have. The ids are of the form that all have (`createIdSource`), in the order of the snapshot.
 */
function tellTrails(orgId: string): RawBuilder<unknown> {
  return sql`
    insert into trail_events (org_id, trail_id, id, occurred_at, type, data)
    select ${orgId}::uuid, (flow ->> 'trail_id')::uuid,
      (lpad(to_hex((extract(epoch from a.created_at) * 1000)::bigint), 12, '0')
        || '7' || lpad(to_hex((s.rows_before + row_number() over (order by a.environment_id, a.id)) % 4096), 3, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 17, 12) || '0000')::uuid,
      a.created_at, case a.type when 'exited' then 'artifact_stopped_running' else 'artifact_started_running' end,
      jsonb_build_object('artifact_fingerprint', a.fingerprint, 'environment_id', wire_id(e.id),
        'environment_name', e.name, 'snapshot_index', a.first_index,
        'template_reference_name', flow ->> 'template_reference_name')
      || case a.type when 'exited' then '{}' else jsonb_build_object('replica_number', a.now) end
    from added a
    join s on s.environment_id = a.environment_id
    join environments e on e.org_id = ${orgId}::uuid and e.id = a.environment_id and e.type <> 'logical'
    cross join lateral json_array_elements(a.flows) flow
    where a.type = 'exited' or a.type like 'started-%'`;
}

/**
 * Appends one snapshot to each environment that has all of its artifacts, with the versions that are new in it, and gives
 * the environments the state it found; trails learn which of their artifacts started and stopped to run. Versions of
 * snapshots that have not come any further are written without them. One statement. Needs the rows of the environments
 * locked, and numbers that follow their standing.
 */
export async function insertSnapshots(
  tx: Tx,
  orgId: string,
  { snapshots, versions, decisions, lineage }: WrittenTogether,
): Promise<void> {
  await sql`/* insert-snapshots */
    with s as materialized (
      select i.*, to_timestamp(i.at_seconds) as moment, coalesce((
          select event_count from snapshots before
          where before.org_id = ${orgId}::uuid and before.environment_id = i.environment_id
            and before.index = i.index - 1), 0) as events_before
      from json_to_recordset(${snapshots}::json) as i (${snapshotColumns})
    ), ended as (
      update snapshot_artifacts a set last_index = old.index - 1
      from (select s.environment_id, s.index, unnest(s.ended) as id from s) old
      where a.org_id = ${orgId}::uuid and a.environment_id = old.environment_id and a.id = old.id
        and a.last_index is null
    ), confirmed as (
      update snapshot_artifacts a set facts = known.facts
      from (
        select s.environment_id, c.id, c.facts from s, json_to_recordset(s.confirmed) as c (id bigint, facts text)
      ) known
      where a.org_id = ${orgId}::uuid and a.environment_id = known.environment_id and a.id = known.id
        and a.last_index is null
    ), added as (
      insert into snapshot_artifacts (org_id, environment_id, id, first_index, last_index, created_at, name, fingerprint,
        type, event_number, was, now, compliant, running, flows, provenance, repo_ids, findings, digest, facts, follows,
        doc, decisions_digest)
      select ${orgId}::uuid, v.environment_id, v.id, s.index, case when v.repeats is not null then s.index end, s.moment,
        coalesce(v.name, o.name), coalesce(v.fingerprint, o.fingerprint), v.type,
        case when v.type <> 'unchanged' then s.events_before + s.own_events_before + count(*) filter (where v.type <> 'unchanged')
          over (partition by v.environment_id order by v.id) end, v.was, v.now,
        case when v.repeats is null then v.compliant else o.compliant end, coalesce(v.running, o.running),
        coalesce(v.flows, o.flows), coalesce(v.provenance, o.provenance), coalesce(v.repo_ids, o.repo_ids),
        coalesce(v.findings, o.findings), coalesce(v.digest, o.digest), coalesce(v.facts, o.facts),
        coalesce(v.follows, o.follows), coalesce(v.doc, o.doc), coalesce(v.decisions_digest, o.decisions_digest)
      from json_to_recordset(${versions}::json) as v (${versionColumns})
      join s on s.environment_id = v.environment_id
      left join lateral (
        select * from snapshot_artifacts o
        where o.org_id = ${orgId}::uuid and o.environment_id = v.environment_id and o.id = v.repeats limit 1
      ) o on true
      returning environment_id, id, first_index, created_at, type, now, fingerprint, flows
    ), shared as (
      insert into snapshot_decisions (org_id, environment_id, digest, decisions)
      select ${orgId}::uuid, d.environment_id, d.digest, d.decisions
      from json_to_recordset(${decisions}::json) as d (environment_id uuid, digest text, decisions text)
      on conflict do nothing
    ), told as (
      ${tellTrails(orgId)}
    ), lineage as (
      insert into environment_lineage (org_id, environment_id, flow_id, template_reference_name, fingerprint,
        started_index, name, trail_name, git_commit, commit_url, compliance_state)
      select ${orgId}::uuid, i.environment_id, i.flow_id, i.template_reference_name, i.fingerprint,
        case when i.started then s.index else coalesce((
          -- It did not start now, and keeps the start it has.
          select known.started_index from environment_lineage known
          where known.org_id = ${orgId}::uuid and known.environment_id = i.environment_id
            and known.flow_id = i.flow_id and known.template_reference_name = i.template_reference_name
            and known.fingerprint = i.fingerprint), s.index) end,
        i.name, i.trail_name, i.git_commit, i.commit_url,
        i.compliance_state
      from json_to_recordset(${lineage}::json) as i (${lineageColumns})
      join s on s.environment_id = i.environment_id
      on conflict (org_id, environment_id, flow_id, template_reference_name, fingerprint) do update
      set started_index = excluded.started_index, name = excluded.name,
        trail_name = excluded.trail_name, git_commit = excluded.git_commit, commit_url = excluded.commit_url,
        compliance_state = excluded.compliance_state
    ), inserted as (
      insert into snapshots (org_id, environment_id, index, created_at, compliant, type, cause,
        event_count, artifact_compliance_count, applied_policies, artifacts)
      select ${orgId}::uuid, environment_id, index, moment, compliant, type, cause, events_before + events, counts,
        applied_policies, artifacts
      from s where artifacts is not null
    ), standings as (
      insert into environment_reports as r (org_id, environment_id, snapshot_count, artifact_count, latest_at,
        judged_by, report_digest, seen_seq, report_gaps, learned_limit)
      select ${orgId}::uuid, environment_id, index, artifact_count, moment, judged_by, coalesce(report_digest, ''),
        coalesce(seen_seq, 0), coalesce(report_gaps, '{}'), learned_limit
      from s where artifacts is not null
      on conflict (org_id, environment_id) do update
      set snapshot_count = excluded.snapshot_count, artifact_count = excluded.artifact_count,
        latest_at = excluded.latest_at, judged_by = excluded.judged_by,
        report_digest = coalesce(nullif(excluded.report_digest, ''), r.report_digest),
        seen_seq = greatest(excluded.seen_seq, r.seen_seq),
        -- Whether a report led here or something else, it is the report that has a rhythm.
        report_gaps = case when excluded.report_digest = '' then r.report_gaps else excluded.report_gaps end,
        learned_limit = case when excluded.report_digest = '' then r.learned_limit else excluded.learned_limit end
    )
    update environments e
    set state = s.compliant, last_changed_at = s.moment, last_modified_at = s.moment,
      last_reported_at = case when s.report_digest is null then e.last_reported_at else s.moment end
    from s where e.org_id = ${orgId}::uuid and e.id = s.environment_id and s.artifacts is not null`.execute(
    tx,
  );
}
