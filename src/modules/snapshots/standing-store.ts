import { type RawBuilder, sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import type { VersionBrief } from "../../domain/snapshot/settle.ts";
import type { ConfirmedVersion } from "../../domain/snapshot/versions.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { presentFacts } from "./facts-store.ts";
import { type NewRhythm, type ReportRhythm, type Standing, standing } from "./timeline-store.ts";

/** What a report is measured against. */
export interface ReportStanding extends Standing, ReportRhythm {
  /** The last number in the audit log. */
  audit_seq: number;
  /** Whether flows may know something of what runs that the last report did not take into account. */
  has_news: boolean;
}

/** Entries of the audit log, and what they lead to, up to which following them costs less than looking at all that runs. */
const few = { entries: 100, trails: 250, artifacts: 500 };

/** What entries tell of that is nothing to flows. What is not among these, nor followed below, is taken to matter. */
const unrelated = [
  "action",
  "allowlist",
  "api_key",
  "environment",
  "member",
  "notification_delivery",
  "policy",
  "quality_delivery",
  "service_account",
  "snapshot",
  "user",
];

/** SQL for the trails that the entry `n` tells of; none for one that tells of anything else. */
function trailsOf(orgId: string): RawBuilder<unknown> {
  return sql`
    select a.trail_id from (
      select trail_id from artifacts
      where org_id = ${orgId}::uuid and n.resource_type = 'artifact' and fingerprint = n.resource collate "C" offset 0) a
    union all
    select trail_id from attestations
    where org_id = ${orgId}::uuid and id = case
      when n.resource_type = 'attestation' and n.resource ~ '^[0-9a-f-]{32}$' then (n.resource || '0000')::uuid end
    union all
    select t.id from flows f
    cross join lateral (
      select id from trails
      where org_id = ${orgId}::uuid and flow_id = f.id
        and name = substr(n.resource, strpos(n.resource, '/') + 1) collate "C" limit 1) t
    where f.org_id = ${orgId}::uuid and n.resource_type = 'trail'
      and f.name = split_part(n.resource, '/', 1) collate "C"`;
}

/**
 * SQL for whether flows may know something else of what runs in the environment `e` since its last report. Who changes what
 * flows know appends to the audit log in the same transaction, and its numbers are in the order of commits: what has
 * happened since are the entries after `r.seen_seq`. They are followed to the trails they are about, whose verdicts they
 * have written again, and on to the artifacts there.
 */
function hasNews(orgId: string): RawBuilder<boolean> {
  return sql<boolean>`(
    with entries as materialized (
      select l.resource_type, l.resource from audit_log l
      where l.org_id = ${orgId}::uuid and l.seq > r.seen_seq order by l.seq limit ${sql.lit(few.entries + 1)}
    ), touched as materialized (
      select t.trail_id from entries n left join lateral (${trailsOf(orgId)}) t on true
      where n.resource_type <> all (${unrelated}::text[]) limit ${sql.lit(few.trails + 1)}
    ), named as materialized (
      select a.fingerprint from (select distinct trail_id from touched) t
      cross join lateral (
        select fingerprint from artifacts where org_id = ${orgId}::uuid and trail_id = t.trail_id offset 0) a
      limit ${sql.lit(few.artifacts + 1)}
    )
    select (select count(*) > ${sql.lit(few.entries)} from entries)
      or (select coalesce(bool_or(trail_id is null), false) or count(*) > ${sql.lit(few.trails)} from touched)
      or (select count(*) > ${sql.lit(few.artifacts)} from named)
      or exists (
        select from named n cross join lateral (
          select from snapshot_artifacts
          where org_id = ${orgId}::uuid and environment_id = e.id and fingerprint = n.fingerprint
            and last_index is null limit 1) v))`;
}

/** Where the record of an environment stands. Needs its row locked. */
export async function getReportStanding(
  tx: Tx,
  orgId: string,
  environmentId: string,
): Promise<ReportStanding> {
  const { rows } = await sql<ReportStanding>`/* report-standing */
    select ${standing}, e.created_at, e.last_reported_at, coalesce(r.report_gaps, '{}') as report_gaps,
      e.silence_limit, r.learned_limit, exists (
        select from environment_silences s
        where s.org_id = e.org_id and s.environment_id = e.id and s.ended_at is null) as is_silent,
      coalesce((select audit_seq from org_counters where org_id = e.org_id), 0) as audit_seq,
      ${hasNews(orgId)} as has_news
    from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where e.org_id = ${orgId}::uuid and e.id = ${environmentId}::uuid`.execute(tx);
  return rows[0]!;
}

/** What runs in an environment by its latest snapshot, in brief and in no order. */
export async function listVersionBriefs(
  db: Executor,
  orgId: string,
  environmentId: string,
): Promise<VersionBrief[]> {
  const { rows } = await sql<VersionBrief>`/* version-briefs */
    select v.id, v.name, v.fingerprint, v.compliant, v.running::text as running, v.follows,
      case when not v.compliant then v.findings end as findings,
      v.facts <> ${presentFacts(orgId, sql`v.fingerprint`)} as is_stale
    from snapshot_artifacts v
    where v.org_id = ${orgId}::uuid and v.environment_id = ${environmentId}::uuid and v.last_index is null`.execute(
    db,
  );
  return rows;
}

/** Notes that versions hold by what flows know now. */
export async function confirmVersions(
  tx: Tx,
  orgId: string,
  environmentId: string,
  confirmed: readonly ConfirmedVersion[],
): Promise<void> {
  await sql`/* confirm-versions */
    update snapshot_artifacts a set facts = known.facts
    from json_to_recordset(${JSON.stringify(confirmed)}::json) as known (id bigint, facts text)
    where a.org_id = ${orgId}::uuid and a.environment_id = ${environmentId}::uuid and a.id = known.id
      and a.last_index is null`.execute(tx);
}

/** What is kept of a report. */
export interface Reported extends NewRhythm {
  environment_id: string;
  at: Timestamp;
  /** What it said. */
  digest: string;
  /** The last number in the audit log that it took into account. */
  seen_seq: number;
}

/** Notes that an environment was reported on and nothing had changed. */
export async function updateReported(tx: Tx, orgId: string, report: Reported): Promise<void> {
  const { environment_id, at, digest, seen_seq, report_gaps, learned_limit } = report;
  await sql`/* unchanged-report */
    with known as (
      update environment_reports set report_digest = ${digest}, seen_seq = ${seen_seq},
        report_gaps = ${report_gaps}::real[], learned_limit = ${learned_limit}::real
      where org_id = ${orgId}::uuid and environment_id = ${environment_id}::uuid
    )
    update environments set last_reported_at = to_timestamp(${at}::float8), last_modified_at = to_timestamp(${at}::float8)
    where org_id = ${orgId}::uuid and id = ${environment_id}::uuid`.execute(tx);
}
