import { type Remedy, remediesFor } from "../policy/evaluation/explain.ts";
import type {
  ArtifactState,
  PolicyDecision,
  ReportedAttestation,
  Resolution,
  ResolutionType,
  RuleEvaluation,
  ShownRule,
} from "../policy/evaluation/model.ts";
import { explainResolution } from "../policy/evaluation/reasons.ts";
import { fits } from "../policy/evaluation/rules.ts";
import { anything } from "../policy/model.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { groupBy } from "../../lib/group.ts";

/** An attestation that may decide on a rule. */
export interface Evidence extends ReportedAttestation {
  attestation_id: string;
  is_override: boolean;
  reported_at: Timestamp;
}

/** An artifact as a snapshot recorded it, with what was reported for it. */
interface RecordedArtifact {
  fingerprint: string;
  allow_listed: boolean;
  policy_decisions: readonly PolicyDecision[];
  /** In the order of its flows: the attestations that count for it on its trail there, in the order of their reports. */
  evidence: readonly (readonly Evidence[])[];
}

type RequirementOutcome = "met" | "missing" | "failed" | "not_applicable";

/** One rule of one policy, for an artifact in one flow. */
export interface RuleRequirement {
  policy_name: string;
  policy_version: number;
  /** Place of the rule among the policy's. */
  rule_index: number;
  rule: ShownRule;
  flow_name: string | null;
  trail_name: string | null;
  artifact_status: ArtifactState | null;
  outcome: RequirementOutcome;
  reason: string;
  /** The one that decided. */
  attestation: Evidence | null;
  /** The latest that fits and came too late for the snapshot; null also for what was met without it. */
  reported_since: Evidence | null;
}

const outcomes: Record<ResolutionType, RequirementOutcome> = {
  rule_satisfied: "met",
  rule_not_applicable: "not_applicable",
  missing_attestation: "missing",
  missing_provenance: "missing",
  no_provenance: "missing",
  non_compliant_attestation: "failed",
  non_compliant_in_trail: "failed",
};

/** The attestations of one flow, to be looked up by the names that rules ask for. */
interface FlowEvidence {
  all: readonly Evidence[];
  byName: ReadonlyMap<string, readonly Evidence[]>;
}

const nothing: FlowEvidence = { all: [], byName: new Map() };

const none = { attestation: null, reported_since: null };

function deciding(
  { rule }: RuleEvaluation,
  { type }: Resolution,
  { all, byName }: FlowEvidence,
  at: Timestamp,
): Pick<RuleRequirement, "attestation" | "reported_since"> {
  if (rule.type !== "attestation" || type === "rule_not_applicable") return none;
  const { definition } = rule;
  const candidates = definition.name === anything ? all : (byName.get(definition.name) ?? []);
  const last = candidates.findLast((one) => fits(definition, one)) ?? null;
  const isLater = last !== null && last.reported_at > at;
  const attestation = isLater
    ? candidates.findLast((one) => one.reported_at <= at && fits(definition, one))
    : last;
  return {
    attestation: type === "missing_attestation" ? null : (attestation ?? null),
    reported_since: isLater && outcomes[type] !== "met" ? last : null,
  };
}

function requirementsOf(artifact: RecordedArtifact, at: Timestamp): RuleRequirement[] {
  const { allow_listed } = artifact;
  const evidence = artifact.evidence.map((all) => ({ all, byName: groupBy(all, ({ name }) => name) }));
  return artifact.policy_decisions.flatMap(({ policy_name, policy_version, rule_evaluations }) =>
    rule_evaluations.flatMap((evaluation, rule_index) =>
      evaluation.resolutions.map((resolution, flow) => {
        const { flow_name, trail_name, artifact_status } = resolution.context;
        const decided = deciding(evaluation, resolution, evidence[flow] ?? nothing, at);
        return {
          policy_name,
          policy_version,
          rule_index,
          rule: evaluation.rule,
          flow_name,
          trail_name,
          artifact_status,
          outcome: outcomes[resolution.type],
          reason: explainResolution(evaluation, resolution, allow_listed),
          attestation: decided.attestation,
          reported_since: decided.reported_since,
        };
      }),
    ),
  );
}

/** Explains the verdict on an artifact in a snapshot, with the fewest reports that would have made it comply. */
export function explainRecorded(
  artifact: RecordedArtifact,
  at: Timestamp,
): { requirements: RuleRequirement[]; remedies: Remedy[] } {
  return {
    requirements: requirementsOf(artifact, at),
    remedies: remediesFor(artifact.fingerprint, artifact.policy_decisions),
  };
}

/** Words for the verdict on an environment or an artifact. */
type RuntimeStatus = "COMPLIANT" | "NON-COMPLIANT" | "UNKNOWN";

/** Says in the words of the API what a verdict on an environment or an artifact is; null is one that nobody knows. */
export function runtimeStatus(compliant: boolean | null): RuntimeStatus {
  if (compliant === null) return "UNKNOWN";
  return compliant ? "COMPLIANT" : "NON-COMPLIANT";
}

/** The numbers that a verdict on an environment rests on. */
interface EnvironmentCase {
  compliant: boolean | null;
  policies: number;
  /** How many run, and how many of them do not comply. */
  artifacts: number;
  failing: number;
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}

/** Summarizes an environment's verdict in one sentence, without a full stop. */
export function summarizeEnvironment({ compliant, policies, artifacts, failing }: EnvironmentCase): string {
  if (compliant === null)
    return policies === 0
      ? "No policy is attached, so nothing is judged"
      : "It is not known of all members whether they comply";
  if (compliant) return artifacts === 0 ? "Nothing runs here" : "Everything that runs here complies";
  if (failing === 0) return "A member does not comply";
  return `${failing} of ${count(artifacts, "artifact")} ${failing === 1 ? "does" : "do"} not comply`;
}

/** Summarizes an artifact's verdict in one sentence, without a full stop. */
export function summarizeArtifact(
  compliant: boolean | null,
  artifact: Pick<RecordedArtifact, "allow_listed" | "policy_decisions">,
): string {
  const decisions = artifact.policy_decisions;
  const failing = decisions.filter(({ status }) => status === "NON-COMPLIANT").length;
  if (failing > 0)
    return `It does not meet ${failing} of ${decisions.length === 1 ? "1 policy" : `${decisions.length} policies`}`;
  if (compliant === false) return "It does not comply in a member";
  if (compliant === null) return "No policy says anything about it";
  if (artifact.allow_listed) return "It is on the allow-list, so no rule applies";
  return "It meets every policy";
}
