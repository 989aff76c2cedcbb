import type pg from "pg";

/** Servers that may end while a job runs before it is handed out no more. */
export const maxEnds = 3;

/** From so many on it runs while nothing else does, so that nothing else is blamed for it, nor it for something else. */
export const suspectedFrom = 2;

/** Seconds that such a job waits before it runs again: time in which a server is of use, whatever the job does to it. */
const suspectedWait = 5;

/** A job as it is named in the log. */
export interface StoppedJob {
  id: number;
  task: string;
}

/** What became of the jobs of workers that are no more. */
export interface Burial {
  /** Jobs that were given back. */
  released: number;
  setAside: StoppedJob[];
}

type Client = Pick<pg.ClientBase, "query">;

/** By which a worker's lock is found. */
const lockOf = (id: string): string => `hashtextextended('waybill job worker ' || ${id}, 0)`;

/** Takes the lock of a worker, for as long as the connection lasts. */
export const holdLock = `select pg_advisory_lock(${lockOf("$1::text")})`;

/** Workers whose lock nobody holds. */
export const listUnheld = `select w.id from job_workers w
  where not exists (select from pg_locks l
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select oid from pg_database where datname = current_database())
      and (l.classid::bigint << 32 | l.objid::bigint) = ${lockOf("w.id")})
  order by w.id`;

/**
 * Counts the jobs that workers of ended servers held. When one of them ran alone, the others were only waiting for it and
 * are innocent.
 */
const countEnds = `with held as (
    select j.id, j.task_identifier as task, coalesce(w.server, j.locked_by) as server,
      coalesce(e.alone_with = j.locked_by, false) as alone
    from graphile_worker.jobs j
    left join job_workers w on w.id = j.locked_by
    left join job_ends e on e.job_id = j.id
    where j.locked_by = any($1::text[])
  ), crews as (
    select server, count(*) = 1 or bool_or(alone) as knows, bool_or(alone) as ran_alone from held group by server
  )
  insert into job_ends as e (job_id, task, ends, was_alone)
  select id, task, 1, knows from held join crews using (server) where alone or not ran_alone
  on conflict (job_id) do update set ends = e.ends + 1, last_end_at = now(), was_alone = excluded.was_alone,
    alone_with = null,
    set_aside_at = case when e.ends + 1 >= ${maxEnds} and excluded.was_alone then now() end
  returning e.job_id as id, e.task, e.ends, e.set_aside_at is not null as set_aside`;

interface CountedJob extends StoppedJob {
  ends: number;
  set_aside: boolean;
}

async function stop(client: Client, ids: number[], reason: string): Promise<void> {
  await client.query("select graphile_worker.permanently_fail_jobs($1::bigint[], $2)", [ids, reason]);
}

/** Jobs on their last try are not tried again: they say why. */
async function explainExhausted(client: Client, ids: number[]): Promise<void> {
  const { rows } = await client.query<{ id: number }>(
    "select id from graphile_worker.jobs where id = any($1::bigint[]) and attempts >= max_attempts",
    [ids],
  );
  const exhausted = rows.map(({ id }) => id);
  await stop(client, exhausted, "The server ended while it ran, and it has no tries left");
}

async function buryIn(client: Client, ids: readonly string[]): Promise<Burial> {
  // One at a time, or two servers would count the same end.
  await client.query("select pg_advisory_xact_lock(hashtextextended('waybill job ends', 0))");
  const { rows: counted } = await client.query<CountedJob>(countEnds, [ids]);
  const { rowCount } = await client.query("select from graphile_worker.jobs where locked_by = any($1)", [
    ids,
  ]);
  await client.query("select graphile_worker.force_unlock_workers($1)", [ids]);
  await client.query("delete from job_workers where id = any($1)", [ids]);
  const setAside = counted.filter((job) => job.set_aside).map(({ id, task }) => ({ id, task }));
  const suspected = counted.filter(({ ends, set_aside }) => ends >= suspectedFrom && !set_aside);
  await explainExhausted(
    client,
    counted.filter(({ set_aside }) => !set_aside).map(({ id }) => id),
  );
  await stop(
    client,
    setAside.map(({ id }) => id),
    "Set aside: servers ended again and again while it ran",
  );
  await client.query(
    "select graphile_worker.reschedule_jobs($1::bigint[], run_at => now() + make_interval(secs => $2))",
    [suspected.map(({ id }) => id), suspectedWait],
  );
  return { released: rowCount ?? 0, setAside };
}

async function inTransaction<T>(pool: pg.Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    client.release();
    return result;
  } catch (error) {
    // Whatever state the connection is in, nobody gets it after us.
    client.release(true);
    throw error;
  }
}

/** Counts and gives back what workers held whose server is no more. Those that others buried already are left alone. */
export function bury(pool: pg.Pool, ids: readonly string[]): Promise<Burial> {
  return inTransaction(pool, async (client) => {
    const free: string[] = [];
    for (const id of ids) {
      // Their server may be back: then it holds the lock again, and else it cannot take it before we are done.
      const sql = `select pg_try_advisory_xact_lock(${lockOf("$1::text")}) as free
        from job_workers where id = $1 for update`;
      const { rows } = await client.query<{ free: boolean }>(sql, [id]);
      if (rows[0]?.free === true) free.push(id);
    }
    return free.length === 0 ? { released: 0, setAside: [] } : buryIn(client, free);
  });
}

/** The same for everybody who holds anything, when it is known that no server is there. */
export function buryAll(pool: pg.Pool): Promise<Burial> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "select id from job_workers union select locked_by from graphile_worker.jobs where locked_by is not null",
    );
    return buryIn(
      client,
      rows.map(({ id }) => id),
    );
  });
}

/** Gives back what a worker held that stopped although its server is there: nothing is counted. */
export function retire(pool: pg.Pool, id: string): Promise<void> {
  return inTransaction(pool, async (client) => {
    await client.query("select graphile_worker.force_unlock_workers(array[$1::text])", [id]);
    await client.query("delete from job_workers where id = $1", [id]);
  });
}

/** Longer than any job takes, in seconds. */
const strangerPatience = 120;

/** Gives back what workers hold for long that nobody knows of, such as those of older versions. */
export async function releaseStrangers(pool: pg.Pool): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
     where locked_at <= now() - make_interval(secs => $1)
       and not exists (select from job_workers w where w.id = locked_by) having count(*) > 0`,
    [strangerPatience],
  );
  await pool.query(
    "delete from job_ends where not exists (select from graphile_worker.jobs j where j.id = job_id)",
  );
}

/** How many servers ended while a job ran; 0 when none did. */
export async function endsOf(pool: pg.Pool, jobId: string): Promise<number> {
  const { rows } = await pool.query<{ ends: number }>("select ends from job_ends where job_id = $1", [jobId]);
  return rows[0]?.ends ?? 0;
}

/** Whether a job of this task was set aside. */
export async function isTaskSetAside(pool: pg.Pool, task: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select from job_ends where task = $1 and set_aside_at is not null limit 1",
    [task],
  );
  return rowCount !== 0;
}

/** Writes down that a job runs alone, before it does. */
export async function markAlone(pool: pg.Pool, jobId: string): Promise<void> {
  await pool.query(
    `update job_ends set alone_with = (select locked_by from graphile_worker.jobs where id = $1::bigint)
     where job_id = $1::bigint`,
    [jobId],
  );
}

/** Forgets the ends of a job that ended itself, well or not. */
export async function forgetEnds(pool: pg.Pool, jobId: string): Promise<void> {
  await pool.query("delete from job_ends where job_id = $1", [jobId]);
}

/** Has a job that is under way tried no more once it has failed. The queue itself offers that for waiting jobs only. */
export async function giveUp(pool: pg.Pool, jobId: string): Promise<void> {
  await pool.query("update graphile_worker._private_jobs set attempts = max_attempts where id = $1", [jobId]);
}
