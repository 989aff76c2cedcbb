import type { attestationEndpoints } from "../../../contract/attestations.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Handlers } from "../../kernel/call.ts";
import { withReadRecorded } from "../../kernel/audit/service.ts";
import { listAnswer } from "../../kernel/list-answer.ts";
import { openEvidence } from "../evidence/service.ts";
import { findAttestationOnTrail, listOf } from "./read-service.ts";
import { showing } from "./attestation-sql.ts";
import { attestationReportHandlers } from "./report-handlers.ts";
import { attestationSearchHandlers } from "./search-handlers.ts";
import { findArtifactAttestations, findTrailAttestations } from "./read-store.ts";

export const attestationHandlers: Handlers<typeof attestationEndpoints> = {
  ...attestationReportHandlers,
  ...attestationSearchHandlers,

  get_trail_attestation: async (deps, { org, params, query }) => {
    const how = showing(deps.links, query.include);
    const found = await findTrailAttestations(deps.db, org, how, {
      flow: params.flow_name,
      trail: params.trail_name,
      name: params.attestation_name,
    });
    if (found === undefined)
      throw notFound(
        `Trail with name '${params.trail_name}' does not exist for Organization '${org.name}' and Flow '${params.flow_name}'`,
      );
    return { status: 200, body: listAnswer("", listOf(deps, { org, how, self: "trail" }, found), "") };
  },

  get_attestation_evidence: async (deps, { org, actor, params }) => {
    const found = await findAttestationOnTrail(deps, org.id, params);
    if (found === undefined || found.evidence_id === null)
      throw notFound(`Attestation '${params.attestation_id}' has no evidence on this trail`);
    const file = await openEvidence(deps, deps.db, org.id, found.evidence_id);
    const resource = `${params.flow_name}/${params.trail_name}/${params.attestation_id}`;
    const read = { resource_type: "evidence", resource };
    return { status: 200, ...(await withReadRecorded(deps, { org, actor }, read, file)) };
  },

  get_artifact_attestation: async (deps, { org, params, query }) => {
    const how = showing(deps.links, query.include);
    const { fingerprint } = params;
    const found = await findArtifactAttestations(deps.db, org, how, {
      flow: params.flow_name,
      fingerprint,
      name: params.attestation_name,
    });
    if (found === undefined)
      throw notFound(
        `Artifact with fingerprint '${params.fingerprint}' does not exist in flow '${params.flow_name}' belonging to organization '${org.name}'`,
      );
    return {
      status: 200,
      body: listAnswer("", listOf(deps, { org, how, self: { fingerprint } }, found), ""),
    };
  },
};
