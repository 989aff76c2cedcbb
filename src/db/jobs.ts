import { sql } from "kysely";

import type { Tx } from "./connect.ts";

/**
 * Queues a job in the caller's transaction: it exists exactly if the transaction commits.
 * @param key jobs of one key replace each other while they wait.
 */
export async function enqueue(
  tx: Tx,
  task: string,
  payload: Record<string, string | number>,
  key?: string,
): Promise<void> {
  await sql`select graphile_worker.add_job(${task}::text, ${JSON.stringify(payload)}::json,
    job_key => ${key ?? null}::text, max_attempts => 25)`.execute(tx);
}
