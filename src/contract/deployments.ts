import { z } from "zod";

import { environmentTypes } from "../domain/environments.ts";
import { organizationReader } from "./access.ts";
import { BuildGitCommitInfo, BuildRepoInfo } from "./builds.ts";
import { json, LinksBody, Timestamp } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { pageOfList } from "./pagination.ts";
import {
  integerParameter,
  isoTimeParameter,
  listParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

/** The artifact that ran last before a deployment, under the same flow and template name. */
const ReplacedArtifact = z
  .object({
    artifact_name: z.string(),
    fingerprint: z.string(),
    trail_name: z.string().nullable(),
    git_commit: z.string().nullable(),
    commit_url: z.string().nullable(),
    /** Address of a page that compares the two commits; null where there is none. */
    diff_url: z.string().nullable(),
    /** Whether it still ran beside the new one in that snapshot. */
    still_running: z.boolean(),
  })
  .meta({ id: "ReplacedArtifactResponse" });

/** An artifact of a known repo that started in a physical environment (domain 1.9, catalog 4.8). */
const DeploymentItem = z
  .object({
    /** Time of the first snapshot that shows it. */
    deployed_at: Timestamp,
    environment_name: z.string(),
    environment_type: z.enum(environmentTypes),
    snapshot_index: z.int(),
    artifact_name: z.string(),
    fingerprint: z.string(),
    /** The verdict in that snapshot; null without policies. */
    compliant: z.boolean().nullable(),
    flow_name: z.string(),
    trail_name: z.string(),
    template_reference_name: z.string(),
    repo_info: BuildRepoInfo,
    git_commit: z.string().nullable(),
    commit_url: z.string().nullable(),
    git_commit_info: BuildGitCommitInfo.nullable(),
    /** Seconds from the build, which is the first report of the artifact, to `deployed_at`. */
    lead_time_seconds: z.number(),
    replaced_artifact: ReplacedArtifact.nullable(),
    _links: LinksBody,
  })
  .meta({ id: "DeploymentItemResponse" });

/** A page of deployments. */
const DeploymentList = z
  .strictObject({ ...pageOfList, deployments: z.array(DeploymentItem) })
  .meta({ id: "DeploymentListResponse" });

const { per_page: _perPage, ...pageWithoutSize } = pageOfList;

/** A page of the deployments into an environment, which calls the size of a page by another name. */
const EnvironmentDeploymentList = z
  .strictObject({ ...pageWithoutSize, page_size: z.int(), deployments: z.array(DeploymentItem) })
  .meta({ id: "EnvironmentDeploymentListResponse" });

/** When artifacts of a flow were deployed: the window looked at, and one moment for each, oldest first. */
const DeploymentFrequency = z
  .strictObject({
    environment_name: z.string(),
    /** Null for all flows. */
    flow_id: z.string().nullable(),
    start_ts: Timestamp,
    end_ts: Timestamp,
    total_count: z.int(),
    deployment_timestamps: z.array(Timestamp),
    _links: LinksBody,
  })
  .meta({ id: "DeploymentFrequencyResponse" });

/** Deployments into one environment, oldest first; the two series belong together. */
const EnvironmentDeploymentSeries = z
  .strictObject({
    environment_name: z.string(),
    environment_type: z.enum(environmentTypes),
    total_count: z.int(),
    deployed_at: z.array(Timestamp),
    lead_time_seconds: z.array(z.number()),
  })
  .meta({ id: "EnvironmentDeploymentSeries" });

/** Deployments of a repo for each environment that it reached within the window. */
const RepoDeploymentStatistics = z
  .strictObject({
    start_ts: Timestamp,
    end_ts: Timestamp,
    environments: z.array(EnvironmentDeploymentSeries),
    _links: LinksBody,
  })
  .meta({ id: "RepoDeploymentStatisticsResponse" });

const window = { start_ts: timestampParameter().optional(), end_ts: timestampParameter().optional() };
const paging = {
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 0, max: 50 }).default(15),
};
const environments = { env: listParameter(textParameter()) };

const columns = [
  time("deployed_at"),
  "environment_name",
  "environment_type",
  "snapshot_index",
  "artifact_name",
  "fingerprint",
  "compliant",
  "flow_name",
  "trail_name",
  "template_reference_name",
  "repo_info.name",
  "git_commit",
  "commit_url",
  "git_commit_info.author",
  "git_commit_info.message",
  "lead_time_seconds",
  "replaced_artifact.artifact_name",
  "replaced_artifact.fingerprint",
  "replaced_artifact.diff_url",
];

const whatItIs =
  "A deployment is an artifact with a known repo that starts in a physical environment; a logical one stands for its members.";
const windowText =
  "The window includes both ends; it ends now and begins 28 days before its end unless said otherwise.";
const environmentText = "`env` may be repeated: any of the environments will do, all do without it.";

export const deploymentEndpoints = {
  list_deployments: endpoint({
    method: "GET",
    path: "/deployments/{org}",
    tag: "Deployments",
    summary: "List deployments",
    description: `Newest first. ${whatItIs} Filters combine with AND. ${windowText} \`per_page=0\` only counts.`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      ...paging,
      repo_name: textParameter().optional(),
      env_name: textParameter().optional(),
      ...window,
    }),
    responses: { 200: withCsv(json("A page of deployments", DeploymentList), "deployments", columns) },
  }),
  get_deployment: endpoint({
    method: "GET",
    path: "/deployments/{org}/{env_name}/{fingerprint}",
    tag: "Deployments",
    summary: "Get the latest deployment of an artifact into an environment",
    description: whatItIs,
    access: organizationReader,
    kept: true,
    responses: { 200: json("The deployment", DeploymentItem) },
  }),
  list_env_deployments: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}/deployments",
    tag: "Environments",
    summary: "List deployments into an environment",
    description: `Newest first. ${whatItIs} The window includes both ends, which are days or moments in ISO 8601, UTC unless they say otherwise; it ends now and begins 30 days before its end unless said otherwise.`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      from: isoTimeParameter().optional(),
      to: isoTimeParameter().optional(),
      page: paging.page,
      page_size: integerParameter({ min: 1, max: 100 }).default(50),
    }),
    responses: {
      200: withCsv(json("A page of deployments", EnvironmentDeploymentList), "deployments", columns),
    },
  }),
  get_deployment_frequency: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}/deployment_frequency",
    tag: "Environments",
    summary: "Get the times of a flow's deployments into an environment",
    description: `For charts of how often a flow's artifacts are deployed; of all flows without \`flow_id\`. ${whatItIs} ${windowText}`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({ flow_id: textParameter().optional(), ...window }),
    responses: { 200: json("The window and its deployments", DeploymentFrequency) },
  }),
  list_repo_deployments: endpoint({
    method: "GET",
    path: "/repos/{org}/{repo}/deployments",
    tag: "Repos",
    summary: "List deployments of a repo",
    description: `Newest first. The repo is named by its internal id. ${whatItIs} ${environmentText} ${windowText} \`per_page=0\` only counts.`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({ ...paging, ...environments, ...window }),
    responses: { 200: withCsv(json("A page of deployments", DeploymentList), "deployments", columns) },
  }),
  get_repo_deployment_statistics: endpoint({
    method: "GET",
    path: "/repos/{org}/{repo}/deployment-statistics",
    tag: "Repos",
    summary: "Get the times and lead times of a repo's deployments",
    description: `For charts, by environment. The repo is named by its internal id. ${whatItIs} ${environmentText} ${windowText}`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({ ...environments, ...window }),
    responses: { 200: json("The window and its deployments", RepoDeploymentStatistics) },
  }),
} satisfies Endpoints;
