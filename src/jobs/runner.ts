import { Logger as WorkerLogger, makeWorkerUtils, run, type TaskList } from "graphile-worker";
import type pg from "pg";

import type { Logger } from "../lib/log.ts";

/** Work that goes on in the background. */
export interface JobRunner {
  /** Lets running jobs finish, then stops. */
  stop(): Promise<void>;
}

function workerLogger(log: Logger): WorkerLogger {
  const levels = { error: "error", warning: "warn", info: "debug", debug: "trace" } as const;
  return new WorkerLogger(() => (level, message, meta) => log[levels[level]]({ jobs: meta }, message));
}

/** Creates or updates the queue's own tables. Safe to run by several processes at once. */
export async function migrateJobs(pool: pg.Pool, log: Logger): Promise<void> {
  const utils = await makeWorkerUtils({ pgPool: pool, logger: workerLogger(log) });
  try {
    await utils.migrate();
  } finally {
    await utils.release();
  }
}

/** Longer than any job takes: one held for longer belongs to a worker that was killed. */
const abandonedAfterSeconds = 120;
const releaseEveryMs = 30_000;

/**
 * Gives jobs back to the queue that killed workers took along: those held for longer than this. The queue itself waits
 * four hours. A job may therefore run again after it was done, which every job has to bear anyway.
 */
export async function releaseAbandonedJobs(pool: pg.Pool, olderThanSeconds: number): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
     where locked_at <= now() - make_interval(secs => $1) having count(*) > 0`,
    [olderThanSeconds],
  );
}

export interface JobOptions {
  log: Logger;
  /** Nobody else works on this queue: whatever is held at the start is abandoned. */
  alone: boolean;
  /** Tasks queued by the clock, in the form of a crontab. */
  schedule?: string;
}

/** Starts working on queued jobs. A job that throws is tried again, later and later. */
export async function startJobs(pool: pg.Pool, tasks: TaskList, options: JobOptions): Promise<JobRunner> {
  const { log, alone } = options;
  await releaseAbandonedJobs(pool, alone ? 0 : abandonedAfterSeconds);
  const runner = await run({
    pgPool: pool,
    taskList: tasks,
    concurrency: 4,
    pollInterval: 2_000,
    noHandleSignals: true,
    crontab: options.schedule ?? "",
    logger: workerLogger(log),
  });
  const timer = setInterval(() => {
    releaseAbandonedJobs(pool, abandonedAfterSeconds).catch((err: unknown) =>
      log.warn({ err }, "could not look for abandoned jobs"),
    );
  }, releaseEveryMs);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return runner.stop();
    },
  };
}
