import type { Executor } from "../../../db/connect.ts";
import { param, query, type Sql, sql } from "../../../db/sql.ts";
import {
  binOf,
  classesOfStates,
  classOf,
  type HistoryScope,
  statesOf,
  turns,
  type TurnsRow,
  verdictCode,
  verdictOf,
} from "./store.ts";

/** The moments that decide which turns are counted one by one. */
interface Edges {
  start: Sql;
  end: Sql;
  /** When the first whole hour begins. */
  whole: Sql;
  /** When the hour begins that the window ends in. */
  last: Sql;
}

function edgesOf(start_ts: number, end_ts: number): Edges {
  const hour = 3600;
  const at = (seconds: number): Sql => sql`to_timestamp(${param(seconds)}::float8)`;
  const last = Math.floor(end_ts / hour) * hour;
  return {
    start: at(start_ts),
    end: at(end_ts),
    whole: at(Math.ceil(start_ts / hour) * hour),
    last: at(last),
  };
}

/** Writes SQL for the turns that are told apart because the hour they are in is not in the window as a whole. */
function turnsAtEdges(org: Sql, { start, whole, last }: Edges): Sql {
  const turned = sql`select s.created_at as at, ${classOf(verdictOf("s.was_compliant"), "0")} as before,
        ${classOf(verdictOf("s.compliant"), "0")} as after, 1 as sign
      from snapshots s where s.org_id = ${org} and s.compliant is distinct from s.was_compliant and not exists (
        select from environments gone where gone.org_id = ${org} and gone.archived and gone.id = s.environment_id)`;
  return sql`${turned} and s.created_at > ${start} and s.created_at < ${whole}
      union all
      ${turned} and s.created_at > ${start} and s.created_at >= greatest(${whole}, ${last})
        and s.created_at < ${last} + interval '1 hour'`;
}

/** Writes SQL for what was added up of whole hours: those in the window, and those behind it. */
function turnsInHours(org: Sql, unit: HistoryScope["unit"], { end, whole, last }: Edges): Sql {
  return sql`
    select case when hour < ${end} then ${binOf(unit, "hour")} end as began, ${classOf("(place - 1) / 3", "0")} as before,
      ${classOf("(place - 1) % 3", "0")} as after, n, microseconds, hour
    from (
      select t.hour, place, sum(t.counts[place]) as n, sum(t.offsets[place]) as microseconds
      from verdict_turns t cross join generate_series(1, 9) place
      where t.org_id = ${org} and t.hour >= ${whole} and t.hour <> ${last}
      group by t.hour, place) hours`;
}

/**
 * Writes common table expressions for environments that were silent at some time of the window: what they are now, which of their
 * verdicts turned, and `marks` of these and of silences as differences that add up.
 */
function ofFitful(org: Sql, start: Sql): Sql {
  return sql`silent as materialized (
      select s.environment_id, s.began_at, s.ended_at from environment_silences s
      where s.org_id = ${org} and coalesce(s.ended_at, 'infinity') > ${start}
    ), envs as materialized (
      select s.environment_id as id, ${verdictCode("e.state")} as now_verdict, s.silences as now_silences
      from (
        select environment_id, count(*) filter (where ended_at is null)::integer as silences from silent
        -- As they lie in the table.
        group by environment_id order by environment_id
      ) s cross join lateral (
        select state from environments where org_id = ${org} and id = s.environment_id and not archived limit 1) e
    ), turned as materialized (
      select e.id as environment_id, s.at, s.was, s.became from envs e cross join lateral (
        select s.created_at as at, ${verdictCode("s.was_compliant")} as was, ${verdictCode("s.compliant")} as became
        from snapshots s where s.org_id = ${org} and s.environment_id = e.id and s.created_at > ${start}
          and s.compliant is distinct from s.was_compliant offset 0) s
    ), marks as (
      select environment_id, at, became - was as verdict, 0 as silences from turned
      union all
      select environment_id, mark.at, 0, mark.difference
      from silent cross join lateral (values (began_at, 1), (ended_at, -1)) as mark (at, difference)
      where mark.at > ${start}
    )`;
}

/**
 * Reads how all environments of an organization that are not archived turned since a window began, and what they are now. Turns
 * of verdicts were added up by the hour when they were written; what is looked at one by one are those of environments that
 * were silent, in place of what was added up of them, and those of the two hours at the ends of the window.
 *
 * So it grows with the hours of the window and with silences, not with environments or snapshots.
 */
export function listTurnsOfAll(
  db: Executor,
  orgId: string,
  { unit, start_ts, end_ts }: HistoryScope,
): Promise<TurnsRow[]> {
  const org = sql`${param(orgId)}::uuid`;
  const edges = edgesOf(start_ts, end_ts);
  const { start, end } = edges;
  return db.all(query(`organization-history-${unit}`, turns)`
    with ${ofFitful(org, start)}, ${statesOf}, turns as (
      select at, ${classesOfStates}, 1 as sign from states
      union all
      select at, ${classOf("was", "0")}, ${classOf("became", "0")}, -1 from turned
      union all
      ${turnsAtEdges(org, edges)}
      union all
      select began_at, null, 'unknown', 1 from environment_beginnings where org_id = ${org} and began_at > ${start}
    ), single as (
      select case when at < ${end} then ${binOf(unit, "at")} end as began, at, before, after, sign from turns
      where before is distinct from after
    ), added as (
      select began, before, after, sum(sign) as n, sum(extract(epoch from at - began) * 1000000 * sign) as microseconds
      from single group by began, before, after
      union all
      select began, before, after, n, microseconds + n * extract(epoch from hour - began) * 1000000
      from (${turnsInHours(org, unit, edges)}) hours where n <> 0
    ), now as (
      select class, count from environment_tallies cross join lateral (values
        ('compliant', compliant), ('non_compliant', non_compliant), ('unknown', unknown)) as of_class (class, count)
      where org_id = ${org}
      union all
      select change.class, change.n from envs cross join lateral (values
        (${classOf("now_verdict", "0")}, -1), ('silent', 1)) as change (class, n) where now_silences > 0
    )
    select (extract(epoch from began) * 1000000)::bigint as began, before, after, sum(n)::bigint as count,
      coalesce(sum(microseconds)::numeric(40, 0), 0)::text as offsets, 0 as are_now
    from added group by began, before, after
    union all
    select null, null, class, sum(count)::bigint, '0', 1 from now group by class`);
}
