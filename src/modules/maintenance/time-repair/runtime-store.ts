import type { Tx } from "../../../db/connect.ts";
import { float, floats, nullable, type RowOf, uuid } from "../../../db/row.ts";
import { identifier, moment, query, sql } from "../../../db/sql.ts";
import type { Horizon } from "./damage-store.ts";
import { inOrder } from "./store.ts";

/**
 * Finds the times of snapshots, in the order of their numbers, as the table `snapshot_times` with the wrong moment and the
 * right one. The first snapshot with a wrong time was made then; those that only repeat it, because times never go back,
 * were made when the audit log says so, and those of logical environments when their members' were.
 */
export async function findSnapshotTimes(tx: Tx, horizon: Horizon): Promise<void> {
  const { after } = horizon;
  const rows = sql`
    select s.org_id, s.environment_id, s.environment_id as part, s.index as number, s.created_at as moment, s.cause,
      case when s.created_at > ${moment(after)} then case
        when s.repeats then (
          select min(l.occurred_at) from audit_log l
          join (
            select name || '#' || s.index as resource from environments e where e.org_id = s.org_id and e.id = s.environment_id
            union all select original_name || '#' || s.index from environments e
              where e.org_id = s.org_id and e.id = s.environment_id and original_name is not null
            union all select name || '#' || s.index from environment_former_names f
              where f.org_id = s.org_id and f.environment_id = s.environment_id
          ) named on l.resource = named.resource
            and short_value_number(l.org_id, l.resource) = short_value_number(s.org_id, named.resource)
          where l.org_id = s.org_id and l.resource_type = 'snapshot'
            and short_value_number(l.org_id, l.resource_type) = short_value_number(s.org_id, 'snapshot'))
        else pg_temp.right_time(s.created_at) end end as estimate
    from (
      select s.org_id, s.environment_id, s.index, s.created_at, s.cause, s.created_at = lag(s.created_at)
          over (partition by s.org_id, s.environment_id order by s.index) as repeats
      from snapshots s join (
        select org_id, environment_id, min(index) as index from snapshots where created_at > ${moment(after)} group by 1, 2
      ) f on f.org_id = s.org_id and f.environment_id = s.environment_id and s.index >= f.index - 1
    ) s`;
  await tx.run(sql`create temporary table snapshot_times on commit drop as
    select org_id, environment_id, number as index, moment, cause, righted, estimate is null as unknown
    from (${inOrder(rows, horizon)}) n where moment > ${moment(after)}`);
  // From the end: as many snapshots of a logical environment as of its members.
  const groups = sql`
    select s.org_id, s.environment_id, s.environment_id as part, s.index as number, s.moment, s.cause,
      coalesce(m.righted, s.righted) as estimate
    from (
      select *, row_number() over (partition by org_id, environment_id, unknown, cause order by index desc) as place
      from snapshot_times
    ) s left join (
      select em.org_id, em.logical_id, t.righted,
        row_number() over (partition by em.org_id, em.logical_id order by t.righted desc, t.index desc) as place
      from environment_members em
      join snapshot_times t on t.org_id = em.org_id and t.environment_id = em.member_id
    ) m on s.unknown and s.cause = 'members' and m.org_id = s.org_id and m.logical_id = s.environment_id
      and m.place = s.place`;
  await tx.run(sql`update snapshot_times s set righted = n.righted from (${inOrder(groups, horizon)}) n
    where s.org_id = n.org_id and s.environment_id = n.environment_id and s.index = n.number`);
  await tx.run(sql`create index on snapshot_times (org_id, environment_id, index)`);
}

/** Gives snapshots, what they show and their environments the times that were found. */
export async function repairSnapshots(tx: Tx, { after }: Horizon): Promise<void> {
  await tx.run(sql`update snapshots s set created_at = t.righted from snapshot_times t
    where s.org_id = t.org_id and s.environment_id = t.environment_id and s.index = t.index`);
  await tx.run(sql`update snapshot_artifacts a set created_at = t.righted from snapshot_times t
    where a.org_id = t.org_id and a.environment_id = t.environment_id and a.first_index = t.index
      and a.created_at > ${moment(after)}`);
  await tx.run(sql`update running_artifacts r set started_at = first_start(a.running, a.created_at)
    from snapshot_times t join snapshot_artifacts a
      on a.org_id = t.org_id and a.environment_id = t.environment_id and a.first_index = t.index and a.last_index is null
    where r.org_id = a.org_id and r.environment_id = a.environment_id and r.id = a.id`);
  await tx.run(sql`update environment_reports r set latest_at = s.created_at from snapshots s
    where r.latest_at > ${moment(after)} and s.org_id = r.org_id and s.environment_id = r.environment_id
      and s.index = r.snapshot_count`);
}

/** Gives environments the times of what they tell of: of snapshots where they have them from those. */
export async function repairEnvironments(tx: Tx, { after }: Horizon): Promise<void> {
  await tx.run(sql`create temporary table damaged_environments on commit drop as
    select org_id, id, greatest(last_modified_at, last_reported_at, last_changed_at) as moment from environments
    where greatest(last_modified_at, last_reported_at, last_changed_at) > ${moment(after)}
    union all select org_id, environment_id, max(moment) from snapshot_times group by 1, 2`);
  for (const name of ["last_modified_at", "last_reported_at", "last_changed_at"]) {
    const column = identifier(name);
    await tx.run(sql`update environments e set ${column} = coalesce((
        select righted from snapshot_times t
        where t.org_id = e.org_id and t.environment_id = e.id and t.moment = e.${column} order by t.index desc limit 1),
        pg_temp.right_time(e.${column}))
      where e.${column} > ${moment(after)}`);
  }
}

/** Adds up anew how verdicts turned, and when environments began. */
export async function recountTurns(tx: Tx): Promise<void> {
  await tx.run(sql`select recount_turns()`);
}

/**
 * Removes silences that were none: noticed, or ended, only because the clock was ahead. Those that were noticed before end
 * when they did. The watch looks from now on.
 */
export async function repairSilences(tx: Tx, { now, after }: Horizon): Promise<void> {
  await tx.run(sql`delete from environment_silences
    where began_at > ${moment(after)} or noticed_at > ${moment(after)} or (noticed_at is null and ended_at > ${moment(after)})`);
  await tx.run(sql`update environment_silences set ended_at = greatest(began_at, noticed_at, pg_temp.right_time(ended_at))
    where ended_at > ${moment(after)}`);
  await tx.run(sql`update silence_watch set looked_at = least(looked_at, ${moment(now)}), since = least(since, ${moment(now)})
    where greatest(looked_at, since) > ${moment(after)}`);
}

const rhythm = {
  org_id: uuid,
  environment_id: uuid,
  /** Seconds that the environment exists. */
  age: float,
  /** Seconds by which the clock was ahead when it was reported on; null when that is not known to have happened. */
  shift: nullable(float),
  /** Seconds between one report and the next. */
  report_gaps: floats,
};

/** The rhythm in which an environment is reported on. */
export type RhythmRow = RowOf<typeof rhythm>;

/** Lists rhythms that may have gaps in them which the clock made. */
export function listDoubtfulRhythms(tx: Tx, { now }: Horizon): Promise<RhythmRow[]> {
  return tx.all(query(rhythm)`
    select r.org_id, r.environment_id, epoch(${moment(now)})::float8 - epoch(e.created_at)::float8 as age, d.shift,
      r.report_gaps
    from environment_reports r
    join environments e on e.org_id = r.org_id and e.id = r.environment_id
    left join (
      select org_id, id, extract(epoch from min(moment - pg_temp.right_time(moment)))::float8 as shift
      from damaged_environments group by 1, 2
    ) d on d.org_id = r.org_id and d.id = r.environment_id
    where d.id is not null
      or exists (select from unnest(r.report_gaps) gap where gap > epoch(${moment(now)})::float8 - epoch(e.created_at)::float8)
    order by 1, 2`);
}

/** Stores the gaps of a rhythm, and the limit that follows from them. */
export async function updateRhythm(
  tx: Tx,
  { org_id, environment_id }: Pick<RhythmRow, "org_id" | "environment_id">,
  { report_gaps, learned_limit }: { report_gaps: readonly number[]; learned_limit: number | null },
): Promise<void> {
  await tx.run(sql`update environment_reports set report_gaps = ${report_gaps}::real[]
    where org_id = ${org_id}::uuid and environment_id = ${environment_id}::uuid`);
  await tx.run(sql`update environments set learned_limit = ${learned_limit}::real
    where org_id = ${org_id}::uuid and id = ${environment_id}::uuid`);
}
