import type { attestationEndpoints } from "../../contract/attestations.ts";
import { JsonText } from "../../contract/endpoint.ts";
import { notFound } from "../../domain/errors.ts";
import { parseWireId } from "../../lib/ids.ts";
import type { Handlers } from "../call.ts";
import { openEvidence } from "../evidence/service.ts";
import { urlBases } from "./attestation-json.ts";
import { attestationPackage } from "./package-service.ts";
import { attestationReportHandlers } from "./report-handlers.ts";
import { attestationSearchHandlers } from "./search-handlers.ts";
import { findArtifactAttestations, findTrailAttestation, findTrailAttestations } from "./read-store.ts";

export const attestationHandlers: Handlers<typeof attestationEndpoints> = {
  ...attestationReportHandlers,
  ...attestationSearchHandlers,

  get_trail_attestation: async (deps, { org, params }) => {
    const body = await findTrailAttestations(deps.db, org, urlBases(deps.links), {
      flow: params.flow_name,
      trail: params.trail_name,
      name: params.attestation_name,
    });
    if (body === undefined)
      throw notFound(
        `Trail with name '${params.trail_name}' does not exist for Organization '${org.name}' and Flow '${params.flow_name}'`,
      );
    return { status: 200, body: new JsonText(body) };
  },

  get_attestation_evidence: async (deps, { org, params }) => {
    const attestation_id = parseWireId(params.attestation_id);
    const at = { flow: params.flow_name, trail: params.trail_name };
    const found = attestation_id && (await findTrailAttestation(deps.db, org.id, { ...at, attestation_id }));
    if (!found || found.evidence_id === null)
      throw notFound(`Attestation '${params.attestation_id}' has no evidence on this trail`);
    return { status: 200, ...(await openEvidence(deps, deps.db.query, org.id, found.evidence_id)) };
  },

  download_attestation_audit_package: async (deps, { org, params }) => ({
    status: 200,
    ...(await attestationPackage(deps, org, params)),
  }),

  get_artifact_attestation: async (deps, { org, params }) => {
    const body = await findArtifactAttestations(deps.db, org, urlBases(deps.links), {
      flow: params.flow_name,
      fingerprint: params.fingerprint,
      name: params.attestation_name,
    });
    if (body === undefined)
      throw notFound(
        `Artifact with fingerprint '${params.fingerprint}' does not exist in flow '${params.flow_name}' belonging to organization '${org.name}'`,
      );
    return { status: 200, body: new JsonText(body) };
  },
};
