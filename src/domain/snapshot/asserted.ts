import type { AttestationStatus } from "../compliance/model.ts";
import type { ArtifactState } from "../policy/evaluation/model.ts";
import type { FlowFact } from "./provenance.ts";
import { stateOnTrail } from "./provenance.ts";

/** What an artifact is worth in a flow, with everything that rests on. */
export interface FlowVerdict {
  status: ArtifactState;
  /** Of the trail, then of the artifact itself. */
  attestations_statuses: readonly AttestationStatus[];
  /** Not in the trail's template. */
  unexpected: boolean;
}

/**
 * What an artifact is worth by the template of its latest trail in a flow. One that made way there for another of the
 * same name is missing, and nothing is said of attestations.
 */
export function verdictInFlow(
  fact: Pick<FlowFact, "fingerprint" | "trail_rows" | "artifact_row">,
): FlowVerdict {
  const status = stateOnTrail(fact);
  const { trail_rows, artifact_row } = fact;
  if (status === "MISSING" || artifact_row === null)
    return { status: "MISSING", attestations_statuses: [], unexpected: false };
  const attestations_statuses = [...(trail_rows ?? []), ...artifact_row.attestations_statuses];
  return { status, attestations_statuses, unexpected: artifact_row.unexpected };
}
