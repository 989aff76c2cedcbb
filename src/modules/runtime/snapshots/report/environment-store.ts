import type { Executor, Tx } from "../../../../db/connect.ts";
import {
  boolean,
  float,
  floats,
  integer,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
  uuid,
} from "../../../../db/row.ts";
import { command, param, query, sql } from "../../../../db/sql.ts";
import { environmentTypes } from "../../../../domain/environments.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { meantEnvironment } from "../../environments/names-sql.ts";
import { quietSince } from "../../environments/silent-sql.ts";
import { hasNews } from "./news-sql.ts";

/** An environment, and how far its snapshots have come. */
const environmentRecord = {
  id: uuid,
  name: text,
  type: oneOf(environmentTypes),
  state: nullable(boolean),
  /** How many snapshots there are, which is the index of the latest. */
  snapshot_count: integer,
  /** The highest id of its rows in `snapshot_artifacts`. */
  artifact_count: integer,
  /** When the latest snapshot was made; null without one. */
  latest_at: nullable(timestamp),
  report_digest: text,
  /** What the latest snapshot was judged by, but for what flows knew. */
  judged_by: text,
};
export type EnvironmentRecord = RowOf<typeof environmentRecord>;

/** SQL for an `EnvironmentRecord`, of the environment `e` with its reports `r`. */
const recordColumns = sql`e.id, e.name, e.type, e.state, coalesce(r.snapshot_count, 0) as snapshot_count,
  coalesce(r.artifact_count, 0) as artifact_count, r.latest_at, coalesce(r.report_digest, '') as report_digest,
  coalesce(r.judged_by, '') as judged_by`;

/** An environment with everything that a report to it is compared with. */
const reportedRecord = {
  ...environmentRecord,
  last_reported_at: nullable(timestamp),
  /** The last report, its beginning, or when it came out of the archive. */
  quiet_since: timestamp,
  /** Seconds between the latest reports. */
  report_gaps: floats,
  silence_limit: nullable(integer),
  learned_limit: nullable(float),
  /** Whether a silence was noticed that this report ends. */
  is_silent: boolean,
  /** The last number in the audit log. */
  audit_seq: integer,
  /** Whether flows may know something of what runs that the last report did not take into account. */
  has_news: boolean,
  /** Whether they knew something else already when the last report came, and no snapshot has been made since. */
  is_stale: boolean,
};
export type ReportedRecord = RowOf<typeof reportedRecord>;

/** Finds an environment by a name that leads to it, and keeps others from reporting to it or changing it. */
export function lockReportedEnvironment(
  tx: Tx,
  orgId: string,
  name: string,
): Promise<{ id: string; type: string; archived: boolean } | undefined> {
  const org = param(orgId);
  return tx.first(query("lock-environment", { id: uuid, type: text, archived: boolean })`
    select e.id, e.type, e.archived from environments e
    where e.org_id = ${org}::uuid and e.id = (select found.id from ${meantEnvironment(org, param(name))} found)
    for no key update`);
}

/** Reads what a report to an environment is compared with. Needs the environment's row locked. */
export function getReportedRecord(tx: Tx, orgId: string, environmentId: string): Promise<ReportedRecord> {
  const org = param(orgId);
  return tx.one(query("reported-record", reportedRecord)`
    select ${recordColumns}, e.last_reported_at, ${quietSince("e")} as quiet_since, coalesce(r.report_gaps, '{}') as report_gaps,
      e.silence_limit, e.learned_limit, exists (
        select from environment_silences s
        where s.org_id = ${org}::uuid and s.environment_id = e.id and s.ended_at is null) as is_silent,
      coalesce((select audit_seq from org_counters where org_id = ${org}::uuid), 0) as audit_seq,
      ${hasNews(orgId)} as has_news, coalesce(r.is_stale, true) as is_stale
    from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where e.org_id = ${org}::uuid and e.id = ${environmentId}::uuid`);
}

/** Locks environments in order of their ids, and reads the records of the live ones: two statements. */
export async function lockRecords(
  tx: Tx,
  orgId: string,
  environmentIds: readonly string[],
): Promise<EnvironmentRecord[]> {
  await tx.run(sql`select from environments where org_id = ${orgId}::uuid and id = any(${environmentIds}::uuid[])
    order by id for no key update`);
  return tx.all(query(environmentRecord)`
    select ${recordColumns}
    from environments e left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where e.org_id = ${orgId}::uuid and e.id = any(${environmentIds}::uuid[]) and not e.archived
    order by e.id`);
}

/** Times of reports, as far as they are remembered. */
interface ReportRhythm {
  report_gaps: number[];
  learned_limit: number | null;
}

/** A report, as far as it is remembered to recognise the next one by. */
export interface RememberedReport extends ReportRhythm {
  /** The same for all reports that name the same artifacts. */
  digest: string;
  /** The last number in the audit log that it took into account. */
  seen_seq: number;
}

/** Notes that an environment was reported on and nothing had changed that is a reason for a snapshot. */
export async function updateReported(
  tx: Tx,
  orgId: string,
  {
    environment_id,
    at,
    ...report
  }: RememberedReport & {
    environment_id: string;
    at: Timestamp;
    is_stale: boolean;
  },
): Promise<void> {
  const { digest, seen_seq, report_gaps, learned_limit, is_stale } = report;
  const [org, environment, moment] = [param(orgId), param(environment_id), param(at)];
  await tx.run(command("unchanged-report")`
    with known as (
      update environment_reports set report_digest = ${digest}, seen_seq = ${seen_seq},
        report_gaps = ${report_gaps}::real[], is_stale = ${is_stale}
      where org_id = ${org}::uuid and environment_id = ${environment}::uuid
    )
    update environments set last_reported_at = to_timestamp(${moment}::float8),
      last_modified_at = to_timestamp(${moment}::float8), learned_limit = ${learned_limit}::real
    where org_id = ${org}::uuid and id = ${environment}::uuid`);
}

/** Lists which of these environments are logical. */
export async function listLogicalIds(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<string[]> {
  const rows = await db.all(query({ id: uuid })`
    select id from environments
    where org_id = ${orgId}::uuid and id = any(${environmentIds}::uuid[]) and type = 'logical'
    order by id`);
  return rows.map(({ id }) => id);
}

/** Locks the live logical environments around these, in order of their ids. @returns their ids. */
export async function lockGroups(tx: Tx, orgId: string, memberIds: readonly string[]): Promise<string[]> {
  const rows = await tx.all(query("lock-groups", { id: uuid })`
    select id from environments
    where org_id = ${orgId}::uuid and not archived and id in (
      select logical_id from environment_members
      where org_id = ${orgId}::uuid and member_id = any(${memberIds}::uuid[]))
    order by id for no key update`);
  return rows.map(({ id }) => id);
}

/** An environment in a logical one. */
const member = {
  logical_id: uuid,
  id: uuid,
  name: text,
  state: nullable(boolean),
  snapshot_count: integer,
  /** How much runs there, by its latest snapshot. */
  artifacts: integer,
};
export type MemberRow = RowOf<typeof member>;

/** Lists the members of logical environments, in their order. */
export function listMembers(
  db: Executor,
  orgId: string,
  logicalIds: readonly string[],
): Promise<MemberRow[]> {
  return db.all(query(member)`
    select em.logical_id, e.id, e.name, e.state, coalesce(r.snapshot_count, 0) as snapshot_count,
      coalesce((
        select (counts ->> 'true')::integer + (counts ->> 'false')::integer + (counts ->> 'null')::integer
        from (
          select artifact_compliance_count as counts from snapshots
          where org_id = ${orgId} and environment_id = em.member_id and index = r.snapshot_count) latest
      ), 0) as artifacts
    from environment_members em
    join environments e on e.org_id = em.org_id and e.id = em.member_id
    left join environment_reports r on r.org_id = e.org_id and r.environment_id = e.id
    where em.org_id = ${orgId}::uuid and em.logical_id = any(${logicalIds}::uuid[])
    order by em.logical_id, em.position`);
}
