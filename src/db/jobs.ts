import { compareText } from "../lib/text.ts";
import type { Tx } from "./connect.ts";
import { sql } from "./sql.ts";

export interface EnqueueOptions {
  /** Jobs of one key replace each other while they wait. */
  key?: string;
  /** Seconds before it may run. */
  delay?: number;
  /** Where it stands among those that may run: 0 when left out, more for behind those. */
  priority?: number;
}

/** Says in a payload what queued the job, where that is recorded. */
function traced<Payload extends object>({ traceparent }: Tx, payload: Payload): Payload {
  return traceparent === undefined ? payload : { ...payload, traceparent };
}

/** Queues a job in the caller's transaction: it exists exactly if the transaction commits. */
export async function enqueue(
  tx: Tx,
  task: string,
  payload: Record<string, string | number>,
  options: EnqueueOptions = {},
): Promise<void> {
  const { key, delay, priority } = options;
  await tx.run(sql`select graphile_worker.add_job(${task}::text, ${JSON.stringify(traced(tx, payload))}::json,
    job_key => ${key ?? null}::text, max_attempts => 25, priority => ${priority ?? 0}::integer,
    run_at => now() + make_interval(secs => ${delay ?? 0}))`);
}

/** Jobs that are queued in one statement. */
const together = 1000;

/**
 * Queues many jobs of one task, a thousand in a statement. Of those with the same key the last one counts. They are written in
 * the order of their keys, whoever queues them, so that nobody waits in a circle.
 *
 * One by one within the statement, not by `add_jobs`: that looks for what workers have taken before it writes the first, and
 * leaves out, without a word, what they take while it writes.
 */
export async function enqueueAll(
  tx: Tx,
  task: string,
  jobs: readonly { payload: Record<string, string | number>; key: string }[],
): Promise<void> {
  const latest = [...new Map(jobs.map((job) => [job.key, job])).values()].toSorted((one, other) =>
    compareText(one.key, other.key),
  );
  for (let from = 0; from < latest.length; from += together) {
    const queued = latest.slice(from, from + together);
    const given = queued.map(({ payload, key }) => ({ payload: traced(tx, payload), key }));
    await tx.run(sql`select graphile_worker.add_job(${task}::text, job.payload, job_key => job.key, max_attempts => 25)
      from json_to_recordset(${JSON.stringify(given)}::json) as job (payload json, key text)`);
  }
}
