import { setTimeout as delay } from "node:timers/promises";

import type { TaskList } from "graphile-worker";

import { sql } from "../db/sql.ts";
import type { Executor } from "../db/connect.ts";
import type { Logger } from "../lib/log.ts";
import type { TimeGuard } from "../lib/time-guard.ts";
import { daySeconds } from "../lib/units.ts";
import type { JobRunner } from "./runner.ts";

/** Seconds that no job is put off by: one that waits for longer was put off by a clock that was ahead. */
const longestDelay = 2 * daySeconds;

/**
 * Takes out of the queue what was written under a clock that was ahead, by the database's clock as it is now: jobs and
 * schedules would wait for a time that is far away. These are no records, so nothing is lost.
 */
export async function mendQueueTimes(db: Executor): Promise<void> {
  await db.run(sql`
    update graphile_worker._private_known_crontabs
    set last_execution = least(last_execution, now()), known_since = least(known_since, now())
    where last_execution > now() + interval '1 minute' or known_since > now() + interval '1 minute'`);
  const latest = sql`now() + make_interval(secs => ${longestDelay})`;
  await db.run(sql`
    update graphile_worker._private_jobs
    set run_at = case when run_at > ${latest} then now() else run_at end, locked_at = least(locked_at, now())
    where run_at > ${latest} or locked_at > now() + interval '5 minutes'`);
}

/** Makes tasks fail, to be tried again, while the time is in doubt. */
export function inRightTime(time: TimeGuard, tasks: TaskList): TaskList {
  const timed: TaskList = {};
  for (const [name, task] of Object.entries(tasks))
    timed[name] = async (payload, helpers) => {
      const why = await time.refusal();
      if (why !== undefined) throw new Error(why);
      return task?.(payload, helpers);
    };
  return timed;
}

const tryAgainMs = 2_000;

/**
 * Keeps a runner going while the time is right and none while it is not: one that goes on under a clock that jumped queues
 * each minute in between. A clock that was set makes for a new runner, too: the one before waits for the old time.
 */
export async function runInRightTime(
  deps: { time: TimeGuard; db: Executor; log: Logger },
  start: () => Promise<JobRunner>,
): Promise<JobRunner> {
  const { time, db, log } = deps;
  let current: JobRunner | undefined;
  const stopping = new AbortController();

  async function renew(): Promise<void> {
    await current?.stop();
    current = undefined;
    if (stopping.signal.aborted || time.refused !== undefined) return;
    await mendQueueTimes(db);
    current = await start();
  }

  async function renewUntilDone(): Promise<void> {
    while (!stopping.signal.aborted)
      try {
        return await renew();
      } catch (err) {
        log.warn({ err }, "background work cannot start yet");
        await delay(tryAgainMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
  }

  await renew();
  let work = Promise.resolve();
  time.onChange(() => {
    work = work.then(renewUntilDone);
  });
  return {
    stop: async () => {
      stopping.abort();
      await work;
      await current?.stop();
    },
  };
}
