import { compareText } from "../../lib/text.ts";
import type { RunningArtifact } from "./running.ts";

/** A running artifact with what a diff shows of it. */
export interface DiffableArtifact extends RunningArtifact {
  /** The first flow that knows it. */
  flow_name: string | null;
  commit_url: string | null;
}

export interface DiffableSnapshot {
  /** `env#N`. */
  snapshot_id: string;
  /** What runs; what has exited left out. */
  artifacts: readonly DiffableArtifact[];
}

/** One artifact in a diff. Keys without a value are left out. */
export interface DiffArtifact {
  fingerprint: string;
  name: string;
  /** Unix seconds, whole ones. */
  most_recent_timestamp: number;
  /** Empty without provenance. */
  flow: string;
  commit_url?: string;
  instance_count?: number;
  s1_instance_count?: number;
  s2_instance_count?: number;
  /** Names, K8S only. */
  pods?: string[];
}

export interface SnapshotDiff {
  /** Only in the first. */
  snappish1: { snapshot_id: string; artifacts: DiffArtifact[] };
  /** Only in the second. */
  snappish2: { snapshot_id: string; artifacts: DiffArtifact[] };
  /** In both, with different numbers of instances. */
  changed: { artifacts: DiffArtifact[] };
  /** In both, with the same number. */
  "not-changed": { artifacts: DiffArtifact[] };
}

/** One fingerprint on one side, under whatever names. */
interface Row {
  shown: DiffArtifact;
  count: number;
}

function newest({ creationTimestamp }: RunningArtifact): number {
  return creationTimestamp.reduce((latest, each) => Math.max(latest, each), creationTimestamp[0] ?? 0);
}

function byAgeAndName(left: DiffableArtifact, right: DiffableArtifact): number {
  return newest(right) - newest(left) || compareText(left.name, right.name);
}

function toRow(artifacts: readonly DiffableArtifact[]): Row {
  const [shown, ...others] = artifacts.toSorted(byAgeAndName);
  const first = shown!;
  const pods = [first, ...others].flatMap((artifact) => Object.keys(artifact.pods ?? {}));
  return {
    shown: {
      fingerprint: first.fingerprint,
      name: first.name,
      most_recent_timestamp: newest(first),
      flow: first.flow_name ?? "",
      ...(first.commit_url === null ? {} : { commit_url: first.commit_url }),
      ...(pods.length === 0 ? {} : { pods: [...new Set(pods)].toSorted(compareText) }),
    },
    count: artifacts.reduce((count, { creationTimestamp }) => count + creationTimestamp.length, 0),
  };
}

/** Without a digest the name is all there is to tell artifacts apart. */
function rowsOf({ artifacts }: DiffableSnapshot): Map<string, Row> {
  const groups = new Map<string, DiffableArtifact[]>();
  for (const artifact of artifacts) {
    const key = artifact.fingerprint === "" ? ` ${artifact.name}` : artifact.fingerprint;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [artifact]);
    else group.push(artifact);
  }
  return new Map([...groups].map(([key, group]) => [key, toRow(group)]));
}

function ordered(artifacts: readonly DiffArtifact[]): DiffArtifact[] {
  return artifacts.toSorted(
    (left, right) => compareText(left.fingerprint, right.fingerprint) || compareText(left.name, right.name),
  );
}

function onlyIn(rows: ReadonlyMap<string, Row>, others: ReadonlyMap<string, Row>): DiffArtifact[] {
  const only = [...rows].filter(([key]) => !others.has(key));
  return ordered(only.map(([, { shown, count }]) => ({ ...shown, instance_count: count })));
}

/**
 * What two snapshots, of one environment or of two, have in common and what not. An artifact is told by its fingerprint,
 * because environments may call it differently; what is in both is shown as in the second.
 */
export function diffSnapshots(first: DiffableSnapshot, second: DiffableSnapshot): SnapshotDiff {
  const [before, after] = [rowsOf(first), rowsOf(second)];
  const changed: DiffArtifact[] = [];
  const same: DiffArtifact[] = [];
  for (const [key, { shown, count }] of after) {
    const was = before.get(key)?.count;
    if (was === count) same.push({ ...shown, instance_count: count });
    else if (was !== undefined) changed.push({ ...shown, s1_instance_count: was, s2_instance_count: count });
  }
  return {
    snappish1: { snapshot_id: first.snapshot_id, artifacts: onlyIn(before, after) },
    snappish2: { snapshot_id: second.snapshot_id, artifacts: onlyIn(after, before) },
    changed: { artifacts: ordered(changed) },
    "not-changed": { artifacts: ordered(same) },
  };
}
