import { evaluateArtifact } from "./evaluation/evaluate.ts";
import type { KnownFlow, ReasonForIncompliance } from "./evaluation/model.ts";
import type { Policy } from "./model.ts";

/** A span of snapshots in which an artifact ran. */
export interface RanArtifact {
  name: string;
  fingerprint: string;
  /** The first snapshot that shows it, and the last; null: it runs still. */
  first_index: number;
  last_index: number | null;
}

/** A snapshot as it was judged when it was made. */
export interface RecordedSnapshot {
  index: number;
  /** Unix seconds. */
  timestamp: number;
  compliant: boolean | null;
}

/** What ran in an environment, and what is known of it. */
export interface PreviewCase {
  /** In order of their indexes, without gaps. */
  snapshots: readonly RecordedSnapshot[];
  artifacts: readonly RanArtifact[];
  /** By fingerprint. */
  flows: ReadonlyMap<string, readonly KnownFlow[]>;
  allowed: ReadonlySet<string>;
}

/** A snapshot beside what the policy would have made of it. */
export interface PreviewedSnapshot extends RecordedSnapshot {
  would_be_compliant: boolean;
  /** How many of the artifacts running then would not have been compliant. */
  non_compliant_count: number;
}

/** An artifact that the policy would not have let pass, in every snapshot from the first to the last index. */
export interface PreviewedArtifact {
  name: string;
  fingerprint: string;
  first_index: number;
  last_index: number;
  reasons: Omit<ReasonForIncompliance, "policy_name">[];
}

export interface Preview {
  snapshots: PreviewedSnapshot[];
  non_compliant_artifacts: PreviewedArtifact[];
}

/** Reasons by artifact, for those that fail; each artifact is judged once, however often it ran. */
function failuresOf(policy: Policy, { artifacts, flows, allowed }: PreviewCase) {
  const version = { id: "", name: "", version: 0, policy };
  const failures = new Map<string, PreviewedArtifact["reasons"] | undefined>();
  for (const { name, fingerprint } of artifacts) {
    const key = keyOf({ name, fingerprint });
    if (failures.has(key)) continue;
    const subject = {
      name,
      fingerprint,
      allow_listed: allowed.has(fingerprint),
      flows: flows.get(fingerprint) ?? [],
    };
    const { compliant, reasons_for_incompliance } = evaluateArtifact(subject, [version]);
    const reasons = reasons_for_incompliance.map(({ rule, message }) => ({ rule, message }));
    failures.set(key, compliant === false ? reasons : undefined);
  }
  return failures;
}

function keyOf({ name, fingerprint }: Pick<RanArtifact, "name" | "fingerprint">): string {
  return `${fingerprint} ${name}`;
}

/** Spans cut to the snapshots looked at, those of one artifact that touch or overlap made one, by first index. */
function spansOf({ snapshots, artifacts }: PreviewCase): (RanArtifact & { last_index: number })[] {
  const [low, high] = [snapshots[0]?.index ?? 0, snapshots.at(-1)?.index ?? -1];
  const cut = artifacts
    .map((span) => ({
      ...span,
      first_index: Math.max(span.first_index, low),
      last_index: Math.min(span.last_index ?? high, high),
    }))
    .filter(({ first_index, last_index }) => first_index <= last_index)
    .toSorted((a, b) => a.first_index - b.first_index);
  const open = new Map<string, RanArtifact & { last_index: number }>();
  const spans: (RanArtifact & { last_index: number })[] = [];
  for (const span of cut) {
    const before = open.get(keyOf(span));
    if (before !== undefined && span.first_index <= before.last_index + 1)
      before.last_index = Math.max(before.last_index, span.last_index);
    else {
      open.set(keyOf(span), span);
      spans.push(span);
    }
  }
  return spans;
}

/** How many of the spans hold each snapshot, in the order of the snapshots. */
function countBySnapshot(low: number, length: number, spans: readonly PreviewedArtifact[]): number[] {
  const changes = Array.from({ length: length + 1 }, () => 0);
  for (const { first_index, last_index } of spans) {
    changes[first_index - low]! += 1;
    changes[last_index - low + 1]! -= 1;
  }
  let count = 0;
  return changes.slice(0, length).map((change) => (count += change));
}

/**
 * What a policy alone would have made of the past of an environment, by what is known of the artifacts now. Nothing that
 * was judged is touched.
 */
export function previewPolicy(policy: Policy, past: PreviewCase): Preview {
  const failures = failuresOf(policy, past);
  const non_compliant_artifacts = spansOf(past).flatMap((span) => {
    const reasons = failures.get(keyOf(span));
    const { name, fingerprint, first_index, last_index } = span;
    return reasons === undefined ? [] : [{ name, fingerprint, first_index, last_index, reasons }];
  });
  const { snapshots } = past;
  const counts = countBySnapshot(snapshots[0]?.index ?? 0, snapshots.length, non_compliant_artifacts);
  return {
    snapshots: snapshots.map((snapshot, at) => ({
      ...snapshot,
      would_be_compliant: counts[at] === 0,
      non_compliant_count: counts[at]!,
    })),
    non_compliant_artifacts,
  };
}
