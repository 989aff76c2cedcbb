import type { Timestamp } from "../../lib/clock.ts";
import { compareUrl } from "./compare-url.ts";

/** An artifact as a flow knows it. */
export interface BuiltArtifact {
  flow_name: string;
  trail_name: string | null;
  /** What the flow's template calls it. */
  template_reference_name: string | null;
  git_commit: string | null;
  commit_url: string | null;
  /** What it is worth in the flow: `COMPLIANT`, `NON-COMPLIANT`, `INCOMPLETE`. */
  compliance_state: string | null;
}

/** An artifact that has run in an environment. */
export interface DeployedArtifact {
  name: string;
  fingerprint: string;
  /** Whether it still runs there. */
  running: boolean;
  flows: readonly BuiltArtifact[];
}

/** The difference between an artifact and what ran before it (contract of snapshots). */
export interface DeploymentDiff {
  diff_url: string | null;
  previous_git_commit: string | null;
  previous_fingerprint: string;
  previous_artifact_name: string;
  previous_artifact_compliance_state: string | null;
  previous_running: boolean;
  previous_git_commit_url: string | null;
  previous_trail_name: string | null;
  previous_template_reference_name: string | null;
}

function isSameThing(left: BuiltArtifact, right: BuiltArtifact): boolean {
  const { flow_name, template_reference_name } = left;
  return flow_name === right.flow_name && template_reference_name === right.template_reference_name;
}

/**
 * Compares a flow's artifact with the one it followed in an environment: the latest before it, with another
 * fingerprint, that the same flow made under the same name. Null when there is none.
 * @param predecessors what ran before, the latest first.
 */
export function deploymentDiff(
  fingerprint: string,
  built: BuiltArtifact,
  predecessors: readonly DeployedArtifact[],
): DeploymentDiff | null {
  for (const artifact of predecessors) {
    const previous = artifact.flows.find((flow) => isSameThing(flow, built));
    if (previous === undefined || artifact.fingerprint === fingerprint) continue;
    return {
      diff_url: compareUrl(previous.commit_url, built.commit_url),
      previous_git_commit: previous.git_commit,
      previous_fingerprint: artifact.fingerprint,
      previous_artifact_name: artifact.name,
      previous_artifact_compliance_state: previous.compliance_state,
      previous_running: artifact.running,
      previous_git_commit_url: previous.commit_url,
      previous_trail_name: previous.trail_name,
      previous_template_reference_name: previous.template_reference_name,
    };
  }
  return null;
}

/**
 * Measures the seconds from a commit to the first instance that runs it; negative when the commit is younger. Null when
 * there is no commit, or when no reporter knew a start: they say 0 or less then.
 * @param creationTimestamps of the instances, Unix seconds.
 */
export function commitLeadTime(
  creationTimestamps: readonly number[],
  committedAt: Timestamp | null,
): number | null {
  const known = creationTimestamps.filter((timestamp) => timestamp > 0);
  if (committedAt === null || known.length === 0) return null;
  const started = known.reduce((earliest, each) => Math.min(earliest, each));
  // To the microsecond: the difference of two floats has more digits than either is worth.
  return Math.round((started - committedAt) * 1_000_000) / 1_000_000;
}
