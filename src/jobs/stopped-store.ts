import type { ConnectionSource, Executor } from "../db/connect.ts";
import { integer, json, nullable, oneOf, type RowOf, text, timestamp } from "../db/row.ts";
import { query, raw, sql } from "../db/sql.ts";
import { transaction } from "../db/transaction.ts";

const stopped = {
  id: integer,
  task: text,
  /** `suspected` is still tried, alone; the others are not. */
  state: oneOf(["set aside", "failed", "suspected"]),
  /** Servers that ended while it ran. */
  ends: integer,
  attempts: integer,
  max_attempts: integer,
  created_at: timestamp,
  last_error: nullable(text),
  /** What it was queued with: ids. */
  payload: json<unknown>(),
};

/** A job that is handed out no more, or that servers ended with and that is still tried. */
export type StoppedListing = RowOf<typeof stopped>;

const isExhausted = raw("j.attempts >= j.max_attempts and j.locked_at is null");

/** Lists jobs that need somebody to look at them, the oldest first. */
export function listStopped(db: Executor): Promise<StoppedListing[]> {
  return db.all(query(stopped)`
    select j.id, t.identifier as task, coalesce(e.ends, 0) as ends, j.attempts, j.max_attempts, j.created_at,
      j.last_error, j.payload,
      case when e.set_aside_at is not null then 'set aside' when ${isExhausted} then 'failed' else 'suspected' end as state
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
    left join job_ends e on e.job_id = j.id
    where e.job_id is not null or (${isExhausted})
    order by j.id`);
}

/** Counts the jobs that are handed out no more, by reason. */
export function countStopped(db: Executor): Promise<{ set_aside: number; failed: number }> {
  return db.one(query({ set_aside: integer, failed: integer })`
    select count(e.job_id) as set_aside, count(*) - count(e.job_id) as failed
    from graphile_worker._private_jobs j
    left join job_ends e on e.job_id = j.id and e.set_aside_at is not null where ${isExhausted}`);
}

/** Counts the jobs that have been due for ten minutes, and that nobody has begun. */
export async function countOverdue(db: Executor): Promise<number> {
  const { overdue } = await db.one(query({ overdue: integer })`
    select count(*) as overdue from graphile_worker._private_jobs j
    where j.locked_at is null and j.attempts < j.max_attempts and j.run_at < now() - interval '10 minutes'`);
  return overdue;
}

/**
 * Has a stopped job tried again, with all its tries; one that servers ended with runs alone, and is set aside again when
 * another one ends. @returns false when there is no such job.
 */
export function retryStopped(db: ConnectionSource, id: number): Promise<boolean> {
  return transaction(db, async (tx) => {
    // As if it had been tried once: then its ends are looked at.
    const found = await tx.run(sql`
      select graphile_worker.reschedule_jobs(array[j.id], run_at => now(), attempts => least(1, j.max_attempts - 1))
      from graphile_worker._private_jobs j where j.id = ${id} and ${isExhausted}`);
    await tx.run(sql`update job_ends set set_aside_at = null where job_id = ${id}`);
    return found > 0;
  });
}

/** Removes a job that is not under way, whatever it was to do. @returns false when there is no such job. */
export async function dropStopped(db: Executor, id: number): Promise<boolean> {
  const dropped = await db.run(sql`
    with dropped as (
      select graphile_worker.complete_jobs(array[j.id]) from graphile_worker._private_jobs j
      left join job_ends e on e.job_id = j.id
      where j.id = ${id} and j.locked_at is null and (e.job_id is not null or (${isExhausted}))
    )
    select from dropped`);
  await db.run(sql`
    delete from job_ends
    where job_id = ${id} and not exists (select from graphile_worker.jobs j where j.id = job_id)`);
  return dropped > 0;
}
