import type { Steps } from "../../../lib/steps.ts";
import { evaluateExpression, type ExpressionContext } from "../expression/evaluate.ts";
import { anything, type AttestationRule, type BooleanRule, type Condition, type Policy } from "../model.ts";
import { attestationDefinition, booleanDefinition } from "../print.ts";
import { sizeOfPolicy } from "../size.ts";
import type {
  KnownFlow,
  PolicySubject,
  ReportedAttestation,
  Resolution,
  ResolutionType,
  RuleEvaluation,
  ShownRule,
} from "./model.ts";

/** A rule, whatever its type: whether it applies somewhere, and whether it is met there. */
interface Rule {
  shown: ShownRule;
  applies: (context: ExpressionContext) => boolean;
  resolve: (flow: KnownFlow) => ResolutionType;
  /** What is wrong when it applies and no flow knows the artifact. */
  withoutFlow: ResolutionType;
}

const decisionTypes = new Set(["decision", "system:decision"]);

/** Says whether an attestation is one that a rule asks for. */
export function fits(
  rule: Pick<AttestationRule, "name" | "type" | "for_control">,
  { name, type, control }: ReportedAttestation,
): boolean {
  const isType =
    rule.type === anything || (rule.type === "decision" ? decisionTypes.has(type) : rule.type === type);
  return isType && (rule.name === anything || rule.name === name) && isAbout(rule.for_control, control);
}

/** Attestations that rules may ask for: those of one of the names, and those of one of the types. */
export interface WantedAttestations {
  names: string[];
  types: string[];
  /** Types and controls by which rules tell attestations apart. */
  told_by: { types: string[]; controls: string[] };
}

/**
 * Lists which attestations have to be known to judge by these policies: none that fits a rule is left out. Of those that no
 * rule tells apart the last one is enough.
 */
export function wantedAttestations(policies: readonly Policy[]): WantedAttestations {
  const [names, types] = [new Set<string>(), new Set<string>()];
  const [allTypes, controls] = [new Set<string>(), new Set<string>()];
  for (const { artifacts } of policies)
    for (const { name, type, for_control } of artifacts.attestations)
      for (const each of type === "decision" ? decisionTypes : [type]) {
        if (name === anything) types.add(each);
        else names.add(name);
        if (each !== anything) allTypes.add(each);
        if (for_control !== null) controls.add(for_control);
      }
  const told_by = { types: [...allTypes], controls: [...controls] };
  return { names: [...names], types: [...types], told_by };
}

function isAbout(wanted: string | null, control: string | null | undefined): boolean {
  return wanted === null || wanted === control;
}

function isTrue(condition: Condition | null, context: ExpressionContext): boolean {
  return condition !== null && evaluateExpression(condition.expression, context);
}

function booleanApplies(rule: BooleanRule, context: ExpressionContext): boolean {
  return rule.required && !rule.exceptions.some((exception) => isTrue(exception, context));
}

function provenanceRule(rule: BooleanRule): Rule {
  return {
    shown: { type: "provenance", definition: booleanDefinition(rule) },
    applies: (context) => booleanApplies(rule, context),
    resolve: () => "rule_satisfied",
    withoutFlow: "missing_provenance",
  };
}

function trailComplianceRule(rule: BooleanRule): Rule {
  return {
    shown: { type: "trail-compliance", definition: booleanDefinition(rule) },
    applies: (context) => booleanApplies(rule, context),
    resolve: (flow) => (flow.artifact_status === "COMPLIANT" ? "rule_satisfied" : "non_compliant_in_trail"),
    withoutFlow: "no_provenance",
  };
}

function resolveAttestation(rule: AttestationRule, flow: KnownFlow): ResolutionType {
  const latest = flow.attestations.findLast((attestation) => fits(rule, attestation));
  if (latest === undefined) return "missing_attestation";
  return latest.is_compliant || !rule.must_be_compliant ? "rule_satisfied" : "non_compliant_attestation";
}

function attestationRule(rule: AttestationRule): Rule {
  return {
    shown: { type: "attestation", definition: attestationDefinition(rule) },
    applies: (context) => rule.condition === null || isTrue(rule.condition, context),
    resolve: (flow) => resolveAttestation(rule, flow),
    withoutFlow: "no_provenance",
  };
}

function rulesOf({ artifacts }: Policy): Rule[] {
  return [
    provenanceRule(artifacts.provenance),
    trailComplianceRule(artifacts.trail_compliance),
    ...artifacts.attestations.map(attestationRule),
  ];
}

function resolutionType(rule: Rule, subject: PolicySubject, flow: KnownFlow | null): ResolutionType {
  const context = {
    flow: flow === null ? null : { name: flow.flow_name, tags: flow.tags },
    artifact: { name: subject.name, fingerprint: subject.fingerprint },
  };
  if (subject.allow_listed || !rule.applies(context)) return "rule_not_applicable";
  return flow === null ? rule.withoutFlow : rule.resolve(flow);
}

function resolve(rule: Rule, subject: PolicySubject, flow: KnownFlow | null): Resolution {
  const { shown } = rule;
  const control = shown.type === "attestation" ? shown.definition.for_control : null;
  return {
    type: resolutionType(rule, subject, flow),
    context: {
      flow_name: flow?.flow_name ?? null,
      trail_name: flow?.trail_name ?? null,
      artifact_status: shown.type === "trail-compliance" ? (flow?.artifact_status ?? null) : null,
      ...(control === null ? {} : { for_control: control }),
    },
  };
}

/** Flows that are evaluated between two pauses, by a rule that matches nothing against their names and tags. */
const flowsInOneGo = 100;

function* evaluateRule(rule: Rule, subject: PolicySubject, inOneGo: number): Steps<RuleEvaluation> {
  const flows = subject.flows.length === 0 ? [null] : subject.flows;
  const resolutions: Resolution[] = [];
  for (const flow of flows) {
    resolutions.push(resolve(rule, subject, flow));
    if (resolutions.length % inOneGo === 0) yield;
  }
  const applicable = resolutions.filter(({ type }) => type !== "rule_not_applicable");
  const ignored = applicable.length === 0;
  const satisfied = ignored ? null : applicable.every(({ type }) => type === "rule_satisfied");
  return { rule: rule.shown, satisfied, ignored, resolutions };
}

/** Judges artifacts by one policy, one at a time; nothing of one artifact is remembered for the next. */
export type RuleEvaluator = (subject: PolicySubject) => Steps<RuleEvaluation[]>;

/**
 * Prepares a policy for any number of artifacts. A rule has to be met in every flow where it applies; flows where it
 * does not are disregarded. To an artifact on the allow-list no rule applies.
 */
export function ruleEvaluator(policy: Policy): RuleEvaluator {
  const rules = rulesOf(policy);
  const inOneGo = sizeOfPolicy(policy).patterns === 0 ? flowsInOneGo : 1;
  return function* evaluate(subject) {
    const evaluations: RuleEvaluation[] = [];
    for (const rule of rules) {
      evaluations.push(yield* evaluateRule(rule, subject, inOneGo));
      yield;
    }
    return evaluations;
  };
}
