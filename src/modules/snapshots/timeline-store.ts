import { type RawBuilder, sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import type { AppliedPolicy } from "../../domain/policy/evaluation/model.ts";
import { lineageText, type LineageKey, type Predecessor } from "../../domain/snapshot/flows-of.ts";
import type { SnapshotFlow } from "../../domain/snapshot/provenance.ts";
import type { RunningArtifact } from "../../domain/snapshot/running.ts";
import type { SnapshotPlan, StoredVersion } from "../../domain/snapshot/versions.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { sha256 } from "../../lib/hash.ts";

/** Where an environment's record stands. */
export interface Standing {
  id: string;
  name: string;
  type: string;
  state: boolean | null;
  /** How many snapshots there are, which is the index of the latest. */
  snapshot_count: number;
  /** The highest id of its rows in `snapshot_artifacts`. */
  artifact_count: number;
  /** When the latest snapshot was made; null without one. */
  latest_at: Timestamp | null;
  report_digest: string;
  /** What the latest snapshot was judged by, but for what flows knew. */
  judged_by: string;
}

/** How often an environment is reported on, and whether it was missed. */
export interface ReportRhythm {
  created_at: Timestamp;
  last_reported_at: Timestamp | null;
  /** Seconds between the latest reports. */
  report_gaps: number[];
  silence_limit: number | null;
  learned_limit: number | null;
  /** Whether a silence was noticed that this report ends. */
  is_silent: boolean;
}

/** What reports add to the rhythm. */
export interface NewRhythm {
  report_gaps: number[];
  learned_limit: number | null;
}

/** An environment that nobody else reports to or changes until the transaction ends, by a name that leads to it. */
export async function lockReportedEnvironment(
  tx: Tx,
  orgId: string,
  name: string,
): Promise<{ id: string; type: string; archived: boolean } | undefined> {
  const { rows } = await sql<{ id: string; type: string; archived: boolean }>`/* lock-environment */
    select e.id, e.type, e.archived from environments e
    where e.org_id = ${orgId}::uuid and e.id = (
      select id from find_environment(${orgId}::uuid, ${name}::text))
    for no key update`.execute(tx);
  return rows[0];
}

/** SQL for a `Standing`, of the environment `e` with the record `r`. */
export const standing = sql`e.id, e.name, e.type, e.state, coalesce(r.snapshot_count, 0) as snapshot_count,
  coalesce(r.artifact_count, 0) as artifact_count, r.latest_at, coalesce(r.report_digest, '') as report_digest,
  coalesce(r.judged_by, '') as judged_by`;

/** Locks environments in order of their ids, and tells where the records of the living ones stand: two statements. */
export async function lockStandings(
  tx: Tx,
  orgId: string,
  environmentIds: readonly string[],
): Promise<Standing[]> {
  await sql`select from environments where org_id = ${orgId}::uuid and id = any(${environmentIds}::uuid[])
    order by id for no key update`.execute(tx);
  const { rows } = await sql<Standing>`
    select ${standing}
    from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where e.org_id = ${orgId}::uuid and e.id = any(${environmentIds}::uuid[]) and not e.archived
    order by e.id`.execute(tx);
  return rows;
}

interface VersionRow extends Omit<StoredVersion, "running" | "creationTimestamp"> {
  environment_id: string;
  running: Omit<RunningArtifact, "name" | "fingerprint">;
  flows: SnapshotFlow[];
}

const versionRow = sql`environment_id, id, name, fingerprint, compliant, provenance, findings, digest, facts, running,
  flows`;

/** What runs in environments by their latest snapshots, in no order. */
export async function listRunningVersions(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<Map<string, StoredVersion[]>> {
  const { rows } = await sql<VersionRow>`/* running-versions */
    select ${versionRow} from snapshot_artifacts
    where org_id = ${orgId}::uuid and environment_id = any(${environmentIds}::uuid[])
      and last_index is null`.execute(db);
  return byEnvironment(rows);
}

/** Some versions in an environment, by their ids, in no order. */
export async function listVersions(
  db: Executor,
  orgId: string,
  environmentId: string,
  ids: readonly number[],
): Promise<StoredVersion[]> {
  const { rows } = await sql<VersionRow>`/* some-versions */
    select a.* from unnest(${ids}::bigint[]) as asked (id)
    cross join lateral (
      select ${versionRow} from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and id = asked.id limit 1
    ) a`.execute(db);
  return byEnvironment(rows).get(environmentId) ?? [];
}

function byEnvironment(rows: readonly VersionRow[]): Map<string, StoredVersion[]> {
  const versions = new Map<string, StoredVersion[]>();
  for (const { environment_id, ...row } of rows) {
    const { name, fingerprint } = row;
    const running = { name, fingerprint, ...row.running };
    const version = { ...row, running, creationTimestamp: running.creationTimestamp };
    const known = versions.get(environment_id);
    if (known === undefined) versions.set(environment_id, [version]);
    else known.push(version);
  }
  return versions;
}

/**
 * What ran last in an environment under each flow and template name, other than the artifact itself. By environment, then
 * by `lineageText` of what it precedes.
 */
export async function listPredecessors(
  db: Executor,
  orgId: string,
  wanted: readonly (LineageKey & { environment_id: string })[],
): Promise<Map<string, Map<string, Predecessor>>> {
  const input = JSON.stringify(wanted);
  const { rows } = await sql<LineageKey & { environment_id: string; found: Predecessor }>`/* predecessors */
    select w.environment_id, w.flow_id, w.template_reference_name, w.fingerprint, json_build_object('name', l.name,
      'fingerprint', l.fingerprint, 'trail_name', l.trail_name, 'git_commit', l.git_commit,
      'commit_url', l.commit_url, 'compliance_state', l.compliance_state) as found
    from json_to_recordset(${input}::json) as w (environment_id uuid, flow_id uuid, template_reference_name text,
      fingerprint text)
    cross join lateral (
      select * from environment_lineage l
      where l.org_id = ${orgId}::uuid and l.environment_id = w.environment_id and l.flow_id = w.flow_id
        and l.template_reference_name = w.template_reference_name and l.fingerprint <> w.fingerprint
      order by l.started_index desc, l.fingerprint limit 1) l`.execute(db);
  const predecessors = new Map<string, Map<string, Predecessor>>();
  for (const { environment_id, found, ...key } of rows) {
    const known = predecessors.get(environment_id) ?? new Map<string, Predecessor>();
    predecessors.set(environment_id, known.set(lineageText(key), found));
  }
  return predecessors;
}

/** Which of these environments are logical. */
export async function listLogicalIds(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from environments
    where org_id = ${orgId}::uuid and id = any(${environmentIds}::uuid[]) and type = 'logical'
    order by id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Locks the living logical environments around these, in order of their ids. @returns their ids. */
export async function lockGroups(tx: Tx, orgId: string, memberIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`/* lock-groups */
    select id from environments
    where org_id = ${orgId}::uuid and not archived and id in (
      select logical_id from environment_members
      where org_id = ${orgId}::uuid and member_id = any(${memberIds}::uuid[]))
    order by id for no key update`.execute(tx);
  return rows.map(({ id }) => id);
}

/** An environment in a logical one. */
export interface MemberRow {
  logical_id: string;
  id: string;
  name: string;
  state: boolean | null;
  snapshot_count: number;
}

/** The members of logical environments, in their order. */
export async function listMembers(
  db: Executor,
  orgId: string,
  logicalIds: readonly string[],
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select em.logical_id, e.id, e.name, e.state, coalesce(r.snapshot_count, 0) as snapshot_count
    from environment_members em
    join environments e on e.org_id = em.org_id and e.id = em.member_id
    left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where em.org_id = ${orgId}::uuid and em.logical_id = any(${logicalIds}::uuid[])
    order by em.logical_id, em.position`.execute(db);
  return rows;
}

/** A snapshot ready to be written. */
export interface NewSnapshot {
  environment_id: string;
  index: number;
  at: Timestamp;
  state: boolean | null;
  type: string;
  cause: string;
  counts: Record<string, number>;
  applied_policies: AppliedPolicy[];
  plan: SnapshotPlan;
  judged_by: string;
  /** Of the report that led to it; null for what no report led to. */
  report: ({ digest: string; seen_seq: number } & NewRhythm) | null;
}

const snapshotColumns = sql`environment_id uuid, index integer, at_seconds float8, compliant boolean, type text,
  cause text, counts json, applied_policies json, artifacts bigint[], ended bigint[], confirmed json, events integer,
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
        || '7' || lpad(to_hex(row_number() over (order by a.environment_id, a.id) % 4096), 3, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 17, 12) || '0000')::uuid,
      a.created_at, case a.type when 'exited' then 'artifact_stopped_running' else 'artifact_started_running' end,
      jsonb_build_object('artifact_fingerprint', a.fingerprint, 'environment_id', wire_id(e.id),
        'environment_name', e.name, 'snapshot_index', a.first_index,
        'template_reference_name', flow ->> 'template_reference_name')
      || case a.type when 'exited' then '{}' else jsonb_build_object('replica_number', a.now) end
    from added a
    join environments e on e.org_id = ${orgId}::uuid and e.id = a.environment_id and e.type <> 'logical'
    cross join lateral json_array_elements(a.flows) flow
    where a.type = 'exited' or a.type like 'started-%'`;
}

/** New versions with a digest in place of what policies decided, and each of those texts once for each environment. */
function shareDecisions(snapshots: readonly NewSnapshot[]) {
  const digests = new Map<string, string>();
  const digestOf = (text: string): string => {
    const digest = digests.get(text) ?? sha256(text).toString("base64");
    digests.set(text, digest);
    return digest;
  };
  const versions = snapshots.flatMap(({ environment_id, plan }) =>
    plan.versions.map(({ decisions, ...version }) => {
      const decisions_digest = decisions === null ? null : digestOf(decisions);
      return { environment_id, ...version, decisions_digest };
    }),
  );
  const decisions = snapshots.flatMap(({ environment_id, plan }) =>
    [...new Set(plan.versions.flatMap((version) => version.decisions ?? []))].map((text) => ({
      environment_id,
      digest: digestOf(text),
      decisions: text,
    })),
  );
  return { versions, decisions };
}

/**
 * Appends one snapshot to each of these environments, with the versions of artifacts that are new in it, and gives the
 * environments the state it found; trails learn which of their artifacts started and stopped to run. One statement.
 * Needs the rows of the environments locked, and numbers that follow their standing.
 */
export async function insertSnapshots(
  tx: Tx,
  orgId: string,
  snapshots: readonly NewSnapshot[],
): Promise<void> {
  const heads = snapshots.map(({ plan, report, state, at, ...rest }) => ({
    ...rest,
    at_seconds: at,
    compliant: state,
    artifacts: plan.artifacts,
    ended: plan.ended,
    confirmed: plan.confirmed,
    events: plan.versions.filter(({ type }) => type !== "unchanged").length,
    artifact_count: plan.artifact_count,
    report_digest: report?.digest ?? null,
    seen_seq: report?.seen_seq ?? null,
    report_gaps: report?.report_gaps ?? null,
    learned_limit: report?.learned_limit ?? null,
  }));
  const { versions, decisions } = shareDecisions(snapshots);
  const lineage = snapshots.flatMap(({ environment_id, plan }) =>
    plan.lineage.map((entry) => ({ environment_id, ...entry })),
  );
  await sql`/* insert-snapshots */
    with s as materialized (
      select i.*, to_timestamp(i.at_seconds) as moment, coalesce((
          select event_count from snapshots before
          where before.org_id = ${orgId}::uuid and before.environment_id = i.environment_id
            and before.index = i.index - 1), 0) as events_before
      from json_to_recordset(${JSON.stringify(heads)}::json) as i (${snapshotColumns})
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
        case when v.type <> 'unchanged' then s.events_before + count(*) filter (where v.type <> 'unchanged')
          over (partition by v.environment_id order by v.id) end, v.was, v.now,
        case when v.repeats is null then v.compliant else o.compliant end, coalesce(v.running, o.running),
        coalesce(v.flows, o.flows), coalesce(v.provenance, o.provenance), coalesce(v.repo_ids, o.repo_ids),
        coalesce(v.findings, o.findings), coalesce(v.digest, o.digest), coalesce(v.facts, o.facts),
        coalesce(v.follows, o.follows), coalesce(v.doc, o.doc), coalesce(v.decisions_digest, o.decisions_digest)
      from json_to_recordset(${JSON.stringify(versions)}::json) as v (${versionColumns})
      join s on s.environment_id = v.environment_id
      left join lateral (
        select * from snapshot_artifacts o
        where o.org_id = ${orgId}::uuid and o.environment_id = v.environment_id and o.id = v.repeats limit 1
      ) o on true
      returning environment_id, id, first_index, created_at, type, now, fingerprint, flows
    ), shared as (
      insert into snapshot_decisions (org_id, environment_id, digest, decisions)
      select ${orgId}::uuid, d.environment_id, d.digest, d.decisions
      from json_to_recordset(${JSON.stringify(decisions)}::json) as d (environment_id uuid, digest text, decisions text)
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
      from json_to_recordset(${JSON.stringify(lineage)}::json) as i (${lineageColumns})
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
      from s
    ), standings as (
      insert into environment_reports as r (org_id, environment_id, snapshot_count, artifact_count, latest_at,
        judged_by, report_digest, seen_seq, report_gaps, learned_limit)
      select ${orgId}::uuid, environment_id, index, artifact_count, moment, judged_by, coalesce(report_digest, ''),
        coalesce(seen_seq, 0), coalesce(report_gaps, '{}'), learned_limit from s
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
    from s where e.org_id = ${orgId}::uuid and e.id = s.environment_id`.execute(tx);
}
