import type { Timestamp } from "../../lib/clock.ts";

/** One report of an artifact on a trail. The same fingerprint may be reported again, under any name. */
export interface ArtifactReport {
  artifact_id: string;
  template_reference_name: string;
  fingerprint: string;
  /** SHA-1 of the commit it was built from; null when the reporter did not say. */
  git_commit: string | null;
  reported_at: Timestamp;
}

/** One attestation on a trail: evidence, or the override of a verdict. */
export interface AttestationReport {
  attestation_id: string;
  name: string;
  /** As reads show it: `junit`, `custom:coverage`, `system:decision`. An override has the type it overrides. */
  type: string;
  is_compliant: boolean;
  is_override: boolean;
  /** Bound to the artifact with this fingerprint. */
  artifact_fingerprint: string | null;
  /** Template names of artifacts it is meant for; without a fingerprint it waits for those, built from `git_commit`. */
  target_artifacts: readonly string[] | null;
  git_commit: string | null;
  reported_at: Timestamp;
}

/** Everything reported on one trail. Reports of a kind are in the order in which they were made. */
export interface TrailReports {
  artifacts: readonly ArtifactReport[];
  attestations: readonly AttestationReport[];
}

export const complianceStates = ["COMPLIANT", "NON-COMPLIANT", "INCOMPLETE"] as const;
export type ComplianceState = (typeof complianceStates)[number];

/** What became of one attestation name in one place: the trail, or an artifact. */
export interface AttestationStatus {
  attestation_name: string;
  /** As reported; the template's while it is missing. */
  attestation_type: string;
  attestation_id: string | null;
  /** The report whose verdict an override replaced. */
  overridden_attestation_id: string | null;
  status: "COMPLETE" | "MISSING";
  is_compliant: boolean | null;
  /** Not in the template. */
  unexpected: boolean;
}

/** What became of one artifact name. */
export interface ArtifactStatus {
  artifact_fingerprint: string | null;
  artifact_id: string | null;
  status: ComplianceState | "MISSING";
  is_compliant: boolean | null;
  attestations_statuses: AttestationStatus[];
  unexpected: boolean;
}

/** The verdict on a trail, with what it rests on. */
export interface TrailCompliance {
  status: ComplianceState;
  is_compliant: boolean;
  /** What its own attestations come to, without those of its artifacts. */
  own_state: ComplianceState;
  attestations_statuses: AttestationStatus[];
  /**
   * By template name: expected ones in the template's order, then others in the order of their first report. A map,
   * because objects reorder names that look like numbers.
   */
  artifacts_statuses: Map<string, ArtifactStatus>;
}

/** What is kept of the verdict on a trail that an artifact was reported on. */
export interface KeptVerdict {
  /** The artifact's. */
  fingerprint: string;
  /** The `own_state` of the trail. */
  trail_state: ComplianceState | null;
  /** What the trail says of the artifact that has the template name, which may be another by now. */
  artifact_row: Pick<ArtifactStatus, "artifact_fingerprint" | "status"> | null;
}
