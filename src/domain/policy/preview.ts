import { compareText } from "../../lib/text.ts";
import { sorted, type Steps } from "../../lib/steps.ts";
import { zip } from "../../lib/zip.ts";
import { type ArtifactJudge, artifactJudge } from "./evaluation/evaluate.ts";
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

/** The past of an environment: what ran there, and what is known of it now. */
export interface PreviewCase {
  /** In order of their indexes, without gaps. */
  snapshots: readonly RecordedSnapshot[];
  artifacts: readonly RanArtifact[];
  /** By fingerprint. */
  flows: ReadonlyMap<string, readonly KnownFlow[]>;
  allowed: ReadonlySet<string>;
}

/** A snapshot beside what the policy would have made of it. */
interface PreviewedSnapshot extends RecordedSnapshot {
  would_be_compliant: boolean;
  /** How many of the artifacts running then would not have been compliant. */
  non_compliant_count: number;
}

/** From one snapshot to another, both included. */
interface SnapshotSpan {
  first_index: number;
  last_index: number;
}

/** An artifact that the policy would not have let pass. */
interface PreviewedArtifact {
  name: string;
  fingerprint: string;
  reasons: Omit<ReasonForIncompliance, "policy_name">[];
  /** Where it ran, in order. */
  snapshots: SnapshotSpan[];
}

export interface Preview {
  snapshots: PreviewedSnapshot[];
  non_compliant_artifacts: PreviewedArtifact[];
}

/** Lists why an artifact would not have been compliant; undefined when it would have been. */
function* reasonsFor(
  judge: ArtifactJudge,
  artifact: RanArtifact,
  { flows, allowed }: PreviewCase,
): Steps<PreviewedArtifact["reasons"] | undefined> {
  const { name, fingerprint } = artifact;
  const known = flows.get(fingerprint) ?? [];
  const subject = { name, fingerprint, allow_listed: allowed.has(fingerprint), flows: known };
  const verdict = yield* judge(subject);
  if (verdict.compliant !== false) return undefined;
  return verdict.reasons_for_incompliance.map(({ rule, message }) => ({ rule, message }));
}

/** Sorts spans and joins those that touch or overlap. */
function joined(spans: readonly SnapshotSpan[]): SnapshotSpan[] {
  const result: SnapshotSpan[] = [];
  for (const span of spans.toSorted((a, b) => a.first_index - b.first_index)) {
    const before = result.at(-1);
    if (before !== undefined && span.first_index <= before.last_index + 1)
      before.last_index = Math.max(before.last_index, span.last_index);
    else result.push({ ...span });
  }
  return result;
}

/** Lists every artifact once, with the snapshots of the past in which it ran. */
function ranIn({ snapshots, artifacts }: PreviewCase): { artifact: RanArtifact; spans: SnapshotSpan[] }[] {
  const [low, high] = [snapshots[0]?.index ?? 0, snapshots.at(-1)?.index ?? -1];
  const ran = new Map<string, { artifact: RanArtifact; spans: SnapshotSpan[] }>();
  for (const artifact of artifacts) {
    const first_index = Math.max(artifact.first_index, low);
    const last_index = Math.min(artifact.last_index ?? high, high);
    if (first_index > last_index) continue;
    const key = `${artifact.fingerprint} ${artifact.name}`;
    const known = ran.get(key) ?? { artifact, spans: [] };
    known.spans.push({ first_index, last_index });
    ran.set(key, known);
  }
  return [...ran.values()].map(({ artifact, spans }) => ({ artifact, spans: joined(spans) }));
}

/** Counts, for each snapshot in order, the spans that it is in. */
function countBySnapshot(snapshots: readonly RecordedSnapshot[], spans: readonly SnapshotSpan[]): number[] {
  const low = snapshots[0]?.index ?? 0;
  const changes = Array.from({ length: snapshots.length + 1 }, () => 0);
  const change = (index: number, by: number): void => {
    changes[index - low] = (changes[index - low] ?? 0) + by;
  };
  for (const { first_index, last_index } of spans) {
    change(first_index, 1);
    change(last_index + 1, -1);
  }
  let count = 0;
  return snapshots.map((_, at) => (count += changes[at] ?? 0));
}

/**
 * Judges the past of an environment by one policy alone, from what is known of the artifacts now. Each artifact is judged
 * once, however often it ran. Verdicts that were recorded stay as they are.
 */
export function* previewPolicy(policy: Policy, past: PreviewCase): Steps<Preview> {
  const judge = artifactJudge([{ id: "", name: "", version: 0, policy }]);
  const found: PreviewedArtifact[] = [];
  for (const { artifact, spans } of ranIn(past)) {
    const reasons = yield* reasonsFor(judge, artifact, past);
    const { name, fingerprint } = artifact;
    if (reasons !== undefined) found.push({ name, fingerprint, reasons, snapshots: spans });
    yield;
  }
  const non_compliant_artifacts = yield* sorted(
    found,
    (a, b) => compareText(a.name, b.name) || compareText(a.fingerprint, b.fingerprint),
  );
  const counts = countBySnapshot(
    past.snapshots,
    non_compliant_artifacts.flatMap(({ snapshots }) => snapshots),
  );
  return {
    snapshots: zip(past.snapshots, counts).map(([snapshot, count]) => ({
      ...snapshot,
      would_be_compliant: count === 0,
      non_compliant_count: count,
    })),
    non_compliant_artifacts,
  };
}
