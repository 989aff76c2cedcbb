import type { Executor } from "../../../db/connect.ts";
import { integer, nullable, oneOf, type RowOf, text } from "../../../db/row.ts";
import { param, query, raw, type Sql, sql } from "../../../db/sql.ts";
import { type BucketUnit, complianceClasses } from "../../../domain/compliance-history.ts";
import type { TimeWindow } from "../../../domain/time-window.ts";

/** Turns of environments from one class to another, put together by bucket; or how many there are of a class now. */
export const turns = {
  /** Microseconds since 1970: when the bucket's unit of time began. Null after the end of the window. */
  began: nullable(integer),
  /** Null: it was not there before. */
  before: nullable(oneOf(complianceClasses)),
  after: oneOf(complianceClasses),
  count: integer,
  /** Microseconds from `began` to each of them, added up: digits of a number of any size. */
  offsets: text,
  /** 1 for how many there are after the last turn, 0 for turns. */
  are_now: integer,
};
export type TurnsRow = RowOf<typeof turns>;

/** In which time to look. */
export interface HistoryScope extends TimeWindow {
  unit: BucketUnit;
}

/** Writes SQL for a verdict as a number, so that differences can be added up. */
export const verdictOf = (column: string): string =>
  `case when ${column} then 1 when not ${column} then 2 else 0 end`;
/** Writes what `verdictOf` writes as a part of a statement. */
export const verdictCode = (column: string): Sql => raw(verdictOf(column));

/** Writes SQL for the class of a verdict, by its number, and of how many silences it lies in. */
export const classOf = (verdict: string, silences: string): Sql =>
  raw(
    `case when ${silences} > 0 then 'silent' else (array['unknown', 'compliant', 'non_compliant'])[1 + (${verdict})] end`,
  );

/** Writes SQL for the beginning of the bucket that a moment is in. Weeks begin with a Monday, such as this one. */
export const binOf = (unit: BucketUnit, moment: string): Sql =>
  raw(`date_bin('1 ${unit}', ${moment}, timestamptz '2001-01-01 00:00:00+00')`);

/** SQL for the classes before and after each of `marks` (environment, moment, differences), back from what `envs` are now. */
export const statesOf = raw(`summed as (
      select environment_id, at, verdict, silences, sum(verdict) over since as verdicts_since,
        sum(silences) over since as silences_since
      from marks window since as (partition by environment_id order by at desc rows unbounded preceding)
    ), states as (
      select m.at, e.now_verdict - m.verdicts_since as verdict_before, e.now_silences - m.silences_since as silences_before,
        m.verdict, m.silences
      from summed m join envs e on e.id = m.environment_id
    )`);

/** SQL for a moment's classes, of `states`. */
export const classesOfStates = sql`${classOf("verdict_before", "silences_before")} as before,
        ${classOf("verdict_before + verdict", "silences_before + silences")} as after`;

/**
 * Reads how an environment turned since a window began, archived or not, and what it is now. Only verdicts that turned are looked
 * at, and silences, however many snapshots there are. Then verdicts and silences at each moment are what they are now without
 * all that came after; once it is archived nothing is known of it, and nobody is silent. Some ms.
 */
export function listTurns(
  db: Executor,
  orgId: string,
  environmentId: string,
  { unit, start_ts, end_ts }: HistoryScope,
): Promise<TurnsRow[]> {
  const [org, id] = [param(orgId), param(environmentId)];
  const [start, end] = [sql`to_timestamp(${param(start_ts)}::float8)`, sql`to_timestamp(${end_ts}::float8)`];
  return db.all(query(`environment-history-${unit}`, turns)`
    with turned as materialized (
      select s.created_at as at, ${verdictCode("s.was_compliant")} as was, ${verdictCode("s.compliant")} as became from snapshots s
      where s.org_id = ${org}::uuid and s.environment_id = ${id}::uuid and s.created_at > ${start}
        and s.compliant is distinct from s.was_compliant
    ), silent as materialized (
      select began_at, ended_at from environment_silences
      where org_id = ${org}::uuid and environment_id = ${id}::uuid and coalesce(ended_at, 'infinity') > ${start}
    ), envs as materialized (
      select e.id, e.archived_at, ${verdictCode("e.state")} as verdict, open.silences,
        case when e.archived then 0 else ${verdictCode("e.state")} end as now_verdict,
        case when e.archived then 0 else open.silences end as now_silences
      from environments e cross join (select count(*)::integer as silences from silent where ended_at is null) open
      where e.org_id = ${org}::uuid and e.id = ${id}::uuid
    ), marks as (
      select ${id}::uuid as environment_id, at, became - was as verdict, 0 as silences from turned
      union all
      select ${id}::uuid, mark.at, 0, mark.difference
      from silent cross join lateral (values (began_at, 1), (ended_at, -1)) as mark (at, difference)
      where mark.at > ${start}
      union all
      select id, archived_at, now_verdict - verdict, now_silences - silences from envs where archived_at > ${start}
    ), ${statesOf}, turns as (
      select at, ${classesOfStates} from states
    ), binned as (
      select case when at < ${end} then ${binOf(unit, "at")} end as began, at, before, after from turns where before <> after
    )
    select (extract(epoch from began) * 1000000)::bigint as began, before, after, count(*) as count,
      coalesce((extract(epoch from sum(at - began)) * 1000000)::bigint, 0)::text as offsets, 0 as are_now
    from binned group by began, before, after
    union all
    select null, null, ${classOf("now_verdict", "now_silences")} as class, count(*), '0', 1 from envs group by class`);
}
