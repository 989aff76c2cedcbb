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

/** Shows a report that would help. */
export function showRemedy(artifact_fingerprint: string, remedy: Remedy): ProposedRemedy {
  const rules = [...remedy.rules];
  const nothing = {
    artifact_status: null,
    attestation_name: null,
    attestation_type: null,
    for_control: null,
  };
  if (remedy.kind === "report_artifact")
    return { kind: "artifact", flow_name: null, trail_name: null, artifact_fingerprint, ...nothing, rules };
  const { flow_name, trail_name } = remedy;
  const place = { flow_name, trail_name, artifact_fingerprint, ...nothing };
  if (remedy.kind === "make_trail_compliant")
    return { ...place, kind: "trail", artifact_status: remedy.artifact_status, rules };
  const { name, type, for_control } = remedy;
  return {
    ...place,
    kind: "attestation",
    attestation_name: name,
    attestation_type: type,
    for_control,
    rules,
  };
}
