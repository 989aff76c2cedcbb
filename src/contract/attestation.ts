import { z } from "zod";

import { LinksBody, Timestamp } from "./common.ts";

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
