import { type DiffableSnapshot, diffSnapshots, type SnapshotDiff } from "../../domain/snapshot/diff.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";
import { resolveSnappish, type SnapshotRef } from "./find-service.ts";
import { listSnapshotArtifacts } from "./read-store.ts";

async function readDiffable(
  deps: Pick<Deps, "db">,
  org: Org,
  { environment, index }: SnapshotRef,
): Promise<DiffableSnapshot> {
  const snapshot = { environment_id: environment.id, index };
  const rows = await listSnapshotArtifacts(deps.db.query, org.id, snapshot);
  const artifacts = rows
    .filter(({ annotation }) => annotation.type !== "exited")
    .map(({ running, flows: [first] }) => ({
      ...running,
      flow_name: first?.flow_name ?? null,
      commit_url: first?.commit_url ?? null,
    }));
  return { snapshot_id: `${environment.name}#${index}`, artifacts };
}

/**
 * Compares two snapshots, of one environment or of two, by expressions with the environments' names (contract 5).
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression; of the first one
 * before anything of the second.
 */
export async function compareSnapshots(
  deps: Pick<Deps, "db" | "clock">,
  org: Org,
  { snappish1, snappish2 }: { snappish1: string; snappish2: string },
): Promise<SnapshotDiff> {
  const first = await resolveSnappish(deps, org, snappish1);
  const second = await resolveSnappish(deps, org, snappish2);
  return diffSnapshots(await readDiffable(deps, org, first), await readDiffable(deps, org, second));
}
