import type { RuntimeRules } from "../../../../domain/snapshot/judge.ts";
import type { VersionSummary } from "../../../../domain/snapshot/judging-plan.ts";
import type { RunningArtifact } from "../../../../domain/snapshot/running.ts";
import type { EnvironmentRecord, RememberedReport } from "./environment-store.ts";

/** Why a snapshot was appended. */
export type SnapshotCause = "report" | "policy" | "allow-list" | "members";

/** A version in the latest snapshot: what ran until now. */
export interface EarlierVersion {
  id: number;
  name: string;
  fingerprint: string;
  /** Unix seconds, of the instances. */
  started: () => readonly number[];
}

/** An environment with what runs there now, in the order of names. Its row is locked. */
export interface Target {
  environment: EnvironmentRecord;
  running: readonly RunningArtifact[];
  earlier: readonly EarlierVersion[];
  /** What its members say, of a logical one. */
  members?: RuntimeRules["members"];
  /** What ran until now as a report finds it: what of it still holds is not judged again. */
  summaries?: readonly VersionSummary[];
  /** What the next report is recognised by; null when no report led here. */
  report: RememberedReport | null;
}

/** Takes summaries of versions for what ran until now. */
export function earlierFromSummaries(summaries: readonly VersionSummary[]): EarlierVersion[] {
  return summaries.map(({ id, name, fingerprint, running }) => ({
    id,
    name,
    fingerprint,
    started: () => (JSON.parse(running) as RunningArtifact).creationTimestamp,
  }));
}

/** Takes what was read of versions without where they ran for what ran until now. */
export function earlierFromRows(
  rows: readonly { id: number; name: string; fingerprint: string; started: readonly number[] }[],
): EarlierVersion[] {
  return rows.map(({ id, name, fingerprint, started }) => ({
    id,
    name,
    fingerprint,
    started: () => started,
  }));
}

/** Takes versions of the latest snapshot for what ran until now. */
export function earlierFromVersions(
  versions: readonly { id: number; running: RunningArtifact }[],
): EarlierVersion[] {
  return versions.map(({ id, running: { name, fingerprint, creationTimestamp } }) => ({
    id,
    name,
    fingerprint,
    started: () => creationTimestamp,
  }));
}
