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

/** Starts working on queued jobs. A job that throws is tried again, later and later. */
export async function startJobs(pool: pg.Pool, tasks: TaskList, log: Logger): Promise<JobRunner> {
  const runner = await run({
    pgPool: pool,
    taskList: tasks,
    concurrency: 4,
    pollInterval: 2_000,
    noHandleSignals: true,
    logger: workerLogger(log),
  });
  return { stop: () => runner.stop() };
}
