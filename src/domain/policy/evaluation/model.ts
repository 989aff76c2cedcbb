import type { Policy } from "../model.ts";
import type { AttestationDefinition, BooleanDefinition, PolicyDump } from "../print.ts";

/** Compliance of an artifact on a trail, by the trail's template. */
export type ArtifactState = "COMPLIANT" | "NON-COMPLIANT" | "INCOMPLETE" | "MISSING";

/** An attestation that counts for an artifact: bound to the artifact itself, or to its trail as a whole. */
export interface ReportedAttestation {
  name: string;
  /** As reads show it: `junit`, `custom:coverage`, `decision` or `system:decision`. */
  type: string;
  /** After any override. */
  is_compliant: boolean;
  /** The control a decision is about. */
  control?: string | null;
}

/** A flow that knows an artifact, by the artifact's latest trail there. */
export interface KnownFlow {
  flow_name: string;
  trail_name: string | null;
  tags: Readonly<Record<string, string>>;
  artifact_status: ArtifactState | null;
  /** In the order of their reports: where several fit a rule, the last one counts. */
  attestations: readonly ReportedAttestation[];
}

/** An artifact to judge. */
export interface PolicySubject {
  name: string;
  fingerprint: string;
  /** Trusted in the environment whatever is known about it. */
  allow_listed: boolean;
  flows: readonly KnownFlow[];
}

/** A version of a policy that is to be applied. */
export interface PolicyVersion {
  id: string;
  name: string;
  version: number;
  policy: Policy;
}

/** Why a rule is met, or not, for one flow. */
export type ResolutionType =
  | "rule_satisfied"
  | "rule_not_applicable"
  | "missing_attestation"
  | "non_compliant_attestation"
  | "non_compliant_in_trail"
  | "missing_provenance"
  | "no_provenance";

export interface Resolution {
  type: ResolutionType;
  context: {
    /** Null when no flow knows the artifact. */
    flow_name: string | null;
    trail_name: string | null;
    /** Null for all rules but trail-compliance. */
    artifact_status: ArtifactState | null;
    /** Only where the rule names a control. */
    for_control?: string;
  };
}

/** A rule as it is shown beside its verdict. */
export type ShownRule =
  | { type: "provenance" | "trail-compliance"; definition: BooleanDefinition }
  | { type: "attestation"; definition: AttestationDefinition };

export interface RuleEvaluation {
  rule: ShownRule;
  /** Null when ignored. */
  satisfied: boolean | null;
  /** Applicable in no flow. */
  ignored: boolean;
  /** One for each flow, in the order of the flows; one without a flow when there is none. */
  resolutions: Resolution[];
}

type PolicyStatus = "COMPLIANT" | "NON-COMPLIANT";

/** The verdict of one policy on one artifact. */
export interface PolicyDecision {
  policy_name: string;
  policy_version: number;
  status: PolicyStatus;
  /** Provenance, trail-compliance, then the attestation rules in the policy's order. */
  rule_evaluations: RuleEvaluation[];
}

/** A rule that an artifact does not meet, explained to people. */
export interface ReasonForIncompliance {
  policy_name: string;
  /** The rule's type. */
  rule: ShownRule["type"];
  message: string;
}

export interface ArtifactVerdict {
  /** Null without any policy. */
  compliant: boolean | null;
  allow_listed: boolean;
  policy_decisions: PolicyDecision[];
  reasons_for_incompliance: ReasonForIncompliance[];
}

/** A policy as a snapshot keeps it. */
export interface AppliedPolicy {
  id: string;
  name: string;
  version: number;
  policy_dump: PolicyDump;
}
