import type { AttestationStatus, TrailCompliance } from "./model.ts";

/** Names of attestations by what became of them somewhere: on the trail, or on one of its artifacts. */
export interface OutcomeNames {
  reported: string[];
  failing: string[];
  /** Asked for and not reported. */
  missing: string[];
}

/** Sorts the attestation names of a verdict by what became of them. One may stand in several lists, in each once. */
export function outcomeNames({ attestations_statuses, artifacts_statuses }: TrailCompliance): OutcomeNames {
  const [reported, failing, missing] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const sort = ({ attestation_name: name, status, is_compliant }: AttestationStatus): void => {
    (status === "COMPLETE" ? reported : missing).add(name);
    if (is_compliant === false) failing.add(name);
  };
  attestations_statuses.forEach(sort);
  for (const artifact of artifacts_statuses.values()) artifact.attestations_statuses.forEach(sort);
  return { reported: [...reported], failing: [...failing], missing: [...missing] };
}
