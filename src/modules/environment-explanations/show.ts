import type { EnvironmentExplanation, ProposedRemedy } from "../../contract/environment-explanations.ts";
import type { Remedy } from "../../domain/policy/evaluation/explain.ts";
import type { Evidence, RuleRequirement } from "../../domain/snapshot/explain.ts";
import { wireId } from "../../lib/ids.ts";
import type { Deps } from "../deps.ts";

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

/** A rule with its verdict and its links; only its index where rules are said once. */
export function showRequirement(
  deps: Pick<Deps, "links">,
  org: { name: string },
  { attestation, reported_since, ...whole }: RuleRequirement,
  rules: "each" | "once",
): Shown {
  const { rule: _rule, ...brief } = whole;
  const requirement = rules === "once" ? brief : whole;
  const { flow_name, trail_name } = requirement;
  const page =
    flow_name === null || trail_name === null
      ? null
      : deps.links.web(`/${org.name}/flows/${flow_name}/trails/${trail_name}`);
  return {
    ...requirement,
    attestation: showAttestation(attestation, page),
    reported_since: showAttestation(reported_since, page),
    html_url: page,
  };
}

/** A report that would help. */
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
