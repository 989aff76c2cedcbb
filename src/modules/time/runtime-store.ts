import { sql } from "kysely";

import type { Tx } from "../../db/connect.ts";
import { at, type Horizon } from "./damage-store.ts";
import { inOrder } from "./repair-store.ts";

/**
 * Finds the times of snapshots, in the order of their numbers, as the table `snapshot_times` with the wrong moment and the
 * right one. The first snapshot with a wrong time was made then; those that only repeat it, because times never go back,
 * were made when the audit log says so, and those of logical environments when their members' were.
 */
export async function findSnapshotTimes(tx: Tx, horizon: Horizon): Promise<void> {
  const { after } = horizon;
  const rows = sql`
    select s.org_id, s.environment_id, s.environment_id as part, s.index as number, s.created_at as moment, s.cause,
      case when s.created_at > ${at(after)} then case
        when s.repeats then (
          select min(l.occurred_at) from audit_log l
          where l.org_id = s.org_id and l.resource_type = 'snapshot' and l.resource in (
            select name || '#' || s.index from environments e where e.org_id = s.org_id and e.id = s.environment_id
            union all select original_name || '#' || s.index from environments e
              where e.org_id = s.org_id and e.id = s.environment_id and original_name is not null
            union all select name || '#' || s.index from environment_former_names f
              where f.org_id = s.org_id and f.environment_id = s.environment_id))
        else pg_temp.right_time(s.created_at) end end as estimate
    from (
      select s.org_id, s.environment_id, s.index, s.created_at, s.cause, s.created_at = lag(s.created_at)
          over (partition by s.org_id, s.environment_id order by s.index) as repeats
      from snapshots s join (
        select org_id, environment_id, min(index) as index from snapshots where created_at > ${at(after)} group by 1, 2
      ) f on f.org_id = s.org_id and f.environment_id = s.environment_id and s.index >= f.index - 1
    ) s`;
  await sql`create temporary table snapshot_times on commit drop as
    select org_id, environment_id, number as index, moment, cause, righted, estimate is null as unknown
    from (${inOrder(rows, horizon)}) n where moment > ${at(after)}`.execute(tx);
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
  await sql`update snapshot_times s set righted = n.righted from (${inOrder(groups, horizon)}) n
    where s.org_id = n.org_id and s.environment_id = n.environment_id and s.index = n.number`.execute(tx);
  await sql`create index on snapshot_times (org_id, environment_id, index)`.execute(tx);
}

/** Gives snapshots, what they show and their environments the times that were found. */
export async function repairSnapshots(tx: Tx, { after }: Horizon): Promise<void> {
  await sql`update snapshots s set created_at = t.righted from snapshot_times t
    where s.org_id = t.org_id and s.environment_id = t.environment_id and s.index = t.index`.execute(tx);
  await sql`update snapshot_artifacts a set created_at = t.righted from snapshot_times t
    where a.org_id = t.org_id and a.environment_id = t.environment_id and a.first_index = t.index
      and a.created_at > ${at(after)}`.execute(tx);
  await sql`update environment_reports r set latest_at = s.created_at from snapshots s
    where r.latest_at > ${at(after)} and s.org_id = r.org_id and s.environment_id = r.environment_id
      and s.index = r.snapshot_count`.execute(tx);
}

/** Gives environments the times of what they tell of: of snapshots where they have them from those. */
export async function repairEnvironments(tx: Tx, { after }: Horizon): Promise<void> {
  await sql`create temporary table damaged_environments on commit drop as
    select org_id, id, greatest(last_modified_at, last_reported_at, last_changed_at) as moment from environments
    where greatest(last_modified_at, last_reported_at, last_changed_at) > ${at(after)}
    union all select org_id, environment_id, max(moment) from snapshot_times group by 1, 2`.execute(tx);
  for (const name of ["last_modified_at", "last_reported_at", "last_changed_at"]) {
    const column = sql.ref(name);
    await sql`update environments e set ${column} = coalesce((
        select righted from snapshot_times t
        where t.org_id = e.org_id and t.environment_id = e.id and t.moment = e.${column} order by t.index desc limit 1),
        pg_temp.right_time(e.${column}))
      where e.${column} > ${at(after)}`.execute(tx);
  }
}

/**
 * Removes silences that were none: noticed, or ended, only because the clock was ahead. Those that were noticed before end
 * when they did. The watch looks from now on.
 */
export async function repairSilences(tx: Tx, { now, after }: Horizon): Promise<void> {
  await sql`delete from environment_silences
    where began_at > ${at(after)} or noticed_at > ${at(after)} or (noticed_at is null and ended_at > ${at(after)})`.execute(
    tx,
  );
  await sql`update environment_silences set ended_at = greatest(began_at, noticed_at, pg_temp.right_time(ended_at))
    where ended_at > ${at(after)}`.execute(tx);
  await sql`update silence_watch set looked_at = least(looked_at, ${at(now)}), since = least(since, ${at(now)})
    where greatest(looked_at, since) > ${at(after)}`.execute(tx);
}

/** The rhythm of an environment. */
export interface RhythmRow {
  org_id: string;
  environment_id: string;
  /** Seconds that the environment exists. */
  age: number;
  /** Seconds by which the clock was ahead when it was reported on; null when that is not known to have happened. */
  shift: number | null;
  report_gaps: number[];
}

/** Rhythms that may have gaps in them which the clock made. */
export async function listDoubtfulRhythms(tx: Tx, { now }: Horizon): Promise<RhythmRow[]> {
  const { rows } = await sql<RhythmRow>`
    select r.org_id, r.environment_id, epoch(${at(now)})::float8 - epoch(e.created_at)::float8 as age, d.shift,
      r.report_gaps
    from environment_reports r
    join environments e on e.org_id = r.org_id and e.id = r.environment_id
    left join (
      select org_id, id, extract(epoch from min(moment - pg_temp.right_time(moment)))::float8 as shift
      from damaged_environments group by 1, 2
    ) d on d.org_id = r.org_id and d.id = r.environment_id
    where d.id is not null
      or exists (select from unnest(r.report_gaps) gap where gap > epoch(${at(now)})::float8 - epoch(e.created_at)::float8)
    order by 1, 2`.execute(tx);
  return rows;
}

/** Keeps what a rhythm is without those gaps. */
export async function updateRhythm(
  tx: Tx,
  { org_id, environment_id }: Pick<RhythmRow, "org_id" | "environment_id">,
  rhythm: { report_gaps: number[]; learned_limit: number | null },
): Promise<void> {
  await sql`update environment_reports
    set report_gaps = ${rhythm.report_gaps}::real[], learned_limit = ${rhythm.learned_limit}::real
    where org_id = ${org_id}::uuid and environment_id = ${environment_id}::uuid`.execute(tx);
}
