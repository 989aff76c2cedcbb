import type { Tx } from "../../db/connect.ts";
import { countCompliance, isNewSnapshot } from "../../domain/snapshot/annotate.ts";
import { wantedAttestations } from "../../domain/policy/evaluation/rules.ts";
import { judgeRuntime, type RuntimeCase, type RuntimeVerdict } from "../../domain/snapshot/judge.ts";
import { occurrencesOf } from "../../domain/snapshot/occurrences.ts";
import type { RunningArtifact } from "../../domain/snapshot/running.ts";
import {
  type AnnotatedArtifact,
  compareVersions,
  planSnapshot,
  type StoredVersion,
  unknownLineage,
} from "../../domain/snapshot/versions.ts";
import type { Predecessor } from "../../domain/snapshot/flows-of.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { sha256 } from "../../lib/hash.ts";
import { wireId } from "../../lib/ids.ts";
import { allowListed } from "../allowlists/service.ts";
import type { Org } from "../environments/find-service.ts";
import { notify } from "../notifications/service.ts";
import { appliedPolicies } from "../policies/applied-service.ts";
import { getFacts } from "./facts-service.ts";
import {
  insertSnapshots,
  listPredecessors,
  listRunningVersions,
  type NewSnapshot,
  type Standing,
} from "./timeline-store.ts";

/** Why a snapshot was appended. */
export type SnapshotCause = "report" | "policy" | "allow-list" | "members";

/** An environment with what runs there now. Its row is locked. */
export interface Target {
  standing: Standing;
  running: readonly RunningArtifact[];
  /** What its members say, of a logical one. */
  members?: RuntimeCase["members"];
  /** What the next report is recognised by; null when no report led here. */
  report: NewSnapshot["report"];
}

interface Compared {
  target: Target;
  before: readonly StoredVersion[];
  verdict: RuntimeVerdict;
  annotated: AnnotatedArtifact[];
}

/** Judges and compares what runs in several environments: four statements. */
async function compareTargets(tx: Tx, org: Org, targets: readonly Target[]): Promise<Compared[]> {
  const ids = targets.map(({ standing }) => standing.id);
  const policies = await appliedPolicies(tx, org.id, ids);
  const allowed = await allowListed(tx, org.id, ids);
  const before = await listRunningVersions(tx, org.id, ids);
  const fingerprints = new Set(
    targets.flatMap(({ running }) => running.map(({ fingerprint }) => fingerprint)),
  );
  fingerprints.delete("");
  const applied = [...policies.values()].flat().map(({ policy }) => policy);
  const wanted = applied.length === 0 ? "none" : wantedAttestations(applied);
  const facts = await getFacts(tx, org.id, [...fingerprints], wanted);
  return targets.map((target) => {
    const { standing, running, members } = target;
    const verdict = judgeRuntime({
      running,
      facts,
      policies: policies.get(standing.id) ?? [],
      allowed: allowed.get(standing.id) ?? new Set(),
      ...(members === undefined ? {} : { members }),
    });
    const versions = before.get(standing.id) ?? [];
    return { target, before: versions, verdict, annotated: compareVersions(versions, verdict.artifacts) };
  });
}

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

function newSnapshot(
  { target, before, verdict, annotated }: Compared,
  made: { cause: SnapshotCause; now: Timestamp; predecessors: ReadonlyMap<string, Predecessor> },
): NewSnapshot {
  const { standing, report } = target;
  const { artifact_count, latest_at } = standing;
  const plan = planSnapshot({
    before,
    annotated,
    predecessors: made.predecessors,
    artifact_count,
    digestOf,
  });
  return {
    environment_id: standing.id,
    index: standing.snapshot_count + 1,
    // The order of snapshots is that of their times, whatever the machine's clock does.
    at: Math.max(made.now, latest_at ?? 0),
    state: verdict.state,
    type: standing.type,
    cause: made.cause,
    counts: countCompliance(annotated),
    applied_policies: verdict.applied_policies.map((policy) => ({ ...policy, id: wireId(policy.id) })),
    plan,
    report,
  };
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
  const compared = (await compareTargets(tx, org, targets)).filter(isWorthIt);
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
