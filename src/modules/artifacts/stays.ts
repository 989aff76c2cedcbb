import type { Executor } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A time during which an artifact ran in an environment, by the numbers of the snapshots in which that changed. */
export interface Stay {
  environment_name: string;
  started_at: Timestamp;
  started_in: number;
  /** Null while it runs. */
  exited_at: Timestamp | null;
  exited_in: number | null;
}

/**
 * Where artifacts run and ran, by fingerprint; oldest first. The one place that reads of artifacts learn it from.
 * Environments take no snapshots yet, so nothing is known to run anywhere.
 */
export function listStays(
  _db: Executor,
  _orgId: string,
  _fingerprints: readonly string[],
): Promise<ReadonlyMap<string, readonly Stay[]>> {
  return Promise.resolve(new Map());
}
