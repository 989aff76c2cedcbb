import type { Tx } from "../../db/connect.ts";
import { countCompliance, isNewSnapshot } from "../../domain/snapshot/annotate.ts";
import { occurrencesOf } from "../../domain/snapshot/occurrences.ts";
import { planSnapshot, type SnapshotPlan, unknownLineage } from "../../domain/snapshot/versions.ts";
import type { Predecessor } from "../../domain/snapshot/flows-of.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { sha256 } from "../../lib/hash.ts";
import { wireId } from "../../lib/ids.ts";
import type { Org } from "../environments/find-service.ts";
import { notify } from "../notifications/service.ts";
import { type Compared, compareTargets, type Target } from "./compare-service.ts";
import { confirmVersions } from "./standing-store.ts";
import { insertSnapshots, listPredecessors, type NewSnapshot } from "./timeline-store.ts";

/** Why a snapshot was appended. */
export type SnapshotCause = "report" | "policy" | "allow-list" | "members";

async function predecessorsOf(
  tx: Tx,
  org: Org,
  compared: readonly Compared[],
): Promise<Map<string, Map<string, Predecessor>>> {
  const wanted = compared.flatMap(({ target, before, verdict }) =>
    unknownLineage(before, verdict.artifacts).map(({ flow_id, template_reference_name, fingerprint }) => ({
      environment_id: target.standing.id,
      flow_id,
      template_reference_name,
      fingerprint,
    })),
  );
  return wanted.length === 0 ? new Map() : listPredecessors(tx, org.id, wanted);
}

function digestOf(contents: string): string {
  return sha256(contents).toString("base64");
}

function planOf(
  { target, before, annotated }: Compared,
  predecessors: ReadonlyMap<string, Predecessor>,
): SnapshotPlan {
  const { artifact_count } = target.standing;
  return planSnapshot({ before, annotated, predecessors, artifact_count, digestOf });
}

function newSnapshot(
  compared: Compared,
  made: { cause: SnapshotCause; now: Timestamp; predecessors: ReadonlyMap<string, Predecessor> },
): NewSnapshot {
  const { target, verdict, judged_by, annotated } = compared;
  const { standing, report } = target;
  return {
    environment_id: standing.id,
    index: standing.snapshot_count + 1,
    // The order of snapshots is that of their times, whatever the machine's clock does.
    at: Math.max(made.now, standing.latest_at ?? 0),
    state: verdict.state,
    type: standing.type,
    cause: made.cause,
    counts: countCompliance(annotated),
    applied_policies: verdict.applied_policies.map((policy) => ({ ...policy, id: wireId(policy.id) })),
    plan: planOf(compared, made.predecessors),
    judged_by,
    report,
  };
}

/** Notes what holds in an environment that gets no new snapshot, so that it is not looked at again. */
async function confirm(tx: Tx, org: Org, compared: Compared): Promise<void> {
  const { confirmed } = planOf(compared, new Map());
  if (confirmed.length > 0) await confirmVersions(tx, org.id, compared.target.standing.id, confirmed);
}

/** Whether there is anything to record: always, but for a report that brings nothing new. */
function isWorthIt({ target, annotated }: Compared): boolean {
  return target.report === null || target.standing.snapshot_count === 0 || isNewSnapshot(annotated);
}

/**
 * Judges what runs in these environments, and appends a snapshot to each, unless a report brought nothing new. What
 * actions want to be told of is queued in the same transaction. A handful of statements, whatever the numbers of
 * environments and artifacts. Does not look at the logical environments around: see `refreshGroups`.
 * @returns the snapshots that were appended.
 */
export async function appendSnapshots(
  tx: Tx,
  org: Org,
  { cause, targets, at: now }: { cause: SnapshotCause; targets: readonly Target[]; at: Timestamp },
): Promise<NewSnapshot[]> {
  if (targets.length === 0) return [];
  const all = await compareTargets(tx, org, targets);
  const compared = all.filter(isWorthIt);
  for (const each of all) if (!compared.includes(each)) await confirm(tx, org, each);
  if (compared.length === 0) return [];
  const predecessors = await predecessorsOf(tx, org, compared);
  const snapshots = compared.map((each) =>
    newSnapshot(each, {
      cause,
      now,
      predecessors: predecessors.get(each.target.standing.id) ?? new Map(),
    }),
  );
  await insertSnapshots(tx, org.id, snapshots);
  const occurrences = compared.flatMap(({ target, annotated }, at) => {
    const { id, name, state } = target.standing;
    const { index, at: moment, state: present } = snapshots[at]!;
    const environment = { id, name };
    return occurrencesOf({ environment, index, at: moment, state: present, state_before: state, annotated });
  });
  if (occurrences.length > 0) await notify(tx, org.id, occurrences);
  return snapshots;
}
