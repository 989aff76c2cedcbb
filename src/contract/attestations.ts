import { z } from "zod";

import { evidenceContentTypes } from "../domain/evidence-file.ts";
import { fingerprintPrefixPattern } from "../domain/names.ts";
import { organizationReader } from "./access.ts";
import { AttestationResponse } from "./attestation.ts";
import { attestationReportEndpoints } from "./attestation-reports.ts";
import { attestationSearchEndpoints } from "./attestation-search.ts";
import { auditPackageResponse, packageForm } from "./audit-package.ts";
import { json } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

export const attestationEndpoints = {
  ...attestationReportEndpoints,
  ...attestationSearchEndpoints,
  get_trail_attestation: endpoint({
    method: "GET",
    path: "/attestations/{org}/{flow_name}/trail/{trail_name}/{attestation_name}",
    tag: "Attestation",
    summary: "List a trail's attestations of one name",
    description:
      "Oldest first. One made for an artifact that is yet to come is listed here until that artifact is reported.",
    access: organizationReader,
    responses: { 200: json("The attestations; none is an empty list", AttestationResponse) },
  }),
  get_attestation_evidence: endpoint({
    method: "GET",
    path: "/attestations/{org}/{flow_name}/trail/{trail_name}/attestation/{attestation_id}/evidence",
    tag: "Attestation",
    summary: "Download the file that came with an attestation",
    description: "Byte for byte as it was sent, under the name it was sent with.",
    access: organizationReader,
    responses: { 200: { description: "The file", contentType: evidenceContentTypes } },
  }),
  download_attestation_audit_package: endpoint({
    method: "GET",
    path: "/attestations/{org}/{flow_name}/trail/{trail_name}/attestation/{attestation_id}/audit_package",
    tag: "Attestation",
    summary: "Download the audit package of an attestation",
    description: `The attestation and the file that came with it. ${packageForm}`,
    access: organizationReader,
    responses: auditPackageResponse,
  }),
  get_artifact_attestation: endpoint({
    method: "GET",
    path: "/attestations/{org}/{flow_name}/artifact/{fingerprint}/{attestation_name}",
    tag: "Attestation",
    summary: "List an artifact's attestations of one name",
    description: "On all trails of the flow, oldest first. The beginning of a fingerprint is enough.",
    access: organizationReader,
    params: z.object({ fingerprint: z.string().regex(fingerprintPrefixPattern) }),
    responses: { 200: json("The attestations; none is an empty list", AttestationResponse) },
  }),
} satisfies Endpoints;
