import type { Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";
import { appendSnapshots, type SnapshotCause } from "./append-service.ts";
import { appendGroups, refreshGroups } from "./group-service.ts";
import { listLogicalIds, listRunningVersions, lockStandings } from "./timeline-store.ts";

export type { SnapshotCause } from "./append-service.ts";

/**
 * Judges what runs in the environments again and appends the outcome, also when it is the same as before; nothing where
 * nothing was reported yet. The logical environments around follow; those among the environments themselves are made of
 * what runs in their members now. Their members need no lock: who reports to one waits for the logical environment before
 * committing. Rows are locked in the order physical, logical environments, each in order of ids; of several environments
 * the caller has locked all (`lockAll`).
 */
export async function reevaluate(
  deps: Pick<Deps, "clock">,
  tx: Tx,
  org: Org,
  { environmentIds, cause }: { environmentIds: readonly string[]; cause: SnapshotCause },
): Promise<void> {
  if (environmentIds.length === 0) return;
  const logical = new Set(await listLogicalIds(tx, org.id, environmentIds));
  const physical = environmentIds.filter((id) => !logical.has(id));
  const at = deps.clock.now();
  const appended = await reevaluatePhysical(tx, org, { ids: physical, cause, at });
  if (appended.length > 0) await refreshGroups(tx, org, appended, at);
  await appendGroups(tx, org, { ids: [...logical], cause, at });
}

/** @returns ids of the environments that have a new snapshot. */
async function reevaluatePhysical(
  tx: Tx,
  org: Org,
  { ids, cause, at }: { ids: readonly string[]; cause: SnapshotCause; at: Timestamp },
): Promise<string[]> {
  if (ids.length === 0) return [];
  const standings = (await lockStandings(tx, org.id, ids)).filter(({ snapshot_count }) => snapshot_count > 0);
  const versions = await listRunningVersions(
    tx,
    org.id,
    standings.map(({ id }) => id),
  );
  const targets = standings.map((standing) => ({
    standing,
    running: (versions.get(standing.id) ?? []).map(({ running }) => running),
    report: null,
  }));
  const snapshots = await appendSnapshots(tx, org, { cause, targets, at });
  return snapshots.map(({ environment_id }) => environment_id);
}
