import type {
  ArtifactExplanation,
  ComplianceRequirement,
  ProposedReport,
  TrailExplanation,
} from "../../../contract/explanations.ts";
import { trailPage } from "../../../domain/pages.ts";
import {
  explainArtifactInSteps,
  explainTrailInSteps,
  type Explanation,
  type Requirement,
} from "../../../domain/compliance/explain.ts";
import type { ProposedReport as Proposal } from "../../../domain/compliance/propose.ts";
import { reasonOf, summarize } from "../../../domain/compliance/summary.ts";
import type { Org } from "../../../domain/principal.ts";
import { wireId, wireIdOrNull } from "../../../lib/ids.ts";
import { present } from "../../../lib/present.ts";
import { collected, paced, type Steps } from "../../../lib/steps.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type ArtifactQuestion, getArtifactCase } from "../../process/artifacts/read-service.ts";
import { artifactUrl } from "../../process/artifacts/show.ts";
import { findExplainedTrail, type JudgeableTrail } from "../../process/compliance/service.ts";
import { getTrailRow } from "../../process/trails/service.ts";

type Reading = Pick<Deps, "db" | "links">;

function trailUrl(deps: Reading, org: Org, flow_name: string, trail_name: string): string {
  return deps.links.web(`/${org.name}${trailPage({ flow_name, trail_name })}`);
}

function showAttestation(
  { attestation, overridden }: Requirement,
  page: string,
): ComplianceRequirement["attestation"] {
  if (attestation === null) return null;
  const attestation_id = wireId(attestation.attestation_id);
  return {
    attestation_id,
    attestation_type: attestation.type,
    is_compliant: attestation.is_compliant,
    reported_at: attestation.reported_at,
    is_override: attestation.is_override,
    overridden_attestation_id: overridden === null ? null : wireId(overridden.attestation_id),
    html_url: `${page}?attestation_id=${attestation_id}`,
  };
}

function showRequirement(requirement: Requirement, page: string): ComplianceRequirement {
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
    attestation: showAttestation(requirement, page),
  };
}

function showProposal({ replaces, ...facts }: Proposal): ProposedReport {
  return { ...facts, replaces_attestation_id: wireIdOrNull(replaces) };
}

/**
 * Shows what explanations of trails and of artifacts have in common.
 * @param page the page of the trail for people.
 */
function* showExplanation(
  explaining: Steps<Explanation>,
  trail: Pick<JudgeableTrail, "template_id" | "evaluated_at">,
  page: string,
) {
  const explanation = yield* explaining;
  return {
    status: explanation.status,
    is_compliant: explanation.status === "COMPLIANT",
    summary: summarize(explanation),
    evaluated_at: trail.evaluated_at,
    flow_template_id: wireId(trail.template_id),
    requirements: yield* collected(explanation.requirements, (one) => showRequirement(one, page)),
    proposed_reports: yield* collected(explanation.proposed_reports, showProposal),
  };
}

/**
 * Explains why a trail has the verdict it has.
 * @throws AppError not_found.
 */
export async function readTrailExplanation(
  deps: Reading,
  org: Org,
  names: { flow_name: string; trail_name: string },
): Promise<TrailExplanation> {
  const { id, flow_name, name } = await getTrailRow(deps, org, names);
  const trail = present(await findExplainedTrail(deps.db, org.id, id), "the trail was found just now");
  const html_url = trailUrl(deps, org, flow_name, name);
  const explaining = explainTrailInSteps(trail.template, trail.reports);
  const shown = await paced(showExplanation(explaining, trail, html_url));
  return { flow_name, trail_name: name, ...shown, html_url };
}

/**
 * Explains why an artifact has the state it has.
 * @throws AppError not_found.
 */
export async function readArtifactExplanation(
  deps: Reading,
  org: Org,
  asked: ArtifactQuestion,
): Promise<ArtifactExplanation> {
  const { row, judged } = await getArtifactCase(deps, org, asked);
  const { flow_name, trail_name } = row;
  const explaining = explainArtifactInSteps(judged.template, judged.reports, judged.artifact);
  // Of artifacts no earlier moment is kept.
  const verdict = { template_id: judged.template_id, evaluated_at: judged.last_modified_at };
  const page = trailUrl(deps, org, flow_name, trail_name);
  return {
    flow_name,
    trail_name,
    artifact_id: wireId(row.id),
    artifact_fingerprint: row.fingerprint,
    artifact_name: row.template_reference_name,
    ...(await paced(showExplanation(explaining, verdict, page))),
    html_url: artifactUrl(deps, org, row),
  };
}
