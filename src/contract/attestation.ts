import { z } from "zod";

import { LinksBody, Timestamp } from "./common.ts";
import { commaListParameter } from "./parameters.ts";

/** The commit an attestation was made for; what the reporter did not say is null. */
const AttestedCommit = z.looseObject({
  sha1: z.string(),
  message: z.string().nullable(),
  author: z.string().nullable(),
  branch: z.string().nullable(),
  timestamp: Timestamp.nullable(),
  url: z.string().nullable(),
});

/** A file that came with an attestation. */
const AttestedFile = z
  .object({
    filename: z.string(),
    /** Bytes. */
    size: z.int(),
    content_type: z.string(),
    sha256: z.string(),
  })
  .meta({ id: "AttestedFile" });

/** What attestations show only when asked: a list with commas. */
export const attestationIncludes = { include: commaListParameter(["evidence"]).optional() };

/**
 * An attestation as it is read. What is particular to its type stands under a key of its own, for instance
 * `sonar_results`.
 */
const Attestation = z
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
    /** The file that came with it; only with `include=evidence`. */
    evidence: AttestedFile.nullable().optional(),
    _links: LinksBody,
  })
  .meta({ id: "Attestation" });

/** Every report under one name, oldest first: the last one counts. */
export const AttestationResponse = z.array(Attestation).meta({ id: "AttestationResponse" });
