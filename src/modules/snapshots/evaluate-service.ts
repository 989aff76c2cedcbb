import type { Tx } from "../../db/connect.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";

/** Why a snapshot was appended. */
export type SnapshotCause = "report" | "policy" | "allow-list" | "members";

/** Judges what runs in the environments again and appends the outcome; nothing where nothing was reported yet. */
export function reevaluate(
  _deps: Deps,
  _tx: Tx,
  _org: Org,
  _changed: { environmentIds: readonly string[]; cause: SnapshotCause },
): Promise<void> {
  return Promise.resolve();
}
