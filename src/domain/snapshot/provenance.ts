import { wireId } from "../../lib/ids.ts";
import { artifactState } from "../compliance/evaluate.ts";
import type { ArtifactStatus, AttestationStatus } from "../compliance/model.ts";
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

/** What one flow knows of a fingerprint: by the latest report of it there, and that report's trail. */
export interface FlowFact {
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
  /** The trail's own attestations, judged. */
  trail_rows: readonly AttestationStatus[] | null;
  /** What the trail says of the artifact it knows under that template name, which may be another by now. */
  artifact_row: ArtifactStatus | null;
  /** Those bound to the artifact or to the trail as a whole, as they were reported. Empty when no policy asks. */
  attestations: readonly ReportedAttestation[];
}

/** A commit as snapshots show it. */
export interface ShownCommit {
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

/**
 * What an artifact is worth on its trail, with the attestations that the trail needs. One that made way for another of
 * the same name is missing there.
 */
export function stateOnTrail({
  fingerprint,
  trail_rows,
  artifact_row,
}: Pick<FlowFact, "fingerprint" | "trail_rows" | "artifact_row">): ArtifactState {
  if (artifact_row?.artifact_fingerprint !== fingerprint) return "MISSING";
  const name = "artifact";
  return artifactState(
    { attestations_statuses: [...(trail_rows ?? [])], artifacts_statuses: new Map([[name, artifact_row]]) },
    name,
  );
}

/** The same as policies take it. */
export function knownFlow(
  fact: Pick<
    FlowFact,
    "fingerprint" | "trail_rows" | "artifact_row" | "flow_name" | "trail_name" | "tags" | "attestations"
  >,
): KnownFlow {
  const { flow_name, trail_name, tags, attestations } = fact;
  return { flow_name, trail_name, tags, artifact_status: stateOnTrail(fact), attestations };
}

/** A commit with everything in place that clients read; null when all that is known of it is its name. */
export function shownCommit(commit: ReportedCommit | null): ShownCommit | null {
  if (commit === null) return null;
  const { sha1, message, author, branch = null, timestamp = null, url = null } = commit;
  return { sha1, message: message ?? "", author: author ?? "", branch, timestamp, url };
}

/** The page of an artifact in a flow, below the organization's. */
export function artifactPage({ flow_name, artifact_id }: SnapshotFlow, fingerprint: string): string {
  return `/flows/${flow_name}/artifacts/${fingerprint}?artifact_id=${wireId(artifact_id)}`;
}

/** A flow's page, below the organization's. */
export function flowPage({ flow_name }: SnapshotFlow): string {
  return `/flows/${flow_name}`;
}
