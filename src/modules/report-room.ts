import { overloaded } from "../domain/errors.ts";
import type { Room } from "../lib/batcher.ts";

/** Reports written in one transaction at most: enough to spread its cost, few enough to keep it short. */
export const maxReportsInBatch = 200;

const megabyte = 1024 * 1024;

/**
 * Room for the reports of one organization. They are small as a rule, and may be large: both together must fit into
 * memory, and into one statement.
 * @param payload what of a report makes its size.
 */
export function reportRoom<Report>(payload: (report: Report) => unknown): Room<Report> {
  return {
    maxWaiting: 10_000,
    weigh: (report) => JSON.stringify(payload(report)).length,
    maxBatchWeight: 16 * megabyte,
    maxWaitingWeight: 64 * megabyte,
    full: overloaded,
  };
}
