import type { RuntimeRules } from "../../domain/snapshot/judge.ts";
import type { RunningArtifact } from "../../domain/snapshot/running.ts";
import type { VersionBrief } from "../../domain/snapshot/settle.ts";
import type { NewRhythm, Standing } from "./timeline-store.ts";

/** Why a snapshot was appended. */
export type SnapshotCause = "report" | "policy" | "allow-list" | "members";

/** What ran until now: a version in the latest snapshot. */
export interface RanVersion {
  id: number;
  name: string;
  fingerprint: string;
  /** Unix seconds, of the instances. */
  started: () => readonly number[];
}

/** What is kept of a report. */
export type KeptReport = { digest: string; seen_seq: number } & NewRhythm;

/** An environment with what runs there now, in the order of names. Its row is locked. */
export interface Target {
  standing: Standing;
  running: readonly RunningArtifact[];
  ran: readonly RanVersion[];
  /** What its members say, of a logical one. */
  members?: RuntimeRules["members"];
  /** What ran until now as a report finds it: what of it still holds is not judged again. */
  briefs?: readonly VersionBrief[];
  /** What the next report is recognised by; null when no report led here. */
  report: KeptReport | null;
}

/** What ran, from the rows of a report's environment. */
export function ranBriefly(briefs: readonly VersionBrief[]): RanVersion[] {
  return briefs.map(({ id, name, fingerprint, running }) => ({
    id,
    name,
    fingerprint,
    started: () => (JSON.parse(running) as RunningArtifact).creationTimestamp,
  }));
}

/** What ran, from what is known to run. */
export function ranAs(versions: readonly { id: number; running: RunningArtifact }[]): RanVersion[] {
  return versions.map(({ id, running: { name, fingerprint, creationTimestamp } }) => ({
    id,
    name,
    fingerprint,
    started: () => creationTimestamp,
  }));
}
