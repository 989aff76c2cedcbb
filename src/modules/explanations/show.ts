import type { ComplianceRequirement, ProposedReport } from "../../contract/explanations.ts";
import type { Explanation, Requirement } from "../../domain/compliance/explain.ts";
import type { ProposedReport as Proposal } from "../../domain/compliance/propose.ts";
import { reasonOf, summarize } from "../../domain/compliance/summary.ts";
import { wireId } from "../../lib/ids.ts";
import type { JudgeableTrail } from "../compliance/service.ts";

function showAttestation({ attestation, overridden }: Requirement, trailPage: string) {
  if (attestation === null) return null;
  const attestation_id = wireId(attestation.attestation_id);
  return {
    attestation_id,
    attestation_type: attestation.type,
    is_compliant: attestation.is_compliant,
    reported_at: attestation.reported_at,
    is_override: attestation.is_override,
    overridden_attestation_id: overridden === null ? null : wireId(overridden.attestation_id),
    html_url: `${trailPage}?attestation_id=${attestation_id}`,
  };
}

function showRequirement(requirement: Requirement, trailPage: string): ComplianceRequirement {
  const { artifact, overridden: _, ...facts } = requirement;
  return {
    ...facts,
    reason: reasonOf(requirement),
    artifact: artifact && {
      artifact_id: wireId(artifact.artifact_id),
      fingerprint: artifact.fingerprint,
      git_commit: artifact.git_commit,
      reported_at: artifact.reported_at,
    },
    attestation: showAttestation(requirement, trailPage),
  };
}

function showProposal({ replaces, ...facts }: Proposal): ProposedReport {
  return { ...facts, replaces_attestation_id: replaces === null ? null : wireId(replaces) };
}

/**
 * What explanations of trails and of artifacts have in common.
 * @param trailPage the page of the trail for people.
 */
export function showExplanation(
  explanation: Explanation,
  trail: Pick<JudgeableTrail, "template_id" | "evaluated_at">,
  trailPage: string,
) {
  return {
    status: explanation.status,
    is_compliant: explanation.status === "COMPLIANT",
    summary: summarize(explanation),
    evaluated_at: trail.evaluated_at,
    flow_template_id: wireId(trail.template_id),
    requirements: explanation.requirements.map((one) => showRequirement(one, trailPage)),
    proposed_reports: explanation.proposed_reports.map(showProposal),
  };
}
