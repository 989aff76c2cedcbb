import { z } from "zod";

import { complianceStates } from "../domain/compliance/model.ts";
import { trailNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { flowParams, json, nameText, Ok, Timestamp } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { templateFile } from "./flows.ts";
import { optionalPaging, PaginationInfo } from "./pagination.ts";
import {
  choiceParameter,
  commaListParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";
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

/**
 * The commit of a trail. An unknown message or author is empty, and an unknown time is 0: clients print them as they
 * are.
 */
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

/** A commit in an event: what is not known is null. */
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

/** An attestation that a template expects. */
const TemplateAttestation = z
  .object({ name: z.string(), type: z.string() })
  .meta({ id: "TemplateAttestation" });

/** An artifact that a template expects. */
const TemplateArtifact = z
  .object({ name: z.string(), attestations: z.array(TemplateAttestation) })
  .meta({ id: "TemplateArtifact" });

/** A template: what a trail is expected to get, parsed, and as uploaded. */
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

/** The verdict on a trail or an artifact. */
export const ComplianceState = z.enum(complianceStates);

/** The state of one attestation name in one place: the trail, or an artifact (contract flows 6.2). */
export const AttestationComplianceStatus = z
  .object({
    attestation_name: z.string(),
    /** The reported type; the template's while it is missing. */
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

/** The state of one artifact name. */
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
const TrailComplianceStatus = z
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
const ListTrailItem = z
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
type ListTrailItem = z.output<typeof ListTrailItem>;

/** A trail in full, with its events, oldest first. */
const GetTrail = ListTrailItem.extend({ events: z.array(TrailEvent) }).meta({ id: "GetTrail" });
type GetTrail = z.output<typeof GetTrail>;

/** How far a search went; only with the parameters of searches. */
const searchBounds = {
  /** Whether there are trails in the window that were not looked at, because they are older than 10,000 others, or more artifacts begin with `fingerprint`. */
  truncated: z.boolean().optional(),
  /** When the oldest trail began that was looked at: older ones are searched with this `end_ts`. Null when there are none, and when more
   * than 10,000 artifacts begin with `fingerprint`: more digits find the others. */
  searched_since: Timestamp.nullish(),
};

/** One page of trails. `total` is the number of those that match, of those looked at. */
const ListTrails = z
  .object({ data: z.array(ListTrailItem), pagination: PaginationInfo, ...searchBounds })
  .meta({ id: "ListTrails" });

/** What became of one attestation name in one place. */
const MatrixCell = z
  .object({
    attestation_name: z.string(),
    /** Left out while missing. */
    attestation_id: z.string().optional(),
    overridden_attestation_id: z.string().optional(),
    status: z.enum(["COMPLETE", "MISSING"]),
    /** Left out while missing. */
    is_compliant: z.boolean().optional(),
    /** Left out when the template asks for it. */
    unexpected: z.literal(true).optional(),
  })
  .meta({ id: "TrailMatrixCell" });

/** A trail as a row of a matrix: what became of each attestation, and little else. */
const MatrixTrail = z
  .object({
    name: z.string(),
    flow_name: z.string(),
    /** `message` is its first line, of 200 characters at most. */
    git_commit_info: GitCommitInfo.nullable(),
    created_at: Timestamp,
    last_modified_at: Timestamp,
    compliance_state: ComplianceState,
    /** As in other lists, without what is null or can be told from the rest. */
    compliance_status: z.object({
      attestations_statuses: z.array(MatrixCell),
      artifacts_statuses: z.record(
        z.string(),
        z.object({
          artifact_fingerprint: z.string().optional(),
          status: z.enum([...ComplianceState.options, "MISSING"]),
          unexpected: z.literal(true).optional(),
          attestations_statuses: z.array(MatrixCell),
        }),
      ),
    }),
    html_url: z.string(),
  })
  .meta({ id: "TrailMatrixItem" });

/** One page of a matrix. */
const TrailMatrix = z
  .object({ data: z.array(MatrixTrail), pagination: PaginationInfo, ...searchBounds })
  .meta({ id: "TrailMatrix" });

/** What trails are searched by, and how they are shown. */
export const trailSearch = {
  state: listParameter(choiceParameter(ComplianceState.options)),
  start_ts: timestampParameter().optional(),
  end_ts: timestampParameter().optional(),
  search: textParameter().optional(),
  repo: textParameter().optional(),
  missing: textParameter().optional(),
  failing: textParameter().optional(),
  include: commaListParameter(["matrix"]).optional(),
};
const TrailsSearchQuery = z.object(trailSearch);
export type TrailsSearchQuery = z.output<typeof TrailsSearchQuery>;

const searchDescription =
  "Searches: `state` may be repeated, any of them will do; `start_ts` and `end_ts` bound when the trail began, both included; " +
  "`search` is a part of the name in any case, or the beginning of the commit, from 4 digits on; `repo` is the name of a repo " +
  "that reports came from; `missing` and `failing` name an attestation that the template asks for and was not reported, or " +
  "that fails, on the trail or on an artifact. With any of these, or with `include=matrix`, which shows what became of each " +
  "attestation and little else, the reply is a page, and the newest 10,000 trails of flow and window are looked at: " +
  "`truncated` says whether there are more, `searched_since` how far they reach. Of artifacts that begin with `fingerprint` 10,000 " +
  "are looked at: when there are more, it is `truncated` and `searched_since` is null.";

/** Items of a page when nothing is said. */
export const defaultPerPage = 20;

/** Filters and page of the trails. */
const TrailsQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(defaultPerPage),
  flow: textParameter().optional(),
  flow_tag: textParameter().optional(),
  fingerprint: textParameter().optional(),
  ...trailSearch,
});

/** What of a trail is written as CSV, also of one that is searched for. */
const trailColumns = [
  time("created_at"),
  time("last_modified_at"),
  "flow.name",
  "name",
  "compliance_state",
  "description",
  "git_commit_info.sha1",
  "git_commit_info.branch",
  "git_commit_info.author",
  "git_commit_info.message",
  "git_commit_info.url",
  "origin_url",
  "created_by",
  "html_url",
];

export const trailEndpoints = {
  list_trails_for_org: endpoint({
    method: "GET",
    path: "/trails/{org}",
    tag: "Trails",
    summary: "List trails across flows",
    description:
      "Newest first. Filters combine: `flow` is a flow's name, `flow_tag` is `key=value` or `key`, `fingerprint` is " +
      "that of an artifact reported to the trail, or its first 5 characters and more. What matches nothing gives an " +
      "empty list, and an empty text matches nothing; an empty `flow` is 404. Trails of archived flows are shown when `flow` or `fingerprint` asks for them. " +
      searchDescription,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: TrailsQuery,
    responses: {
      200: withCsv(json("One page of trails", z.union([ListTrails, TrailMatrix])), "trails", trailColumns),
    },
  }),
  list_trails: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}",
    tag: "Trails",
    summary: "List the trails of a flow",
    description:
      "Newest first. Without `per_page` the reply is an array of all trails, with it one page of them. " +
      searchDescription,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({ ...optionalPaging, ...trailSearch }),
    responses: {
      200: withCsv(
        json("The trails", z.union([z.array(ListTrailItem), ListTrails, TrailMatrix])),
        "trails",
        trailColumns,
      ),
    },
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
    params: flowParams,
    body: { kind: "multipart", field: "data_json", schema: CreateTrail, files: templateFile },
    responses: { 200: json("Updated", Ok), 201: json("Begun", Ok) },
  }),
  get_trail: endpoint({
    method: "GET",
    path: "/trails/{org}/{flow_name}/{trail_name}",
    tag: "Trails",
    summary: "Get a trail",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The trail", GetTrail) },
  }),
} satisfies Endpoints;
