import type { ArtifactComplianceResult } from "../../../contract/asserts.ts";
import { type JudgedFact, verdictInFlow } from "../../../domain/snapshot/asserted.ts";
import { artifactPage } from "../../../domain/pages.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { AssertFact } from "./store.ts";

/** What is shown of a flow that knows an artifact. */
type ShownFact = JudgedFact & Pick<AssertFact, "artifact_id" | "flow_name" | "trail_name" | "evaluated_at">;

function showVerdict(fact: ShownFact): ArtifactComplianceResult {
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

/** Shows one of the flows that know an artifact (contract environments 7.1). */
export function showFlow(deps: Pick<Deps, "links">, org: { name: string }, fact: ShownFact) {
  const compliance_status = showVerdict(fact);
  return {
    flow: fact.flow_name,
    trail: fact.trail_name,
    compliant: compliance_status.status === "COMPLIANT",
    compliance_status,
    html_url: deps.links.web(`/${org.name}${artifactPage(fact, fact.fingerprint)}`),
  };
}
