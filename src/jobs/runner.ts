import { setTimeout as delay } from "node:timers/promises";

import {
  Logger as WorkerLogger,
  makeWorkerUtils,
  run,
  type Runner,
  type TaskList,
  type WorkerEvents,
} from "graphile-worker";
import type pg from "pg";

import { eventLoopDelay } from "../lib/event-loop-delay.ts";
import type { Logger } from "../lib/log.ts";
import { Looking } from "./looking.ts";
import type { Presence } from "./presence.ts";

/** Work that goes on in the background. */
export interface JobRunner {
  /** Lets running jobs finish, then stops. */
  stop(): Promise<void>;
}

function workerLogger(log: Logger): WorkerLogger {
  const levels = { error: "error", warning: "warn", info: "debug", debug: "trace" } as const;
  return new WorkerLogger(() => (level, message, meta) => {
    // The job's payload and the pool are in there too.
    const err: unknown = meta?.["error"] ?? meta?.["fatalError"];
    log[levels[level]](err === undefined ? { jobs: true } : { jobs: true, err }, message);
  });
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

export interface JobOptions {
  log: Logger;
  /** Where others see that this server's workers are there. */
  presence: Pick<Presence, "announce" | "retire">;
  /** Jobs under way at most; 4 when left out. */
  concurrency?: number;
  /** Tasks queued by the clock, in the form of a crontab. */
  schedule?: string;
}

/** So often is looked whether the time of a job has come, in milliseconds. */
const lookEveryMs = 2_000;

/** So often each worker looks for itself, in milliseconds, should nobody have it look. */
const lookAnywayMs = 60_000;

/** With the database away the end of a job may stay unwritten for long; the job will run again instead. */
const stopWithinMs = 20_000;

/** What ends with a runner whose workers have all ended may take this long. */
const endWithinMs = 5_000;

/** Work that goes on until it is told to stop, or ends by itself. */
type Running = Pick<Runner, "promise" | "stop">;

/**
 * Has a runner end some time after all its workers have, at the latest. When the ends of several jobs cannot be written
 * down, graphile-worker 0.17 loses count of how many it still has to write, and waits for them forever.
 */
function endWithWorkers(runner: Running, events: WorkerEvents): Running {
  const ended = new Promise<void>((resolve) => {
    for (const end of ["pool:gracefulShutdown:complete", "pool:gracefulShutdown:error"] as const)
      events.on(end, () => resolve());
  }).then(() => delay(endWithinMs, undefined, { ref: false }));
  return {
    // Stopped, too, so that nothing is queued by its clock any more.
    promise: Promise.race([runner.promise, ended.then(() => void runner.stop().catch(() => {}))]),
    stop: async (reason) => Promise.race([runner.stop(reason), ended]),
  };
}

/**
 * Keeps background work going: a runner that ended by itself, because it could not write down what became of a job,
 * is followed by another one.
 * @param start begins work; tried again until it succeeds.
 */
export function superviseRunner(
  start: () => Promise<Running>,
  first: Running,
  options: { log: Logger; restartAfterMs: number },
): JobRunner {
  const { log, restartAfterMs } = options;
  const stopping = new AbortController();
  let runner: Pick<Running, "stop"> | undefined = first;

  async function next(): Promise<Running | undefined> {
    for (;;) {
      await delay(restartAfterMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return undefined;
      try {
        return await start();
      } catch (err) {
        log.warn({ err }, "background work cannot start yet");
      }
    }
  }

  async function supervise(): Promise<void> {
    for (let current: Running | undefined = first; current !== undefined;) {
      runner = current;
      // Asked to stop while it was being started.
      if (stopping.signal.aborted) await current.stop();
      await current.promise.catch(() => {});
      runner = undefined;
      if (stopping.signal.aborted) return;
      log.warn("background work was interrupted, starting it again");
      current = await next();
    }
  }

  const supervision = supervise();
  return {
    stop: async () => {
      stopping.abort();
      const stopped = Promise.resolve(runner?.stop()).then(() => supervision);
      await Promise.race([stopped, delay(stopWithinMs, undefined, { ref: false })]);
    },
  };
}

/** Has it measured how late the event loop is while jobs are under way. */
function measured(tasks: TaskList): TaskList {
  return Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [
      name,
      task && ((payload, helpers) => eventLoopDelay.during(async () => task(payload, helpers))),
    ]),
  );
}

/** Has a worker announced before it takes its first job. */
function announcing(announce: (worker: string) => Promise<void>): GraphileConfig.Plugin {
  const announced = new Map<string, Promise<void>>();
  return {
    name: "announcing",
    version: "1",
    worker: {
      hooks: {
        // Asked by each of a pool's workers. The pool is what jobs are locked by.
        startWorker: (_ctx, { worker }) => {
          const { id } = worker.workerPool;
          if (!announced.has(id)) announced.set(id, announce(id));
          return announced.get(id);
        },
      },
    },
  };
}

/** Starts working on queued jobs. A job that throws is tried again, later and later. */
export async function startJobs(pool: pg.Pool, tasks: TaskList, options: JobOptions): Promise<JobRunner> {
  const { log, presence } = options;
  const mine = new Set<string>();
  const plugin = announcing((worker) => {
    mine.add(worker);
    return presence.announce(worker);
  });
  const retire = async (): Promise<void> => {
    for (const worker of mine) {
      await presence.retire(worker);
      mine.delete(worker);
    }
  };
  const start = async (): Promise<Running> => {
    // What a runner that ended by itself had under way has ended with it.
    await retire();
    const looking = new Looking(lookEveryMs);
    const running = run({
      preset: {
        plugins: [plugin],
        // With a delay, even of nothing, a database that goes away while the end of a job is written down ends the
        // runner; without, it is an unhandled rejection and ends the process.
        worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 },
      },
      pgPool: pool,
      taskList: measured(tasks),
      concurrency: options.concurrency ?? 4,
      pollInterval: lookAnywayMs,
      events: looking.events,
      noHandleSignals: true,
      crontab: options.schedule ?? "",
      logger: workerLogger(log),
    });
    running.catch(() => looking.stop());
    return endWithWorkers(await running, looking.events);
  };
  const runner = superviseRunner(start, await start(), { log, restartAfterMs: 2_000 });
  return {
    stop: async () => {
      await runner.stop();
      // What did not end in time runs again, and is not to blame.
      await retire().catch((err: unknown) => log.warn({ err }, "could not give back background jobs"));
    },
  };
}
