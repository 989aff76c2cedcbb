import { z } from "zod";

import { fingerprintPrefixPattern } from "../domain/names.ts";
import { organizationReader } from "./access.ts";
import { attestationReportEndpoints } from "./attestation-reports.ts";
import { auditPackageResponse, packageForm } from "./audit-package.ts";
import { json, LinksBody, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** The commit an attestation was made for; what the reporter did not say is null. */
const AttestedCommit = z.looseObject({
  sha1: z.string(),
  message: z.string().nullable(),
  author: z.string().nullable(),
  branch: z.string().nullable(),
  timestamp: Timestamp.nullable(),
  url: z.string().nullable(),
});

/**
 * Evidence that a check was made, with its verdict. What is particular to the type stands under a key of its own, for
 * instance `sonar_results`.
 */
export const Attestation = z
  .looseObject({
    schema_version: z.literal(2),
    attestation_id: z.string(),
    attestation_name: z.string(),
    attestation_type: z.string(),
    is_compliant: z.boolean(),
    origin_url: z.string().nullable(),
    artifact_fingerprint: z.string().nullable(),
    target_artifacts: z.array(z.string()).nullable(),
    git_commit_info: AttestedCommit.nullable(),
    evidence_archive_path: z.string().nullable(),
    evidence_archive_fingerprint: z.string().nullable(),
    user_data: z.unknown(),
    description: z.string().nullable(),
    annotations: z.record(z.string(), z.string()).nullable(),
    external_urls: z
      .record(z.string(), z.object({ href: z.string(), fingerprint: z.string().nullish() }))
      .nullable(),
    created_at: Timestamp,
    html_url: z.string(),
    flow_name: z.string(),
    trail_name: z.string(),
    reported_by: z.string(),
    has_audit_package: z.boolean(),
    _links: LinksBody,
  })
  .meta({ id: "Attestation" });

/** Every report under one name, oldest first: the last one counts. */
export const AttestationResponse = z.array(Attestation).meta({ id: "AttestationResponse" });

export const attestationEndpoints = {
  ...attestationReportEndpoints,
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
    responses: { 200: { description: "The file", contentType: "application/octet-stream" } },
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
