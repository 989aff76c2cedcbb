import type { ArtifactStatus, AttestationStatus, KeptVerdict } from "../compliance/model.ts";
import type { ArtifactState } from "../policy/evaluation/model.ts";

/** The verdict on an artifact in a flow, with everything it rests on. */
interface FlowVerdict {
  status: ArtifactState;
  /** Of the trail, then of the artifact itself. */
  attestations_statuses: readonly AttestationStatus[];
  /** Not in the trail's template. */
  unexpected: boolean;
}

/** The facts about an artifact in a flow that asserts need. */
export interface JudgedFact extends KeptVerdict {
  compliance_state: ArtifactState;
  /** The trail's own attestations, judged. */
  trail_rows: readonly AttestationStatus[] | null;
  artifact_row: Pick<
    ArtifactStatus,
    "artifact_fingerprint" | "status" | "attestations_statuses" | "unexpected"
  > | null;
}

/**
 * Finds what an artifact is worth by the template of its latest trail in a flow. Of one that another of the same name
 * has replaced there, only the trail's attestations are told.
 */
export function verdictInFlow({
  fingerprint,
  compliance_state: status,
  trail_rows,
  artifact_row,
}: JudgedFact): FlowVerdict {
  const own = artifact_row?.artifact_fingerprint === fingerprint ? artifact_row : undefined;
  const attestations_statuses = [...(trail_rows ?? []), ...(own?.attestations_statuses ?? [])];
  return { status, attestations_statuses, unexpected: artifact_row?.unexpected ?? false };
}
