import type { Tx } from "../../db/connect.ts";
import { artifactKey } from "../../domain/snapshot/running.ts";
import { uniteRunning } from "../../domain/snapshot/union.ts";
import type { StoredVersion } from "../../domain/snapshot/versions.ts";
import type { Timestamp } from "../../lib/clock.ts";
import type { Org } from "../environments/find-service.ts";
import { appendSnapshots, type SnapshotCause } from "./append-service.ts";
import type { Target } from "./compare-service.ts";
import {
  listMembers,
  listRunningVersions,
  lockGroups,
  lockStandings,
  type MemberRow,
  type Standing,
} from "./timeline-store.ts";

/** What each artifact is worth in the members it runs in, by `artifactKey`. */
function verdictsOf(versions: readonly StoredVersion[]): Map<string, (boolean | null)[]> {
  const verdicts = new Map<string, (boolean | null)[]>();
  for (const version of versions) {
    const key = artifactKey(version);
    const known = verdicts.get(key);
    if (known === undefined) verdicts.set(key, [version.compliant]);
    else known.push(version.compliant);
  }
  return verdicts;
}

/** A logical environment with what its members run. */
function groupTarget(
  standing: Standing,
  members: readonly MemberRow[],
  versions: ReadonlyMap<string, readonly StoredVersion[]>,
): Target {
  const running = uniteRunning(
    members.map(({ id, name }) => ({
      environment: name,
      artifacts: (versions.get(id) ?? []).map((version) => version.running),
    })),
  );
  const states = members.map(({ state }) => state);
  const verdicts = verdictsOf(members.flatMap(({ id }) => versions.get(id) ?? []));
  return { standing, running, members: { states, verdicts }, report: null };
}

/**
 * Appends a snapshot to each of these logical environments: the union of what runs in their members. Nothing where no
 * member was ever reported on and there is no snapshot yet. Their rows are locked here, in order of their ids.
 */
export async function appendGroups(
  tx: Tx,
  org: Org,
  { ids, cause, at }: { ids: readonly string[]; cause: SnapshotCause; at: Timestamp },
): Promise<void> {
  if (ids.length === 0) return;
  const standings = await lockStandings(tx, org.id, ids);
  const members = await listMembers(tx, org.id, ids);
  const versions = await listRunningVersions(tx, org.id, [...new Set(members.map(({ id }) => id))]);
  const targets = standings.flatMap((standing) => {
    const own = members.filter(({ logical_id }) => logical_id === standing.id);
    const isKnown = standing.snapshot_count > 0 || own.some(({ snapshot_count }) => snapshot_count > 0);
    return isKnown ? [groupTarget(standing, own, versions)] : [];
  });
  await appendSnapshots(tx, org, { cause, targets, at });
}

/** Appends a snapshot to every logical environment around these, which have a new one of this moment. */
export async function refreshGroups(
  tx: Tx,
  org: Org,
  memberIds: readonly string[],
  at: Timestamp,
): Promise<void> {
  const ids = await lockGroups(tx, org.id, memberIds);
  await appendGroups(tx, org, { ids, cause: "members", at });
}
