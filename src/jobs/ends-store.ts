import type { ConnectionSource, Executor, Tx } from "../db/connect.ts";
import type { Hold } from "../db/lasting-connection.ts";
import { boolean, integer, type RowOf, text } from "../db/row.ts";
import { constant, query, type Sql, sql } from "../db/sql.ts";
import { transaction } from "../db/transaction.ts";

/** Servers that may end while a job runs before it is handed out no more. */
const maxEnds = 3;

/** From so many on it runs while nothing else does, so that nothing else is blamed for it, nor it for something else. */
export const suspectedFrom = 2;

/** Seconds that such a job waits before it runs again: time in which a server is of use, whatever the job does to it. */
const suspectedWait = 5;

/** A job as it is named in the log. */
interface StoppedJob {
  id: number;
  task: string;
}

/** What became of the jobs of workers that have ended. */
export interface ReleasedJobs {
  /** Jobs that were given back. */
  released: number;
  setAside: StoppedJob[];
}

/** Writes SQL for the number of a worker's lock. */
function lockOf(id: Sql): Sql {
  return sql`hashtextextended('waybill job worker ' || ${id}, 0)`;
}

/** Writes the statements by which a worker of a server is there: it holds a lock, for as long as the connection lasts. */
export function presenceOf(worker: string, server: string): Hold {
  const lock = lockOf(sql`${worker}::text`);
  return {
    take: [
      sql`select pg_advisory_lock(${lock})`,
      sql`insert into job_workers (id, server) values (${worker}, ${server}) on conflict do nothing`,
    ],
    giveBack: sql`select pg_advisory_unlock(${lock})`,
  };
}

/** Lists workers whose lock nobody holds, by their `id`. */
export const listUnheld = sql`select w.id from job_workers w
  where not exists (select from pg_locks l
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select oid from pg_database where datname = current_database())
      and (l.classid::bigint << 32 | l.objid::bigint) = ${lockOf(sql`w.id`)})
  order by w.id`;

const counted = {
  id: integer,
  task: text,
  ends: integer,
  set_aside: boolean,
};

/**
 * Counts the jobs that workers of ended servers held. When one of them ran alone, the others were only waiting for it and
 * are innocent.
 */
function countEnds(tx: Tx, workers: readonly string[]): Promise<RowOf<typeof counted>[]> {
  return tx.all(query(counted)`
    with held as (
      select j.id, j.task_identifier as task, coalesce(w.server, j.locked_by) as server,
        coalesce(e.alone_with = j.locked_by, false) as alone
      from graphile_worker.jobs j
      left join job_workers w on w.id = j.locked_by
      left join job_ends e on e.job_id = j.id
      where j.locked_by = any(${workers}::text[])
    ), crews as (
      select server, count(*) = 1 or bool_or(alone) as knows, bool_or(alone) as ran_alone from held group by server
    )
    insert into job_ends as e (job_id, task, ends, was_alone)
    select id, task, 1, knows from held join crews using (server) where alone or not ran_alone
    on conflict (job_id) do update set ends = e.ends + 1, last_end_at = now(), was_alone = excluded.was_alone,
      alone_with = null,
      set_aside_at = case when e.ends + 1 >= ${constant(maxEnds)} and excluded.was_alone then now() end
    returning e.job_id as id, e.task, e.ends, e.set_aside_at is not null as set_aside`);
}

async function stop(tx: Tx, ids: readonly number[], reason: string): Promise<void> {
  await tx.run(sql`select graphile_worker.permanently_fail_jobs(${ids}::bigint[], ${reason})`);
}

/** Has jobs that were on their last try say why they are not tried again. */
async function explainExhausted(tx: Tx, ids: readonly number[]): Promise<void> {
  const exhausted = await tx.all(query({ id: integer })`
    select id from graphile_worker.jobs where id = any(${ids}::bigint[]) and attempts >= max_attempts`);
  await stop(
    tx,
    exhausted.map(({ id }) => id),
    "The server ended while it ran, and it has no tries left",
  );
}

async function releaseIn(tx: Tx, workers: readonly string[]): Promise<ReleasedJobs> {
  // One at a time, or two servers would count the same end.
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('waybill job ends', 0))`);
  const jobs = await countEnds(tx, workers);
  const released = await tx.run(sql`select from graphile_worker.jobs where locked_by = any(${workers})`);
  await tx.run(sql`select graphile_worker.force_unlock_workers(${workers})`);
  await tx.run(sql`delete from job_workers where id = any(${workers})`);
  const setAside = jobs.filter((job) => job.set_aside).map(({ id, task }) => ({ id, task }));
  const suspected = jobs.filter(({ ends, set_aside }) => ends >= suspectedFrom && !set_aside);
  await explainExhausted(
    tx,
    jobs.filter(({ set_aside }) => !set_aside).map(({ id }) => id),
  );
  await stop(
    tx,
    setAside.map(({ id }) => id),
    "Set aside: servers ended again and again while it ran",
  );
  await tx.run(sql`
    select graphile_worker.reschedule_jobs(${suspected.map(({ id }) => id)}::bigint[],
      run_at => now() + make_interval(secs => ${suspectedWait}))`);
  return { released, setAside };
}

/**
 * Counts and gives back what workers held whose server has ended. Those that others gave back already are left alone.
 */
export function releaseJobs(db: ConnectionSource, workers: readonly string[]): Promise<ReleasedJobs> {
  return transaction(db, async (tx) => {
    const free: string[] = [];
    for (const id of workers) {
      // Their server may be back: then it holds the lock again, and else it cannot take it before we are done.
      const lock = await tx.first(query({ free: boolean })`
        select pg_try_advisory_xact_lock(${lockOf(sql`${id}::text`)}) as free
        from job_workers where id = ${id} for update`);
      if (lock?.free === true) free.push(id);
    }
    return free.length === 0 ? { released: 0, setAside: [] } : releaseIn(tx, free);
  });
}

/** Counts and gives back what anybody holds, when it is known that no server is there. */
export function releaseAllJobs(db: ConnectionSource): Promise<ReleasedJobs> {
  return transaction(db, async (tx) => {
    const workers = await tx.all(query({ id: text })`
      select id from job_workers union select locked_by from graphile_worker.jobs where locked_by is not null`);
    return releaseIn(
      tx,
      workers.map(({ id }) => id),
    );
  });
}

/** Gives back what a worker held that stopped although its server is there: nothing is counted. */
export function retire(db: ConnectionSource, worker: string): Promise<void> {
  return transaction(db, async (tx) => {
    await tx.run(sql`select graphile_worker.force_unlock_workers(array[${worker}::text])`);
    await tx.run(sql`delete from job_workers where id = ${worker}`);
  });
}

/** Longer than any job takes, in seconds. */
const strangerPatience = 120;

/** Gives back what workers hold for long that nobody knows of, such as those of older versions. */
export async function releaseStrangers(db: Executor): Promise<void> {
  await db.run(sql`
    select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
    where locked_at <= now() - make_interval(secs => ${strangerPatience})
      and not exists (select from job_workers w where w.id = locked_by) having count(*) > 0`);
  await db.run(sql`
    delete from job_ends where not exists (select from graphile_worker.jobs j where j.id = job_id)`);
}

/** Reads how many servers ended while a job ran; 0 when none did. */
export async function endsOf(db: Executor, jobId: string): Promise<number> {
  const found = await db.first(query({ ends: integer })`select ends from job_ends where job_id = ${jobId}`);
  return found?.ends ?? 0;
}

/** Says whether a job of this task was set aside. */
export async function isTaskSetAside(db: Executor, task: string): Promise<boolean> {
  const found = await db.run(sql`
    select from job_ends where task = ${task} and set_aside_at is not null limit 1`);
  return found > 0;
}

/** Writes down that a job runs alone, before it does. */
export async function markAlone(db: Executor, jobId: string): Promise<void> {
  await db.run(sql`
    update job_ends set alone_with = (select locked_by from graphile_worker.jobs where id = ${jobId}::bigint)
    where job_id = ${jobId}::bigint`);
}

/** Forgets the ends of a job that ended itself, well or not. */
export async function forgetEnds(db: Executor, jobId: string): Promise<void> {
  await db.run(sql`delete from job_ends where job_id = ${jobId}`);
}

/** Has a job that is under way tried no more once it has failed. The queue itself offers that for waiting jobs only. */
export async function giveUp(db: Executor, jobId: string): Promise<void> {
  await db.run(sql`update graphile_worker._private_jobs set attempts = max_attempts where id = ${jobId}`);
}
