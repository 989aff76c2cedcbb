import { policyDump } from "../print.ts";
import type {
  ArtifactVerdict,
  PolicyDecision,
  PolicySubject,
  PolicyVersion,
  RuleEvaluation,
  SnapshotVerdict,
} from "./model.ts";
import { reasonsForIncompliance } from "./reasons.ts";
import { ruleEvaluator, type RuleEvaluator } from "./rules.ts";

/** A policy's verdict: compliant unless a rule that applies somewhere is not met. */
function decide({ name, version }: PolicyVersion, rule_evaluations: RuleEvaluation[]): PolicyDecision {
  const fails = rule_evaluations.some(({ satisfied }) => satisfied === false);
  return {
    policy_name: name,
    policy_version: version,
    status: fails ? "NON-COMPLIANT" : "COMPLIANT",
    rule_evaluations,
  };
}

interface PreparedPolicy {
  version: PolicyVersion;
  evaluate: RuleEvaluator;
}

function prepare(policies: readonly PolicyVersion[]): PreparedPolicy[] {
  return policies.map((version) => ({ version, evaluate: ruleEvaluator(version.policy) }));
}

function judge(subject: PolicySubject, policies: readonly PreparedPolicy[]): ArtifactVerdict {
  const policy_decisions = policies.map(({ version, evaluate }) => decide(version, evaluate(subject)));
  return {
    compliant: policies.length === 0 ? null : policy_decisions.every(({ status }) => status === "COMPLIANT"),
    allow_listed: subject.allow_listed,
    policy_decisions,
    reasons_for_incompliance: reasonsForIncompliance(policy_decisions),
  };
}

/** Judges one artifact by policies; decisions come in the order of the policies. */
export function evaluateArtifact(
  subject: PolicySubject,
  policies: readonly PolicyVersion[],
): ArtifactVerdict {
  return judge(subject, prepare(policies));
}

/**
 * Judges everything that runs somewhere by the policies attached there. An environment where nothing runs fulfils any
 * policy; what it is worth without policies is unknown.
 */
export function evaluateSnapshot(
  subjects: readonly PolicySubject[],
  policies: readonly PolicyVersion[],
): SnapshotVerdict {
  const prepared = prepare(policies);
  const artifacts = subjects.map((subject) => judge(subject, prepared));
  const state = policies.length === 0 ? null : artifacts.every(({ compliant }) => compliant === true);
  return {
    state,
    compliant: state === true,
    artifacts,
    applied_policies: policies.map(({ id, name, version, policy }, index) => ({
      id,
      name,
      version,
      policy_dump: policyDump(policy),
      failing_artifacts: failing(subjects, artifacts, index),
    })),
  };
}

function failing(
  subjects: readonly PolicySubject[],
  verdicts: readonly ArtifactVerdict[],
  policy: number,
): string[] {
  const fails = subjects.filter(
    (_, index) => verdicts[index]?.policy_decisions[policy]?.status === "NON-COMPLIANT",
  );
  return [...new Set(fails.map(({ fingerprint }) => fingerprint))];
}
