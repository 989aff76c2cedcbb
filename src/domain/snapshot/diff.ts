import { collected, sorted, type Steps } from "../../lib/steps.ts";
import { compareText } from "../../lib/text.ts";

/** A running artifact, as far as a diff needs it. */
export interface DiffableArtifact {
  name: string;
  /** Empty when the digest is not known. */
  fingerprint: string;
  /** One for each instance, Unix seconds. */
  creationTimestamp: readonly number[];
  /** Names; empty outside K8S. */
  pods: readonly string[];
  /** The first flow that knows it. */
  flow_name: string | null;
  commit_url: string | null;
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
export interface Group<A = DiffableArtifact> {
  /** The one that is shown. */
  first: A;
  /** Instances. */
  count: number;
  pods: Set<string>;
}

function newest({ creationTimestamp }: DiffableArtifact): number {
  return creationTimestamp.reduce((latest, each) => Math.max(latest, each), creationTimestamp[0] ?? 0);
}

function byAgeAndName(left: DiffableArtifact, right: DiffableArtifact): number {
  return newest(right) - newest(left) || compareText(left.name, right.name);
}

/** One of the two snapshots of a diff, gathered bit by bit; what has exited is left out. */
export class DiffSide<A extends DiffableArtifact = DiffableArtifact> {
  /** `env#N`. */
  readonly snapshot_id: string;
  readonly #groups = new Map<string, Group<A>>();

  constructor(snapshot_id: string) {
    this.snapshot_id = snapshot_id;
  }

  add(artifact: A): void {
    // Without a digest the name is all there is to tell artifacts apart.
    const key = artifact.fingerprint === "" ? ` ${artifact.name}` : artifact.fingerprint;
    const group = this.#groups.get(key) ?? { first: artifact, count: 0, pods: new Set() };
    this.#groups.set(key, group);
    if (byAgeAndName(artifact, group.first) < 0) group.first = artifact;
    group.count += artifact.creationTimestamp.length;
    for (const pod of artifact.pods) group.pods.add(pod);
  }

  get groups(): ReadonlyMap<string, Group<A>> {
    return this.#groups;
  }
}

/** Shows a fingerprint, without its number of instances. */
export function showGroup({ first, pods }: Group): DiffArtifact {
  return {
    fingerprint: first.fingerprint,
    name: first.name,
    most_recent_timestamp: newest(first),
    flow: first.flow_name ?? "",
    ...(first.commit_url === null ? {} : { commit_url: first.commit_url }),
    ...(pods.size === 0 ? {} : { pods: [...pods].toSorted(compareText) }),
  };
}

/** Compares artifacts of a diff by fingerprint, then name. */
export function byFingerprint(left: DiffArtifact, right: DiffArtifact): number {
  return compareText(left.fingerprint, right.fingerprint) || compareText(left.name, right.name);
}

function* onlyIn({ groups }: DiffSide, others: DiffSide): Steps<DiffArtifact[]> {
  const only = yield* collected(groups, ([key, group]) =>
    others.groups.has(key) ? undefined : { ...showGroup(group), instance_count: group.count },
  );
  return yield* sorted(only, byFingerprint);
}

function* inBoth(first: DiffSide, second: DiffSide, isSame: boolean): Steps<DiffArtifact[]> {
  const both = yield* collected(second.groups, ([key, group]) => {
    const was = first.groups.get(key)?.count;
    const { count } = group;
    if (was === undefined || (was === count) !== isSame) return undefined;
    const counts = isSame ? { instance_count: count } : { s1_instance_count: was, s2_instance_count: count };
    return { ...showGroup(group), ...counts };
  });
  return yield* sorted(both, byFingerprint);
}

/**
 * Compares two snapshots, of one environment or of two, with the parts in the order in which they are shown. An artifact is
 * told by its fingerprint, because environments may call it differently; what is in both is shown as in the second.
 */
export function* snapshotDiff(first: DiffSide, second: DiffSide): Steps<SnapshotDiff> {
  return {
    snappish1: { snapshot_id: first.snapshot_id, artifacts: yield* onlyIn(first, second) },
    snappish2: { snapshot_id: second.snapshot_id, artifacts: yield* onlyIn(second, first) },
    changed: { artifacts: yield* inBoth(first, second, false) },
    "not-changed": { artifacts: yield* inBoth(first, second, true) },
  };
}
