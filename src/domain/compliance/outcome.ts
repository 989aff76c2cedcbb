import { portions, type Steps } from "../../lib/steps.ts";
import type { TrailCompliance } from "./model.ts";

/** Names of attestations by what became of them somewhere: on the trail, or on one of its artifacts. */
export interface OutcomeNames {
  reported: string[];
  failing: string[];
  /** Asked for and not reported. */
  missing: string[];
}

/** Sorts the attestation names of a verdict by what became of them. One may stand in several lists, in each once. */
export function* outcomeNamesInSteps(compliance: TrailCompliance): Steps<OutcomeNames> {
  const isEnough = portions();
  const [reported, failing, missing] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { attestations_statuses } of [compliance, ...compliance.artifacts_statuses.values()]) {
    if (isEnough(1)) yield;
    for (const { attestation_name: name, status, is_compliant } of attestations_statuses) {
      if (isEnough(1)) yield;
      (status === "COMPLETE" ? reported : missing).add(name);
      if (is_compliant === false) failing.add(name);
    }
  }
  return { reported: [...reported], failing: [...failing], missing: [...missing] };
}
