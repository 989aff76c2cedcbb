import { z } from "zod";

import { evidenceContentTypes } from "../domain/evidence-file.ts";
import { organizationReader } from "./access.ts";
import { AttestationResponse, attestationIncludes } from "./attestation.ts";
import { attestationReportEndpoints } from "./attestation-reports.ts";
import { attestationSearchEndpoints } from "./attestation-search.ts";
import { fingerprintParams, json } from "./common.ts";
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
      "Oldest first. One made for an artifact that is yet to come is listed here until that artifact is reported. With " +
      "`include=evidence` each tells of the file that came with it.",
    access: organizationReader,
    kept: true,
    query: z.object(attestationIncludes),
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
  get_artifact_attestation: endpoint({
    method: "GET",
    path: "/attestations/{org}/{flow_name}/artifact/{fingerprint}/{attestation_name}",
    tag: "Attestation",
    summary: "List an artifact's attestations of one name",
    description:
      "On all trails of the flow, oldest first. The beginning of a fingerprint is enough. With `include=evidence` each " +
      "tells of the file that came with it.",
    access: organizationReader,
    kept: true,
    params: fingerprintParams,
    query: z.object(attestationIncludes),
    responses: { 200: json("The attestations; none is an empty list", AttestationResponse) },
  }),
} satisfies Endpoints;
