import { z } from "zod";

import { flowNamePattern, trailNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { auditPackageResponse, packageForm } from "./audit-package.ts";
import { json, nameText, Ok, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { templateFile } from "./flows.ts";
import { optionalPaging, PaginationInfo } from "./pagination.ts";
import { integerParameter, pageParameter, textParameter } from "./parameters.ts";
import { ExternalUrls, GitCommit, GivenUserData, RepoInfoPostInput, UserData } from "./reports.ts";

/** `data_json` of a trail (contract flows 4.1). What is left out or null stays as it is. Other keys are ignored. */
export const CreateTrail = z
  .object({
    name: nameText(trailNamePattern),
    description: z.string().nullish(),
    git_commit_info: GitCommit.nullish(),
    repo_info: RepoInfoPostInput.nullish(),
    origin_url: z.string().nullish(),
    external_urls: ExternalUrls.nullish(),
    user_data: GivenUserData.nullish(),
  })
  .meta({ id: "CreateTrail" });
export type CreateTrail = z.output<typeof CreateTrail>;

/** The commit a trail is about. Unknown texts of people are empty and an unknown time is 0: clients print them as they are. */
export const GitCommitInfo = z
  .object({
    sha1: z.string(),
    message: z.string(),
    author: z.string(),
    branch: z.string().nullable(),
    timestamp: z.number(),
    url: z.string().nullable(),
  })
  .meta({ id: "GitCommitInfo" });
export type GitCommitInfo = z.output<typeof GitCommitInfo>;

/** The same commit inside an event: what is not known is null. */
export const EventGitCommitInfo = GitCommitInfo.extend({
  message: z.string().nullable(),
  author: z.string().nullable(),
  timestamp: z.number().nullable(),
  author_username: z.string().nullable(),
  parents: z.array(z.string()).nullable(),
  verified: z.boolean().nullable(),
  signature_state: z.string().nullable(),
}).meta({ id: "EventGitCommitInfo" });
export type EventGitCommitInfo = z.output<typeof EventGitCommitInfo>;

/** An expected attestation. */
export const TemplateAttestation = z
  .object({ name: z.string(), type: z.string() })
  .meta({ id: "TemplateAttestation" });

/** An expected artifact. */
export const TemplateArtifact = z
  .object({ name: z.string(), attestations: z.array(TemplateAttestation) })
  .meta({ id: "TemplateArtifact" });

/** What a trail is expected to get: parsed, and as uploaded. */
export const Template = z
  .object({
    version: z.literal(1),
    trail: z.object({
      attestations: z.array(TemplateAttestation),
      artifacts: z.array(TemplateArtifact),
    }),
    content: z.string(),
  })
  .meta({ id: "Template" });
export type Template = z.output<typeof Template>;

/** The flow of a trail. */
export const FlowInfo = z
  .object({ name: z.string(), tags: z.record(z.string(), z.string()) })
  .meta({ id: "FlowInfo" });

/** A link as it was reported. */
export const ExternalUrl = z
  .object({ href: z.string(), fingerprint: z.string().nullish() })
  .meta({ id: "ExternalUrl" });

/** Something that happened to a trail (contract flows 6.3). `type` decides which other keys there are. */
export const TrailEvent = z
  .looseObject({
    org_id: z.string(),
    flow_id: z.string(),
    trail_id: z.string(),
    timestamp: Timestamp,
    type: z.string(),
    git_commit_info: EventGitCommitInfo.nullable(),
    repo_info: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: "TrailEvent" });
export type TrailEvent = z.output<typeof TrailEvent>;

/** What a trail or an artifact is worth. */
export const ComplianceState = z.enum(["COMPLIANT", "NON-COMPLIANT", "INCOMPLETE"]);

/** What became of one attestation name in one place: the trail, or an artifact (contract flows 6.2). */
export const AttestationComplianceStatus = z
  .object({
    attestation_name: z.string(),
    /** As reported; the template's while it is missing. */
    attestation_type: z.string(),
    /** The latest report; null while missing. */
    attestation_id: z.string().nullable(),
    /** The report whose verdict an override replaced. */
    overridden_attestation_id: z.string().nullable(),
    status: z.enum(["COMPLETE", "MISSING"]),
    is_compliant: z.boolean().nullable(),
    /** Not in the template. */
    unexpected: z.boolean(),
  })
  .meta({ id: "AttestationComplianceStatus" });

/** What became of one artifact name. */
export const ArtifactComplianceStatus = z
  .object({
    artifact_fingerprint: z.string().nullable(),
    artifact_id: z.string().nullable(),
    status: z.enum([...ComplianceState.options, "MISSING"]),
    is_compliant: z.boolean().nullable(),
    attestations_statuses: z.array(AttestationComplianceStatus),
    unexpected: z.boolean(),
    /** Left out while the artifact is missing. */
    evaluated_at: Timestamp.optional(),
    flow_template_id: z.string().optional(),
  })
  .meta({ id: "ArtifactComplianceStatus" });

/** The verdict on a trail, with what it rests on. */
export const TrailComplianceStatus = z
  .object({
    status: ComplianceState,
    /** False for an incomplete one, too. */
    is_compliant: z.boolean(),
    /** Expected ones in the template's order, then others in the order of their first report. */
    attestations_statuses: z.array(AttestationComplianceStatus),
    /** By the name in the template, in the same order. */
    artifacts_statuses: z.record(z.string(), ArtifactComplianceStatus),
    /** The time of the report that led to it. */
    evaluated_at: Timestamp,
    flow_template_id: z.string(),
  })
  .meta({ id: "TrailComplianceStatus" });

/** A trail in a list (contract flows 6.1). */
export const ListTrailItem = z
  .object({
    name: z.string(),
    description: z.string(),
    git_commit_info: GitCommitInfo.nullable(),
    origin_url: z.string().nullable(),
    user_data: UserData,
    /** Internal ids of the repos that reports came from. */
    repo_ids: z.array(z.string()),
    last_modified_at: Timestamp,
    created_at: Timestamp,
    compliance_status: TrailComplianceStatus,
    template: Template,
    compliance_state: ComplianceState,
    is_compliant: z.boolean(),
    created_by: z.string(),
    flow: FlowInfo,
    external_urls: z.record(z.string(), ExternalUrl).nullable(),
    html_url: z.string(),
  })
  .meta({ id: "ListTrailItem" });
export type ListTrailItem = z.output<typeof ListTrailItem>;

/** A trail in full, with its events, oldest first. */
export const GetTrail = ListTrailItem.extend({ events: z.array(TrailEvent) }).meta({ id: "GetTrail" });
export type GetTrail = z.output<typeof GetTrail>;

/** One page of trails. */
export const ListTrails = z
  .object({ data: z.array(ListTrailItem), pagination: PaginationInfo })
  .meta({ id: "ListTrails" });

const TrailsQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(20),
  flow: textParameter().optional(),
  flow_tag: textParameter().optional(),
  fingerprint: textParameter().optional(),
});

export const trailEndpoints = {
  list_trails_for_org: endpoint({
    method: "GET",
    path: "/trails/{org}",
    tag: "Trails",
    summary: "List trails across flows",
    description:
      "Newest first. Filters combine: `flow` is a flow's name, `flow_tag` is `key=value` or `key`, `fingerprint` is " +
      "that of an artifact reported to the trail, or its first 5 characters and more. What matches nothing gives an " +
      "empty list, and an empty text matches nothing; an empty `flow` is 404. Trails of archived flows are shown when `flow` or `fingerprint` asks for them.",
    access: organizationReader,
    query: TrailsQuery,
    responses: { 200: json("One page of trails", ListTrails) },
  }),
  list_trails: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}",
    tag: "Trails",
    summary: "List the trails of a flow",
    description:
      "Newest first. Without `per_page` the reply is an array of all trails, with it one page of them.",
    access: organizationReader,
    query: z.object(optionalPaging),
    responses: { 200: json("The trails", z.union([z.array(ListTrailItem), ListTrails])) },
  }),
  create_trail: endpoint({
    method: "PUT",
    path: "/trails/{org}/{flow_name}",
    tag: "Trails",
    summary: "Begin or update a trail",
    description:
      "A flow that does not exist is created. A new trail takes the template given with it, else its flow's, and keeps " +
      "it when the flow's changes. An update changes what it says and keeps the rest.",
    access: organizationRole("member"),
    params: z.object({ flow_name: nameText(flowNamePattern) }),
    body: { kind: "multipart", field: "data_json", schema: CreateTrail, files: templateFile },
    responses: { 200: json("Updated", Ok), 201: json("Begun", Ok) },
  }),
  get_trail: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}/{trail_name}",
    tag: "Trails",
    summary: "Get a trail",
    access: organizationReader,
    responses: { 200: json("The trail", GetTrail) },
  }),
  download_trail_audit_package: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}/{trail_name}/audit_package",
    tag: "Trails",
    summary: "Download the audit package of a trail",
    description: `The trail, the artifacts and attestations reported on it, and the files that came with them. ${packageForm}`,
    access: organizationReader,
    responses: auditPackageResponse,
  }),
  download_trail_audit_pdf: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}/{trail_name}/audit_pdf",
    tag: "Trails",
    summary: "Download what was attested on a trail as a PDF",
    description:
      "For people: what the trail is about, its verdict, its artifacts and attestations with who reported them and the " +
      "digests of their files, overrides, and the events. Of a trail with more than 1,000 artifacts and attestations, or " +
      "1,000 events, it shows so many and says how many are left out; all of them are in the audit package. Characters " +
      "outside Western European scripts are shown by their code points: `[U+4E2D]`.",
    access: organizationReader,
    responses: { 200: { description: "The document", contentType: "application/pdf" } },
  }),
} satisfies Endpoints;
