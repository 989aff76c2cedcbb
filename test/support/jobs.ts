import { Logger, runOnce } from "graphile-worker";

import { deliveryTasks, jobTasks } from "../../src/jobs/tasks.ts";
import type { TestApp } from "./app.ts";

const silent = new Logger(() => () => {});

/** Runs every job that is due, as the running program would; the test program has no worker of its own. */
export async function runPendingJobs(app: TestApp): Promise<void> {
  await runOnce({
    pgPool: app.deps.db.pool,
    taskList: { ...jobTasks(app.deps), ...deliveryTasks(app.deps) },
    logger: silent,
    noHandleSignals: true,
  });
}
