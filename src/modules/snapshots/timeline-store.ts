import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import { lineageText, type LineageKey, type Predecessor } from "../../domain/snapshot/flows-of.ts";
import type { Timestamp } from "../../lib/clock.ts";

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
  /** How much runs there, by its latest snapshot. */
  artifacts: number;
}

/** The members of logical environments, in their order. */
export async function listMembers(
  db: Executor,
  orgId: string,
  logicalIds: readonly string[],
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select em.logical_id, e.id, e.name, e.state, coalesce(r.snapshot_count, 0) as snapshot_count,
      coalesce((
        select (counts ->> 'true')::integer + (counts ->> 'false')::integer + (counts ->> 'null')::integer
        from (
          select artifact_compliance_count as counts from snapshots
          where org_id = em.org_id and environment_id = em.member_id and index = r.snapshot_count) latest
      ), 0) as artifacts
    from environment_members em
    join environments e on e.org_id = em.org_id and e.id = em.member_id
    left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where em.org_id = ${orgId}::uuid and em.logical_id = any(${logicalIds}::uuid[])
    order by em.logical_id, em.position`.execute(db);
  return rows;
}
