import { z } from "zod";

import { organizationReader } from "./access.ts";
import { artifactReportQuery } from "./artifact-reads.ts";
import { fingerprintParams, json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { ComplianceState } from "./trails.ts";

/** The report of an artifact that meets a requirement. */
const DecidingArtifact = z
  .object({
    artifact_id: z.string(),
    fingerprint: z.string(),
    git_commit: z.string().nullable(),
    reported_at: Timestamp,
  })
  .meta({ id: "DecidingArtifact" });

/** The attestation that decides on a requirement. */
const DecidingAttestation = z
  .object({
    attestation_id: z.string(),
    attestation_type: z.string(),
    is_compliant: z.boolean(),
    reported_at: Timestamp,
    is_override: z.boolean(),
    /** The attestation whose verdict it replaced; null when there was none. */
    overridden_attestation_id: z.string().nullable(),
    html_url: z.string(),
  })
  .meta({ id: "DecidingAttestation" });

/** A requirement that a verdict rests on. */
export const ComplianceRequirement = z
  .object({
    kind: z.enum(["artifact", "attestation"]),
    /** Where the trail's template asks for it; null for what was reported without being asked for, and counts too. */
    template_path: z.string().nullable(),
    /** Name in the template; null for attestations of the trail. */
    artifact_name: z.string().nullable(),
    /** Fingerprint of the artifact that has the name now. */
    artifact_fingerprint: z.string().nullable(),
    /** Null when the requirement is the artifact itself. */
    attestation_name: z.string().nullable(),
    /** What the template asks for, `*` for any; else the type that was reported. */
    attestation_type: z.string().nullable(),
    outcome: z.enum(["met", "missing", "failed"]),
    /** The outcome in words. */
    reason: z.string(),
    artifact: DecidingArtifact.nullable(),
    attestation: DecidingAttestation.nullable(),
  })
  .meta({ id: "ComplianceRequirement" });
export type ComplianceRequirement = z.output<typeof ComplianceRequirement>;

/** A report that would help to comply. */
export const ProposedReport = z
  .object({
    kind: z.enum(["artifact", "attestation"]),
    /** Null for attestations of the trail. */
    artifact_name: z.string().nullable(),
    /** Null for attestations of the trail and of artifacts that are yet to be reported. */
    artifact_fingerprint: z.string().nullable(),
    /**
     * For an artifact, the commit whose waiting attestations leave the least to do, null where no commit leaves as little
     * as one that nothing waits for; for an attestation that has to wait for its artifact, the commit it is for.
     */
    git_commit: z.string().nullable(),
    /** Null when the artifact itself is to be reported. */
    attestation_name: z.string().nullable(),
    /** `*` when any will do. */
    attestation_type: z.string().nullable(),
    /** The failed attestation it takes the place of: an override of that one does as well. */
    replaces_attestation_id: z.string().nullable(),
  })
  .meta({ id: "ProposedReport" });
export type ProposedReport = z.output<typeof ProposedReport>;

const explained = {
  status: ComplianceState,
  is_compliant: z.boolean(),
  /** The verdict in one line. */
  summary: z.string(),
  /** The time of the report that led to the verdict. */
  evaluated_at: Timestamp,
  flow_template_id: z.string(),
  requirements: z.array(ComplianceRequirement),
  /** As few reports as make it compliant, attestations being compliant; empty when it is. */
  proposed_reports: z.array(ProposedReport),
  html_url: z.string(),
};

/** Why a trail has its verdict. */
export const TrailExplanation = z
  .object({ flow_name: z.string(), trail_name: z.string(), ...explained })
  .meta({ id: "TrailExplanation" });
export type TrailExplanation = z.output<typeof TrailExplanation>;

/** Why an artifact has its state. */
export const ArtifactExplanation = z
  .object({
    flow_name: z.string(),
    trail_name: z.string(),
    artifact_id: z.string(),
    artifact_fingerprint: z.string(),
    artifact_name: z.string(),
    ...explained,
  })
  .meta({ id: "ArtifactExplanation" });
export type ArtifactExplanation = z.output<typeof ArtifactExplanation>;

export const explanationEndpoints = {
  explain_trail: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}/{trail_name}/explain",
    tag: "Trails",
    summary: "Explain a trail's verdict",
    description:
      "Everything the template asks for and everything that was reported without being asked for, with what decides on each, and " +
      "the fewest reports that would make the trail compliant.",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The explanation", TrailExplanation) },
  }),
  explain_artifact: endpoint({
    method: "GET",
    path: "/artifacts/{org}/{flow_name}/fingerprint/{fingerprint}/explain",
    tag: "Artifacts",
    summary: "Explain an artifact's state",
    description:
      "As for a trail, with the attestations of the artifact and those of its trail. Which report of the artifact is meant is " +
      "decided as for the artifact itself.",
    access: organizationReader,
    kept: true,
    params: fingerprintParams,
    query: artifactReportQuery,
    responses: { 200: json("The explanation", ArtifactExplanation) },
  }),
} satisfies Endpoints;
