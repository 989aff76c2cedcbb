import type pg from "pg";

/** A job that is handed out no more, or that servers ended with and that is still tried. */
export interface StoppedListing {
  id: number;
  task: string;
  /** `suspected` is still tried, alone; the others are not. */
  state: "set aside" | "failed" | "suspected";
  /** Servers that ended while it ran. */
  ends: number;
  attempts: number;
  max_attempts: number;
  /** Unix seconds. */
  created_at: number;
  last_error: string | null;
  /** What it was queued with: ids. */
  payload: unknown;
}

const isExhausted = "j.attempts >= j.max_attempts and j.locked_at is null";

/** Jobs that need somebody to look at them, the oldest first. */
export async function listStopped(pool: pg.Pool): Promise<StoppedListing[]> {
  const { rows } = await pool.query<StoppedListing>(
    `select j.id, t.identifier as task, coalesce(e.ends, 0) as ends, j.attempts, j.max_attempts, j.created_at,
       j.last_error, j.payload,
       case when e.set_aside_at is not null then 'set aside' when ${isExhausted} then 'failed' else 'suspected' end as state
     from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id
     left join job_ends e on e.job_id = j.id
     where e.job_id is not null or (${isExhausted})
     order by j.id`,
  );
  return rows;
}

/** How many jobs are handed out no more, by reason. */
export async function countStopped(pool: pg.Pool): Promise<{ set_aside: number; failed: number }> {
  const { rows } = await pool.query<{ set_aside: number; failed: number }>(
    `select count(e.job_id) as set_aside, count(*) - count(e.job_id) as failed
     from graphile_worker._private_jobs j
     left join job_ends e on e.job_id = j.id and e.set_aside_at is not null where ${isExhausted}`,
  );
  return rows[0]!;
}

/**
 * Has a stopped job tried again, with all its tries; one that servers ended with runs alone, and is set aside again when
 * another one ends. @returns false when there is no such job.
 */
export async function retryStopped(pool: pg.Pool, id: number): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const { rowCount } = await client.query(
      // As if it had been tried once: then its ends are looked at.
      `select graphile_worker.reschedule_jobs(array[j.id], run_at => now(), attempts => least(1, j.max_attempts - 1))
       from graphile_worker._private_jobs j where j.id = $1 and ${isExhausted}`,
      [id],
    );
    await client.query("update job_ends set set_aside_at = null where job_id = $1", [id]);
    await client.query("commit");
    client.release();
    return rowCount !== 0;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Removes a job that is not under way, whatever it was to do. @returns what it was; undefined when there is no such job. */
export async function dropStopped(pool: pg.Pool, id: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `with dropped as (
       select graphile_worker.complete_jobs(array[j.id]) from graphile_worker._private_jobs j
       left join job_ends e on e.job_id = j.id
       where j.id = $1 and j.locked_at is null and (e.job_id is not null or (${isExhausted}))
     )
     select from dropped`,
    [id],
  );
  await pool.query(
    "delete from job_ends where job_id = $1 and not exists (select from graphile_worker.jobs j where j.id = job_id)",
    [id],
  );
  return rowCount !== 0;
}
