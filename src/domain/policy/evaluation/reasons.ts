import { anything } from "../model.ts";
import type { AttestationDefinition } from "../print.ts";
import type { PolicyDecision, ReasonForIncompliance, Resolution, RuleEvaluation } from "./model.ts";

const unknownArtifact = "No flow knows this artifact";

/** Names what a rule asks for, such as `attestation 'scan' of type 'snyk'` or `decision for control 'C-1'`. */
function nameAttestation({ type, name, for_control }: AttestationDefinition): string {
  const named = name === anything ? "" : ` '${name}'`;
  if (type === "decision")
    return `decision${named}${for_control === null ? "" : ` for control '${for_control}'`}`;
  return `attestation${named}${type === anything ? "" : ` of type '${type}'`}`;
}

function placeOf({ flow_name, trail_name }: Resolution["context"]): string {
  return trail_name === null ? `flow '${flow_name}'` : `trail '${trail_name}' of flow '${flow_name}'`;
}

function wantedOf({ rule }: RuleEvaluation): string {
  return rule.type === "attestation" ? nameAttestation(rule.definition) : "compliant trail";
}

/** Says what is wrong in one sentence, without a full stop; undefined when nothing is. */
function messageOf(evaluation: RuleEvaluation, { type, context }: Resolution): string | undefined {
  const wanted = wantedOf(evaluation);
  switch (type) {
    case "rule_satisfied":
    case "rule_not_applicable":
      return undefined;
    case "missing_provenance":
      return unknownArtifact;
    case "no_provenance":
      return `${unknownArtifact}, so it has no ${wanted}`;
    case "non_compliant_in_trail":
      return `Artifact is ${context.artifact_status ?? "not COMPLIANT"} in ${placeOf(context)}`;
    case "missing_attestation":
      return `There is no ${wanted} in ${placeOf(context)}`;
    case "non_compliant_attestation":
      return `The latest ${wanted} in ${placeOf(context)} is not compliant`;
  }
}

/** Says why a rule is met, or why it does not apply. */
function fulfilment(evaluation: RuleEvaluation, { type, context }: Resolution, allowListed: boolean): string {
  if (type === "rule_not_applicable")
    return allowListed ? "The artifact is on the allow-list" : "The rule does not apply here";
  const { rule } = evaluation;
  if (rule.type === "provenance") return `The artifact is known in ${placeOf(context)}`;
  if (rule.type !== "attestation") return `Artifact is COMPLIANT in ${placeOf(context)}`;
  const verdict = rule.definition.must_be_compliant ? "is compliant" : "was reported";
  return `The latest ${wantedOf(evaluation)} in ${placeOf(context)} ${verdict}`;
}

/** Says why a rule is met, is not met, or does not apply in one flow: one sentence, without a full stop. */
export function explainResolution(
  evaluation: RuleEvaluation,
  resolution: Resolution,
  allowListed: boolean,
): string {
  return messageOf(evaluation, resolution) ?? fulfilment(evaluation, resolution, allowListed);
}

/** Lists what an artifact lacks: a sentence for each rule and flow, in the order of the decisions. */
export function reasonsForIncompliance(decisions: readonly PolicyDecision[]): ReasonForIncompliance[] {
  const reasons: ReasonForIncompliance[] = [];
  for (const { policy_name, rule_evaluations } of decisions)
    for (const evaluation of rule_evaluations)
      for (const resolution of evaluation.resolutions) {
        const message = messageOf(evaluation, resolution);
        if (message !== undefined) reasons.push({ policy_name, rule: evaluation.rule.type, message });
      }
  return reasons;
}
