import { z } from "zod";

import { flowNamePattern } from "../domain/names.ts";
import { organizationReader } from "./access.ts";
import { fingerprintParams, json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { integerParameter, pageParameter, patternParameter, textParameter } from "./parameters.ts";
import { ComplianceState, EventGitCommitInfo, ExternalUrl, FlowInfo } from "./trails.ts";

/** A repo as artifacts show it. `id` is the provider's own. */
const RepoInfoResponse = z
  .object({
    name: z.string(),
    id: z.string().nullable(),
    url: z.string(),
    description: z.string().nullable(),
    provider: z.string().nullable(),
    namespace_path: z.array(z.string()).nullable(),
    additional_info: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: "RepoInfoResponse" });

/** The latest attestation of a name on an artifact, which is the one that counts. */
const ArtifactEvidence = z
  .object({
    attestation_id: z.string(),
    evidence_type: z.string(),
    is_compliant: z.boolean(),
    created_at: Timestamp,
    description: z.string().nullable(),
    /** Its origin, if the reporter named one. */
    build_url: z.string().nullable(),
    /** SHA-256 of the file that came with it. */
    evidence_archive_fingerprint: z.string().nullable(),
    has_audit_package: z.boolean(),
  })
  .meta({ id: "ArtifactEvidence" });

/** An artifact in a list, by its newest report in its flow (contract catalog 4.9, contract flows 5.2). */
export const ArtifactListItemResponse = z
  .object({
    /** Id of the report. */
    id: z.string(),
    flow_name: z.string(),
    flow: FlowInfo,
    trail_name: z.string(),
    template_reference_name: z.string(),
    fingerprint: z.string(),
    filename: z.string(),
    description: z.string().nullable(),
    /** Forty zeros when the commit is unknown: clients show its first seven characters. */
    git_commit: z.string(),
    git_commit_info: EventGitCommitInfo.nullable(),
    repo_info: RepoInfoResponse.nullable(),
    commit_url: z.string(),
    build_url: z.string(),
    repo_url: z.string().nullable(),
    html_url: z.string(),
    api_url: z.string(),
    created_at: Timestamp,
    /** When it, or an attestation that counts for it, was last reported. */
    last_modified_at: Timestamp,
    created_by: z.string(),
    user_data: z.unknown(),
    external_urls: z.record(z.string(), ExternalUrl).nullable(),
    annotations: z.record(z.string(), z.unknown()).nullable(),
    /** The verdict on the attestations of the artifact and of its trail together. */
    state: ComplianceState,
    /** The attestations that count, by name. */
    evidence: z.record(z.string(), ArtifactEvidence),
  })
  .meta({ id: "ArtifactListItemResponse" });
export type ArtifactListItemResponse = z.output<typeof ArtifactListItemResponse>;

/** An environment, with the snapshot in which an artifact started or exited there. */
const ArtifactPresence = z
  .object({ environment_name: z.string(), snapshot_index: z.int() })
  .meta({ id: "ArtifactPresence" });

/** Something that happened to an artifact, in words. */
export const ArtifactHistoryEvent = z
  .object({ event: z.string(), timestamp: Timestamp })
  .meta({ id: "ArtifactHistoryEvent" });
export type ArtifactHistoryEvent = z.output<typeof ArtifactHistoryEvent>;

/** Seconds until an artifact first ran in an environment, by environment. */
const LeadTimes = z.record(z.string(), z.number());

/** An artifact in full, by its newest report (contract flows 5.5). */
export const ArtifactResponse = ArtifactListItemResponse.extend({
  /** Empty when the commit is unknown. */
  git_commit: z.string(),
  /** Names of the attestations that the trail's template asks of it. */
  template: z.array(z.string()),
  /** Why it has its state, in one line. */
  state_info: z.string(),
  running: z.array(ArtifactPresence),
  exited: z.array(ArtifactPresence),
  /** Oldest first. */
  history: z.array(ArtifactHistoryEvent),
  /** Counted from the commit's own time; empty when that is unknown. */
  commit_lead_times: LeadTimes,
  /** Counted from the report. */
  build_lead_times: LeadTimes,
}).meta({ id: "ArtifactResponse" });
export type ArtifactResponse = z.output<typeof ArtifactResponse>;

/** The beginning of a commit id, of five digits at least. */
const commitPrefixPattern = /^[a-f0-9]{5,40}$/;

const wireIdPattern = /^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{8}$/;

/** Query that chooses a report of an artifact. */
export const artifactReportQuery = z.object({
  trail: textParameter().optional(),
  attestation_id: z.string().regex(wireIdPattern).optional(),
  /** Id of the report itself (an extension of the public interface). */
  artifact_id: z.string().regex(wireIdPattern).optional(),
});

export const artifactReadEndpoints = {
  list_artifacts: endpoint({
    method: "GET",
    path: "/artifacts/{org}",
    tag: "Artifacts",
    summary: "List artifacts of a flow or repo",
    description:
      "Newest first, each artifact once in each flow, by its newest report there. `flow_name` and `repo_name` are " +
      "exact; with both, the flow counts. Several repos may have the name. Artifacts of archived flows are listed only by " +
      "the flow's archived name.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      page: pageParameter().default(1),
      per_page: integerParameter({ min: 1, max: 500 }).default(15),
      flow_name: patternParameter(flowNamePattern).optional(),
      repo_name: textParameter().optional(),
    }),
    responses: { 200: json("One page of artifacts", z.array(ArtifactListItemResponse)) },
  }),
  get_artifact_by_fingerprint: endpoint({
    method: "GET",
    path: "/artifacts/{org}/{flow_name}/fingerprint/{fingerprint}",
    tag: "Artifacts",
    summary: "Get an artifact",
    description:
      "The beginning of a fingerprint is enough; the newest report that fits is answered. `trail` or the id of an " +
      "attestation of a trail asks for the report on that trail, and limits the history to it. `artifact_id`, the `id` of an " +
      "answer, asks for that very report, also when there are newer ones; the history stays whole.",
    access: organizationReader,
    kept: true,
    params: fingerprintParams,
    query: artifactReportQuery,
    responses: { 200: json("The artifact", ArtifactResponse) },
  }),
  get_artifact_by_commit_sha: endpoint({
    method: "GET",
    path: "/artifacts/{org}/{flow_name}/commit_sha/{commit_sha}",
    tag: "Artifacts",
    summary: "List the artifacts built from a commit",
    description:
      "Newest first, each artifact once, by its newest report; the newest 500. The first 5 characters of the commit and " +
      "more are enough.",
    access: organizationReader,
    kept: true,
    params: z.object({ commit_sha: z.string().regex(commitPrefixPattern) }),
    query: artifactReportQuery.pick({ trail: true }),
    responses: { 200: json("The artifacts", z.array(ArtifactResponse)) },
  }),
} satisfies Endpoints;
