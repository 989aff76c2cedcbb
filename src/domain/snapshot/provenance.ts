import { sha256 } from "../../lib/hash.ts";
import type { ArtifactState, KnownFlow, ReportedAttestation } from "../policy/evaluation/model.ts";
import type { DeploymentDiff } from "./deployment.ts";

/** A commit as it was reported. */
export interface ReportedCommit {
  sha1: string;
  message?: string | null;
  author?: string | null;
  branch?: string | null;
  /** Unix seconds. */
  timestamp?: number | null;
  url?: string | null;
}

/** Everything one flow knows of a fingerprint: by the latest report of it there, and that report's trail. */
export interface FlowFact {
  /** Another one whenever anything else here may be, and never one that it had before. */
  version: string;
  fingerprint: string;
  artifact_id: string;
  flow_id: string;
  flow_name: string;
  trail_id: string;
  trail_name: string;
  /** The flow's. */
  tags: Readonly<Record<string, string>>;
  template_reference_name: string;
  git_commit: string | null;
  commit_url: string | null;
  build_url: string | null;
  git_commit_info: ReportedCommit | null;
  repo_id: string | null;
  /** What it is worth on the trail, by the attestations on it and those that the trail needs. */
  compliance_state: ArtifactState;
  /** Those bound to the artifact or to the trail as a whole, as they were reported. Empty when no policy asks. */
  attestations: readonly ReportedAttestation[];
}

/** A commit as snapshots show it. */
interface ShownCommit {
  sha1: string;
  message: string;
  author: string;
  branch: string | null;
  timestamp: number | null;
  url: string | null;
}

/** One of the flows of an artifact in a snapshot, as the record keeps it: with internal ids, without links. */
export interface SnapshotFlow {
  flow_id: string;
  trail_id: string;
  artifact_id: string;
  repo_id: string | null;
  flow_name: string;
  trail_name: string;
  template_reference_name: string;
  git_commit: string | null;
  commit_url: string | null;
  git_commit_info: ShownCommit | null;
  deployment_diff: DeploymentDiff | null;
  commit_lead_time: number | null;
  artifact_compliance_in_flow: boolean;
  compliance_state: ArtifactState;
}

/** Longer texts are kept as their digest. */
export const longestFacts = 200;

/**
 * Writes what flows know of a fingerprint, in their order, as a text to compare: as short as may be, because many are
 * kept. The database writes the same (`presentFacts`).
 */
export function factsText(facts: readonly Pick<FlowFact, "version">[]): string {
  const text = facts.map(({ version }) => version).join(",");
  return text.length > longestFacts ? sha256(text).toString("hex") : text;
}

/** Takes a fact as policies know it. */
export function knownFlow(
  fact: Pick<FlowFact, "compliance_state" | "flow_name" | "trail_name" | "tags" | "attestations">,
): KnownFlow {
  const { flow_name, trail_name, tags, attestations, compliance_state: artifact_status } = fact;
  return { flow_name, trail_name, tags, artifact_status, attestations };
}

/** Completes a commit with everything that clients read; null when all that is known of it is its name. */
export function shownCommit(commit: ReportedCommit | null): ShownCommit | null {
  if (commit === null) return null;
  const { sha1, message, author, branch = null, timestamp = null, url = null } = commit;
  return { sha1, message: message ?? "", author: author ?? "", branch, timestamp, url };
}
