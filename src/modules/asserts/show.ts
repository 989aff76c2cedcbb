import type { ArtifactComplianceResult } from "../../contract/asserts.ts";
import { verdictInFlow } from "../../domain/snapshot/asserted.ts";
import { wireId } from "../../lib/ids.ts";
import type { Deps } from "../deps.ts";
import type { AssertFact } from "./store.ts";

function showVerdict(fact: AssertFact): ArtifactComplianceResult {
  const { status, attestations_statuses, unexpected } = verdictInFlow(fact);
  const isMissing = status === "MISSING";
  return {
    artifact_fingerprint: isMissing ? null : fact.fingerprint,
    status,
    is_compliant: isMissing ? null : status === "COMPLIANT",
    attestations_statuses: attestations_statuses.map((row) => ({
      attestation_name: row.attestation_name,
      attestation_type: row.attestation_type,
      status: row.status,
      is_compliant: row.is_compliant,
      unexpected: row.unexpected,
    })),
    evaluated_at: fact.evaluated_at,
    unexpected,
  };
}

/** One of the flows that know an artifact (contract environments 7.1). */
export function showFlow(deps: Pick<Deps, "links">, org: { name: string }, fact: AssertFact) {
  const { flow_name, trail_name, fingerprint, artifact_id } = fact;
  const compliance_status = showVerdict(fact);
  const page = `/${org.name}/flows/${flow_name}/artifacts/${fingerprint}?artifact_id=${wireId(artifact_id)}`;
  return {
    flow: flow_name,
    trail: trail_name,
    compliant: compliance_status.status === "COMPLIANT",
    compliance_status,
    html_url: deps.links.web(page),
  };
}
