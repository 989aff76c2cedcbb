import type { TimelineSnapshot } from "./timeline.ts";
import { type Verdict, verdictOfFlag } from "./verdict.ts";

/** A snapshot with the verdict it had, and the one a policy would have given it. */
export interface PreviewedSnapshot {
  index: number;
  /** Unix seconds. */
  timestamp: number;
  compliant: boolean | null;
  would_be_compliant: boolean;
}

/** Lays snapshots out for two strips: with the verdicts there were, and with those there would have been. */
export function previewStrips(snapshots: readonly PreviewedSnapshot[]): {
  was: TimelineSnapshot[];
  wouldBe: TimelineSnapshot[];
} {
  const strip = (verdictOf: (snapshot: PreviewedSnapshot) => Verdict): TimelineSnapshot[] =>
    snapshots.map((snapshot, place) => ({
      index: snapshot.index,
      from: snapshot.timestamp,
      to: snapshots[place + 1]?.timestamp ?? 0,
      verdict: verdictOf(snapshot),
    }));
  return {
    was: strip(({ compliant }) => verdictOfFlag(compliant)),
    wouldBe: strip(({ would_be_compliant }) => verdictOfFlag(would_be_compliant)),
  };
}

/** Counts how many snapshots would have another verdict, each way. */
export function flips(snapshots: readonly PreviewedSnapshot[]): { stricter: number; milder: number } {
  return {
    stricter: snapshots.filter((one) => one.compliant === true && !one.would_be_compliant).length,
    milder: snapshots.filter((one) => one.compliant === false && one.would_be_compliant).length,
  };
}

/** Says whether something ran in a snapshot. @param spans ranges of snapshots, both ends included. */
export function ranIn(
  spans: readonly { first_index: number; last_index: number }[],
  index: number | undefined,
): boolean {
  return (
    index === undefined ||
    spans.some(({ first_index, last_index }) => first_index <= index && index <= last_index)
  );
}
