import type { JobHelpers, Task, TaskList } from "graphile-worker";

import type { Executor } from "../db/connect.ts";
import { isPermanent } from "../domain/errors.ts";
import type { Logger } from "../lib/log.ts";
import { endsOf, forgetEnds, giveUp, isTaskSetAside, markAlone, suspectedFrom } from "./ends-store.ts";
import type { Solitude } from "./solitude.ts";
import { traceIdOf } from "./traced.ts";

/** What careful tasks need. */
export interface CarefulOptions {
  db: Executor;
  log: Logger;
  /** Shared by all workers of the server whose jobs may end it; undefined for jobs that run in processes of their own. */
  solitude: Solitude | undefined;
}

type Run = () => Promise<unknown>;

function isTimed(payload: unknown): boolean {
  return typeof payload === "object" && payload !== null && "_cron" in payload;
}

function beside(solitude: Solitude | undefined, run: Run): Promise<unknown> {
  return solitude === undefined ? run() : solitude.beside(run);
}

/** Runs a job that was handed out before: alone when servers ended while it ran. */
async function runAgain({ db, log, solitude }: CarefulOptions, id: string, run: Run): Promise<unknown> {
  const ends = await endsOf(db, id);
  if (ends === 0) return beside(solitude, run);
  try {
    if (solitude === undefined) return await run();
    if (ends < suspectedFrom) return await solitude.beside(run);
    return await solitude.alone(async () => {
      await markAlone(db, id);
      return run();
    });
  } finally {
    await forgetEnds(db, id).catch((err: unknown) => log.warn({ err, job: id }, "could not clear a job"));
  }
}

/** A failure that trying again does not change, or the last one, is told once and looked after by nobody but people. */
async function noteFailure(
  { db, log }: CarefulOptions,
  job: JobHelpers["job"],
  error: unknown,
): Promise<void> {
  const { id, task_identifier: task, attempts, max_attempts } = job;
  if (isPermanent(error)) await giveUp(db, id);
  else if (attempts < max_attempts) return;
  log.error(
    { err: error, job: id, task, trace_id: traceIdOf(job) },
    "a background job failed for good, see `waybill admin jobs list`",
  );
}

function careful(options: CarefulOptions, name: string, task: Task): Task {
  return async (payload, helpers) => {
    const { job } = helpers;
    // The next one by the clock would do what the one that was set aside did.
    if (isTimed(payload) && (await isTaskSetAside(options.db, name))) return;
    const run: Run = async () => task(payload, helpers);
    try {
      await (job.attempts > 1 ? runAgain(options, job.id, run) : beside(options.solitude, run));
    } catch (error) {
      await noteFailure(options, job, error);
      throw error;
    }
  };
}

/**
 * Gives these tasks, run so that it can be told which of them ends servers, and so that those that cannot succeed are tried
 * no more.
 */
export function carefulTasks(tasks: TaskList, options: CarefulOptions): TaskList {
  return Object.fromEntries(
    Object.entries(tasks).flatMap(([name, task]) =>
      task === undefined ? [] : [[name, careful(options, name, task as Task)]],
    ),
  );
}
