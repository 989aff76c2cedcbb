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
  const cells = [...artifacts_statuses.values()].flatMap((artifact) => artifact.attestations_statuses);
  const all = [...attestations_statuses, ...cells];
  const namesOf = (fits: (cell: AttestationStatus) => boolean): string[] => [
    ...new Set(all.filter(fits).map(({ attestation_name }) => attestation_name)),
  ];
  return {
    reported: namesOf(({ status }) => status === "COMPLETE"),
    failing: namesOf(({ is_compliant }) => is_compliant === false),
    missing: namesOf(({ status }) => status === "MISSING"),
  };
}
