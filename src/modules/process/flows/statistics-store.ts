import type { Executor } from "../../../db/connect.ts";
import { boolean, integer, json, nullable, type RowOf, text, timestamp } from "../../../db/row.ts";
import { constant, moment, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { StatisticsUnit } from "../../../domain/flow-statistics.ts";
import type { TimeWindow } from "../../../domain/time-window.ts";

/** Trails that are looked at, the newest ones. */
const mostTrails = 10_000;

/** Names of attestations that are told. */
const mostNames = 500;

/** Seconds from the begin of trails to the report that made them comply; null without any. */
interface SecondsToCompliant {
  trail_count: number;
  p50: number | null;
  p90: number | null;
}

/** Trails that began in one unit of time. */
export interface CountedUnit {
  /** When it began, in microseconds. */
  began: number;
  compliant: number;
  non_compliant: number;
  incomplete: number;
  seconds_to_compliant: SecondsToCompliant;
}

/** On how many trails something became of an attestation. */
interface CountedAttestation {
  attestation_name: string;
  reported: number;
  failing: number;
  missing: number;
}

const statistics = {
  flow_name: text,
  trail_count: integer,
  truncated: boolean,
  searched_since: nullable(timestamp),
  /** Those with trails, in no order. */
  units: json<CountedUnit[]>(),
  attestations: json<CountedAttestation[]>(),
  seconds_to_compliant: json<SecondsToCompliant>(),
};

export type FlowStatisticsRow = RowOf<typeof statistics>;

/** Sums up `seconds` of some of `judged`, as JSON. */
const seconds = sql`json_build_object('trail_count', count(seconds),
  'p50', percentile_cont(0.5) within group (order by seconds),
  'p90', percentile_cont(0.9) within group (order by seconds))`;

/** Unnests names of `judged`, each with a mark of the list that it is in. */
function namesIn(column: string): Sql {
  return sql`select unnest(${raw(column)}) as name, ${raw(`'${column}'`)} as list from judged`;
}

/** Counts the names that are in a list. */
function countIn(column: string): Sql {
  return sql`count(*) filter (where list = ${raw(`'${column}'`)})`;
}

/**
 * Counts the trails of a flow that began in a window by their outcome: the newest 10,000 at most, which are read off an index;
 * the outcome of each is looked up. One statement, which takes some 100 ms for that many, whatever there is beside.
 */
export function readFlowStatistics(
  db: Executor,
  orgId: string,
  flowId: string,
  plan: TimeWindow & { unit: StatisticsUnit },
): Promise<FlowStatisticsRow> {
  const most = constant(mostTrails);
  return db.one(query(statistics)`
    with looked as materialized (
      select t.*, row_number() over (order by t.created_at desc, t.id desc) as place
      from (
        select id, created_at from trails
        where org_id = ${orgId} and flow_id = ${flowId}
          and created_at >= ${moment(plan.start_ts)} and created_at <= ${moment(plan.end_ts)}
        order by created_at desc, id desc limit ${constant(mostTrails + 1)}) t
    ), judged as materialized (
      select (extract(epoch from date_trunc(${plan.unit}, l.created_at, 'UTC')) * 1000000)::bigint as began,
        l.created_at, o.state, o.reported_names, o.failing_names, o.missing_names,
        case when o.compliant_since is not null
          then greatest(0, extract(epoch from o.compliant_since - l.created_at))::float8 end as seconds
      from looked l
      cross join lateral (
        select * from trail_outcomes where org_id = ${orgId} and trail_id = l.id limit 1) o
      where l.place <= ${most}
    ), units as (
      select json_build_object('began', began,
        'compliant', count(*) filter (where state = 'COMPLIANT'),
        'non_compliant', count(*) filter (where state = 'NON-COMPLIANT'),
        'incomplete', count(*) filter (where state = 'INCOMPLETE'),
        'seconds_to_compliant', ${seconds}) as told
      from judged group by began
    ), names as (
      select name, ${countIn("reported_names")} as reported, ${countIn("failing_names")} as failing,
        ${countIn("missing_names")} as missing
      from (
        ${namesIn("reported_names")} union all ${namesIn("failing_names")} union all ${namesIn("missing_names")}) as all_names
      group by name order by count(*) desc, name limit ${constant(mostNames)}
    )
    select (select name from flows where org_id = ${orgId} and id = ${flowId}) as flow_name,
      (select count(*) from judged) as trail_count,
      exists (select from looked where place > ${most}) as truncated,
      (select min(created_at) from judged) as searched_since,
      (select coalesce(json_agg(told), '[]') from units) as units,
      (select coalesce(json_agg(json_build_object('attestation_name', name, 'reported', reported, 'failing', failing,
        'missing', missing) order by name collate "C"), '[]') from names) as attestations,
      (select ${seconds} from judged) as seconds_to_compliant`);
}
