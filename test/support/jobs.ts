import { Logger, runOnce } from "graphile-worker";
import { expect, inject } from "vitest";

import { waitForCommits } from "../../src/db/citus/uncommitted.ts";
import { afterCommits } from "../../src/jobs/after-commits.ts";
import { deliveryTasks, jobTasks } from "../../src/jobs/tasks.ts";
import { tracedTasks } from "../../src/jobs/traced.ts";
import type { TestApp } from "./app.ts";

const silent = new Logger(() => () => {});

/** Runs every job that is due, as the running program would; the test program has no worker of its own. */
export async function runPendingJobs(app: TestApp): Promise<void> {
  const { db } = app.deps;
  const tasks = { ...tracedTasks(app.deps, jobTasks), ...tracedTasks(app.deps, deliveryTasks) };
  const locked = async (): Promise<string[]> => {
    const { rows } = await db.pool.query<{ id: string }>(
      "select id from graphile_worker._private_jobs where locked_at is not null",
    );
    return rows.map(({ id }) => id);
  };
  const ofOthers = new Set(await locked());
  await runOnce({
    pgPool: db.pool,
    taskList: inject("cluster") ? afterCommits((orgId) => waitForCommits(db, orgId), tasks) : tasks,
    logger: silent,
    noHandleSignals: true,
  });
  // The worker ends before what it says of its last job is stored.
  const underWay = async (): Promise<string[]> => (await locked()).filter((id) => !ofOthers.has(id));
  await expect.poll(underWay, { timeout: 5_000, interval: 5 }).toEqual([]);
}
