import { setImmediate as turn } from "node:timers/promises";

import { inject } from "vitest";

import type { TestApp } from "./app.ts";

/** On a cluster they wait on the node of the organization. */
const activity = (): string => (inject("cluster") ? "citus_stat_activity" : "pg_stat_activity");

/** Writes the statement that lists who in the database waits for a lock. */
export const waitingForLocks = (): string =>
  `select from ${activity()} where datname = current_database() and wait_event_type = 'Lock'`;

/** Waits until somebody in the database waits for a lock, or the request that should has no need to. */
export async function untilWaiting(app: TestApp, request: Promise<unknown>): Promise<void> {
  const settled = request.then(
    () => true,
    () => true,
  );
  while ((await app.deps.db.pool.query(waitingForLocks())).rowCount === 0)
    if (await Promise.race([settled, turn(false)])) break;
}
