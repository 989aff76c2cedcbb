import type { EnvironmentExplanation, ProposedRemedy } from "../../../contract/environment-explanations.ts";
import { trailPage } from "../../../domain/pages.ts";
import type { Remedy } from "../../../domain/policy/evaluation/explain.ts";
import type { Evidence, RuleRequirement } from "../../../domain/snapshot/explain.ts";
import { wireId } from "../../../lib/ids.ts";
import type { Deps } from "../../kernel/deps.ts";

type Shown = EnvironmentExplanation["artifacts"][number]["requirements"][number];

function showAttestation(attestation: Evidence | null, page: string | null): Shown["attestation"] {
  if (attestation === null) return null;
  const { name, type, is_compliant, is_override, reported_at } = attestation;
  const attestation_id = wireId(attestation.attestation_id);
  return {
    attestation_id,
    attestation_name: name,
    attestation_type: type,
    is_compliant,
    is_override,
    reported_at,
    html_url: `${page}?attestation_id=${attestation_id}`,
  };
}

/** Links the trail's page; null without a trail. */
function trailUrl(
  { links }: Pick<Deps, "links">,
  org: { name: string },
  { flow_name, trail_name }: RuleRequirement,
): string | null {
  if (flow_name === null || trail_name === null) return null;
  return links.web(`/${org.name}${trailPage({ flow_name, trail_name })}`);
}

/** Shows a rule with its verdict and its links; only its index where rules are said once. */
export function showRequirement(
  deps: Pick<Deps, "links">,
  org: { name: string },
  requirement: RuleRequirement,
  rules: "each" | "once",
): Shown {
  const html_url = trailUrl(deps, org, requirement);
  // There may be hundreds of thousands: spreading one object into another takes several times as long.
  return {
    policy_name: requirement.policy_name,
    policy_version: requirement.policy_version,
    rule_index: requirement.rule_index,
    ...(rules === "once" ? undefined : { rule: requirement.rule }),
    flow_name: requirement.flow_name,
    trail_name: requirement.trail_name,
    artifact_status: requirement.artifact_status,
    outcome: requirement.outcome,
    reason: requirement.reason,
    attestation: showAttestation(requirement.attestation, html_url),
    reported_since: showAttestation(requirement.reported_since, html_url),
    html_url,
  };
}

const shownKinds = {
  report_artifact: "artifact",
  make_trail_compliant: "trail",
  report_attestation: "attestation",
} as const;

/** Shows a report that would help. */
export function showRemedy(artifact_fingerprint: string, remedy: Remedy): ProposedRemedy {
  // There may be as many as rules: each is written out, for the reason above.
  const isOnTrail = remedy.kind !== "report_artifact";
  const isAttestation = remedy.kind === "report_attestation";
  return {
    kind: shownKinds[remedy.kind],
    flow_name: isOnTrail ? remedy.flow_name : null,
    trail_name: isOnTrail ? remedy.trail_name : null,
    artifact_fingerprint,
    artifact_status: remedy.kind === "make_trail_compliant" ? remedy.artifact_status : null,
    attestation_name: isAttestation ? remedy.name : null,
    attestation_type: isAttestation ? remedy.type : null,
    for_control: isAttestation ? remedy.for_control : null,
    rules: [...remedy.rules],
  };
}
