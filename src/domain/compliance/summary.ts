import type { Explanation, Requirement } from "./explain.ts";

/** Names in one sentence at most: more help nobody. */
const enough = 5;

function nameOf({ artifact_name, attestation_name }: Requirement): string {
  return [artifact_name, attestation_name].filter((name) => name !== null).join(".");
}

function listed(label: string, requirements: readonly Requirement[]): string[] {
  if (requirements.length === 0) return [];
  const names = requirements.slice(0, enough).map(nameOf).join(", ");
  const more = requirements.length > enough ? ` and ${requirements.length - enough} more` : "";
  return [`${label}: ${names}${more}`];
}

/** Says a verdict's reason in one line, attestations of artifacts named as `artifact.attestation`. */
export function summarize({ requirements }: Pick<Explanation, "requirements">): string {
  const of = (outcome: Requirement["outcome"]) => requirements.filter((one) => one.outcome === outcome);
  const parts = [...listed("Not compliant", of("failed")), ...listed("Missing", of("missing"))];
  return parts.length === 0 ? "Nothing is missing and nothing failed" : parts.join(". ");
}

function attestationReason({ outcome, attestation, attestation_type }: Requirement): string {
  if (attestation === null) return "No attestation of this name and type was reported";
  const by = attestation.is_override ? " by an override" : "";
  if (outcome === "met") return `Compliant${by}`;
  const other = attestation_type !== "*" && attestation_type !== attestation.type;
  const decision = attestation_type === "decision" && attestation.type === "system:decision";
  if (other && !decision) return `The latest report is of the type ${attestation.type} and not compliant`;
  return `Not compliant${by}`;
}

/** Says why a requirement has its outcome, for people. */
export function reasonOf(requirement: Requirement): string {
  if (requirement.kind === "attestation") return attestationReason(requirement);
  return requirement.outcome === "met" ? "Reported" : "No artifact was reported under this name";
}
