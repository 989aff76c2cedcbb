import {
  boolean,
  float,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
  texts,
  timestamp,
  uuid,
} from "../../../db/row.ts";
import { isHeavy } from "../../../db/heavy-page.ts";
import { rowById } from "../../../db/row-by-id.ts";
import { type Parameter, param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { hasValue } from "../../../db/value-number.ts";
import type { Executor } from "../../../db/connect.ts";
import { saidOfNames } from "../../process/compliance/verdict-sql.ts";
import { complianceStates, type KeptVerdict } from "../../../domain/compliance/model.ts";

/** What begins with a text. */
const matches = {
  /** Fingerprints of artifacts that were reported. */
  built: texts,
  /** Fingerprints of artifacts that ran. */
  ran: texts,
  commits: texts,
};

/** A range of an indexed column, and how many of its values are wanted. */
interface ValueRange {
  org: Parameter;
  /** Inclusive; the end is not. */
  from: Parameter;
  to: Parameter;
  most: Parameter;
}

/** Selects the distinct values of an indexed column: one step in the index for each, however many rows. */
export function distinctValues(column: string, table: string, { org, from, to, most }: ValueRange): Sql {
  const next = raw(`select ${column} from ${table}`);
  const value = raw(column);
  const begin = sql`${next} where org_id = ${org}::uuid and ${value} < ${to}::text`;
  return sql`with recursive found (value) as (
      (${begin} and ${value} >= ${from}::text order by ${value} limit 1)
      union all
      select (${begin} and ${value} > found.value order by ${value} limit 1) from found where found.value is not null
    ) select value from found where value is not null limit ${most}::bigint`;
}

/** Finds what begins with these lower-case digits, at most `limit` of each kind, in order. */
export function findMatches(
  db: Executor,
  orgId: string,
  digits: string,
  limit: number,
): Promise<RowOf<typeof matches>> {
  const org = param(orgId);
  const from = param(digits);
  // Every digit comes before the letter g.
  const to = param(`${digits}g`);
  const most = param(limit);
  const distinct = (column: string, table: string): Sql =>
    distinctValues(column, table, { org, from, to, most });
  return db.one(query("search-matches", matches)`select
    array(${distinct("fingerprint", "artifacts")}) as built,
    array(${distinct("fingerprint", "snapshot_artifacts")}) as ran,
    array(${distinct("git_commit", "artifacts")}) as commits`);
}

/** What a report may say at length. */
const reportTexts = { filename: text, commit_url: text, build_url: text };

/** The texts of the report of an artifact. */
export type ReportTexts = RowOf<typeof reportTexts>;

/** Columns of the latest report of an artifact in one flow. */
const found = {
  fingerprint: text,
  artifact_id: uuid,
  template_reference_name: text,
  git_commit: nullable(text),
  /** When the commit was made, if the report said. */
  committed_at: nullable(float),
  /** Of the first report there. */
  created_at: timestamp,
  flow_name: text,
  trail_name: text,
  trail_state: nullable(oneOf(complianceStates)),
  artifact_row: nullable(json<NonNullable<KeptVerdict["artifact_row"]>>()),
  /** Of its texts. */
  bytes: integer,
  /** Null in every row where all of them are too much at once. */
  texts: nullable(json<ReportTexts>()),
};

export type FoundRow = RowOf<typeof found>;

/** What is compared where the two ways to a report meet. What it says at length is looked up when it is known which are shown. */
const reportColumns = raw("a.id, a.flow_id, a.trail_id, a.fingerprint");

/**
 * Lists artifacts with these fingerprints or built from these commits, by flow: the newest reports, the artifacts known
 * longest first.
 */
export function listFound(
  db: Executor,
  orgId: string,
  { fingerprints, commits }: { fingerprints: readonly string[]; commits: readonly string[] },
  limit: number,
): Promise<FoundRow[]> {
  const org = param(orgId);
  const texts = sql`json_build_object('filename', a.filename, 'commit_url', a.commit_url, 'build_url', a.build_url)`;
  const page = sql`
      select a.id, a.flow_id, a.trail_id, a.fingerprint, a.filename, a.template_reference_name, a.git_commit,
        a.git_commit_info, a.commit_url, a.build_url, known.first_at, w.bytes, sum(w.bytes) over () as all_bytes
      from (
        select latest.* from unnest((select ${fingerprints}::text[])) as asked (fingerprint)
        cross join lateral (
          select distinct on (a.flow_id) ${reportColumns},
            min(a.created_at) over (partition by a.flow_id) as first_at
          from (select * from artifacts where org_id = ${org}::uuid and fingerprint = asked.fingerprint offset 0) a
          order by a.flow_id, a.id desc
        ) as latest
        union
        select of_commit.* from unnest((select ${commits}::text[])) as asked (git_commit)
        cross join lateral (
          select distinct on (a.flow_id, a.fingerprint) ${reportColumns},
            min(a.created_at) over (partition by a.flow_id, a.fingerprint) as first_at
          from (select * from artifacts where org_id = ${org}::uuid and git_commit = asked.git_commit
            order by id desc limit 10000) a
          order by a.flow_id, a.fingerprint, a.id desc
        ) as of_commit
        order by id desc limit ${limit}::bigint
      ) as known
      ${rowById("artifacts", "a", sql`${org}::uuid`, "known.id")}
      cross join lateral (
        select octet_length(a.filename) + octet_length(a.commit_url) + octet_length(a.build_url) as bytes) w`;
  return db.all(query("search-artifacts", found)`
    with page as materialized (${page}),
      verdicts as materialized (${saidOfNames(sql`${org}::uuid`, sql`select trail_id, template_reference_name from page`)})
    select a.fingerprint, a.id as artifact_id, a.template_reference_name, a.git_commit,
      (a.git_commit_info ->> 'timestamp')::float8 as committed_at, a.first_at as created_at,
      f.name as flow_name, t.name as trail_name, c.own_state as trail_state,
      case when v.said is not null then json_build_object('artifact_fingerprint', v.said -> 'artifact_fingerprint',
        'status', v.said -> 'status') end as artifact_row,
      a.bytes, case when not ${isHeavy(raw("a.all_bytes"))} then ${texts} end as texts
    from page a
    ${rowById("flows", "f", sql`${org}::uuid`, "a.flow_id")}
    ${rowById("trails", "t", sql`${org}::uuid`, "a.trail_id")}
    left join lateral (
      select own_state from trail_compliance where org_id = ${org}::uuid and trail_id = a.trail_id limit 1) c on true
    left join verdicts v on v.trail_id = a.trail_id and v.name = a.template_reference_name
    order by a.first_at, a.id`);
}

/** Reads what reports say at length, by their ids and in that order. Those that are gone by then, with their month, are left out. */
export function listReportTexts(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<(ReportTexts & { artifact_id: string })[]> {
  return db.all(query("search-texts", { ...reportTexts, artifact_id: uuid })`
    select a.id as artifact_id, a.filename, a.commit_url, a.build_url
    from unnest((select ${ids}::uuid[])) with ordinality as asked (id, place)
    ${rowById("artifacts", "a", sql`${orgId}`, "asked.id")}
    order by asked.place`);
}

/** Columns of a start or an exit of an artifact. */
const stay = {
  fingerprint: text,
  /** As the environment's report called the artifact. */
  name: text,
  environment_name: text,
  snapshot_index: integer,
  has_exited: boolean,
  timestamp,
  /** Whether it runs there now; never in an archived environment. */
  is_running: boolean,
};

export type StayRow = RowOf<typeof stay>;

/** Lists the newest starts and exits of artifacts, oldest first. */
export function listStays(
  db: Executor,
  orgId: string,
  fingerprints: readonly string[],
  limit: number,
): Promise<StayRow[]> {
  const org = param(orgId);
  const most = param(limit);
  return db.all(query("search-stays", stay)`
    select found.* from (
      select s.fingerprint, s.name, e.name as environment_name, s.first_index as snapshot_index,
        s.type = 'exited' as has_exited, s.created_at as timestamp,
        not e.archived and case when e.type = 'logical' then exists (
          select from snapshot_artifacts now where now.org_id = ${org}::uuid and ${hasValue(org, "now", "fingerprint", sql`s.fingerprint`)}
            and now.last_index is null and now.environment_id = s.environment_id)
        else exists (
          select from running_artifacts now where now.org_id = ${org}::uuid and now.fingerprint = s.fingerprint
            and now.environment_id = s.environment_id) end as is_running
      from unnest((select ${fingerprints}::text[])) as asked (fingerprint)
      cross join lateral (
        select * from snapshot_artifacts s where s.org_id = ${org}::uuid and ${hasValue(org, "s", "fingerprint", sql`asked.fingerprint`)}
          and (s.type like 'started%' or s.type = 'exited')
        order by s.created_at desc limit ${most}::bigint) s
      join environments e on e.org_id = ${org}::uuid and e.id = s.environment_id
      order by s.created_at desc limit ${most}::bigint
    ) as found order by timestamp, snapshot_index, environment_name`);
}
