import { setTimeout as delay } from "node:timers/promises";

import type { TaskList } from "graphile-worker";

import { waitForCommits } from "../db/citus/uncommitted.ts";
import type { Database } from "../db/connect.ts";
import type { LastingConnection } from "../db/lasting-connection.ts";
import type { Logger } from "../lib/log.ts";
import { afterCommits } from "./after-commits.ts";
import { carefulTasks } from "./careful.ts";
import { type ReleasedJobs, releaseAllJobs } from "./ends-store.ts";
import { bePresent } from "./presence.ts";
import { type JobRunner, startJobs } from "./runner.ts";
import { createSolitude } from "./solitude.ts";
import { listStopped } from "./stopped-store.ts";

/** Jobs that are worked on side by side, and keep nothing but each other waiting. */
export interface Crew {
  tasks: TaskList;
  /** Jobs under way at most; 4 when left out. */
  concurrency?: number;
  /** Tasks queued by the clock, in the form of a crontab. */
  schedule?: string;
  /** Its work is done by processes of their own, and may take hours: it is neither suspected with other jobs nor waited for by them. */
  apart?: boolean;
}

export interface BackgroundOptions {
  db: Database;
  /** By which other servers see that this one is there. */
  lasting: LastingConnection;
  /** Whether the database is distributed over several nodes. */
  distributed: boolean;
  log: Logger;
  /** No other server works on this database: whatever is held at the start was held by servers that are gone. */
  alone: boolean;
  crews: readonly Crew[];
  /** Starts each crew, and starts it again when it has to be. */
  keepUp(start: () => Promise<JobRunner>): Promise<JobRunner>;
  /** Milliseconds before the first job runs; 1 second when left out. */
  settleMs?: number;
}

/** What a job does to its server it must not do to the start: requests are served by then. */
const settleMs = 1_000;

const tryAgainMs = 2_000;

function logRelease(log: Logger, { released, setAside }: ReleasedJobs): void {
  if (released > 0) log.warn({ jobs: released }, "servers ended while jobs were under way; these run again");
  for (const { id, task } of setAside)
    log.error(
      { job: id, task },
      "a background job was set aside: servers ended while it ran, again and again",
    );
}

async function logSetAside({ db, log }: BackgroundOptions): Promise<void> {
  const jobs = (await listStopped(db)).filter(({ state }) => state === "set aside");
  if (jobs.length === 0) return;
  const named = jobs.slice(0, 20).map(({ id, task }) => ({ id, task }));
  log.warn(
    { count: jobs.length, jobs: named },
    "background jobs are set aside, see `waybill admin jobs list`",
  );
}

async function begin(options: BackgroundOptions): Promise<JobRunner> {
  const { db, lasting, distributed, log, alone, crews, keepUp } = options;
  if (alone) logRelease(log, await releaseAllJobs(db));
  await logSetAside(options);
  const wait = (orgId: string): Promise<void> => waitForCommits(db, orgId);
  const presence = bePresent({ db, lasting, log, onRelease: (jobs) => logRelease(log, jobs) });
  const runners: JobRunner[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(runners.map((runner) => runner.stop()));
    await presence.stop();
  };
  const solitude = createSolitude();
  try {
    for (const { tasks, apart, ...crew } of crews) {
      const timely = distributed ? afterCommits(wait, tasks) : tasks;
      runners.push(
        await keepUp(() =>
          startJobs(
            db.direct,
            carefulTasks(timely, { db, log, solitude: apart === true ? undefined : solitude }),
            { ...crew, log, presence },
          ),
        ),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/**
 * Starts background work a moment from now, and goes on trying until it succeeds: nothing about it keeps a server from
 * starting.
 */
export function startBackground(options: BackgroundOptions): JobRunner {
  const stopping = new AbortController();
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal: stopping.signal }).catch(() => {});

  async function start(): Promise<JobRunner | undefined> {
    await pause(options.settleMs ?? settleMs);
    while (!stopping.signal.aborted)
      try {
        return await begin(options);
      } catch (err) {
        options.log.warn({ err }, "background work cannot start yet");
        await pause(tryAgainMs);
      }

    return undefined;
  }

  const started = start();
  return {
    stop: async () => {
      stopping.abort();
      await (await started)?.stop();
    },
  };
}
