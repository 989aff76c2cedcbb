import type { Steps } from "../../../lib/steps.ts";
import { policyDump } from "../print.ts";
import type {
  AppliedPolicy,
  ArtifactVerdict,
  PolicyDecision,
  PolicySubject,
  PolicyVersion,
  RuleEvaluation,
} from "./model.ts";
import { reasonsForIncompliance } from "./reasons.ts";
import { ruleEvaluator } from "./rules.ts";

/** Gives a policy's verdict: compliant unless a rule that applies somewhere is not met. */
function decide({ name, version }: PolicyVersion, rule_evaluations: RuleEvaluation[]): PolicyDecision {
  const fails = rule_evaluations.some(({ satisfied }) => satisfied === false);
  return {
    policy_name: name,
    policy_version: version,
    status: fails ? "NON-COMPLIANT" : "COMPLIANT",
    rule_evaluations,
  };
}

/** Judges artifacts by policies, one at a time; decisions come in the order of the policies. */
export type ArtifactJudge = (subject: PolicySubject) => Steps<ArtifactVerdict>;

/** Prepares policies for any number of artifacts. */
export function artifactJudge(policies: readonly PolicyVersion[]): ArtifactJudge {
  const prepared = policies.map((version) => ({ version, evaluate: ruleEvaluator(version.policy) }));
  return function* judge(subject) {
    const policy_decisions: PolicyDecision[] = [];
    for (const { version, evaluate } of prepared)
      policy_decisions.push(decide(version, yield* evaluate(subject)));
    return {
      compliant:
        policies.length === 0 ? null : policy_decisions.every(({ status }) => status === "COMPLIANT"),
      allow_listed: subject.allow_listed,
      policy_decisions,
      reasons_for_incompliance: reasonsForIncompliance(policy_decisions),
    };
  };
}

/** Describes a policy as a snapshot keeps it. */
export function appliedPolicy({ id, name, version, policy }: PolicyVersion): AppliedPolicy {
  return { id, name, version, policy_dump: policyDump(policy) };
}
