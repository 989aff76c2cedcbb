import { z } from "zod";

import { organizationReader } from "./access.ts";
import { json, LinksBody, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { integerParameter, pageParameter, textParameter, timestampParameter } from "./parameters.ts";

/** The commit of a build; what the reporter did not say is null. */
export const BuildGitCommitInfo = z
  .object({
    sha1: z.string(),
    message: z.string().nullable(),
    author: z.string().nullable(),
    branch: z.string().nullable(),
    timestamp: Timestamp.nullable(),
    url: z.string().nullable(),
  })
  .meta({ id: "BuildGitCommitInfo" });

/** The repo of a build as it is called now. `repo_id` is the provider's own id, empty when it has none. */
export const BuildRepoInfo = z
  .object({ name: z.string(), repo_id: z.string(), provider: z.string().nullable() })
  .meta({ id: "BuildRepoInfo" });

/** The first report of a fingerprint in the organization (interface spec 2). */
const BuildItemResponse = z
  .object({
    created_at: Timestamp,
    fingerprint: z.string(),
    flow_name: z.string(),
    trail_name: z.string(),
    repo_info: BuildRepoInfo.nullable(),
    filename: z.string(),
    build_url: z.string(),
    git_commit: z.string().nullable(),
    git_commit_info: BuildGitCommitInfo.nullable(),
    _links: LinksBody,
  })
  .meta({ id: "BuildItemResponse" });

/** A page of builds (interface spec 2). */
const BuildListResponse = z
  .strictObject({
    page: z.int(),
    per_page: z.int(),
    total_pages: z.int(),
    total_count: z.int(),
    builds: z.array(BuildItemResponse),
    _links: LinksBody,
    has_builds_ever: z.boolean(),
  })
  .meta({ id: "BuildListResponse" });

/** When builds were made: the window looked at, and one moment for each build in it, oldest first. */
const BuildStatisticsResponse = z
  .strictObject({
    start_ts: Timestamp,
    end_ts: Timestamp,
    total_count: z.int(),
    build_timestamps: z.array(Timestamp),
    _links: LinksBody,
  })
  .meta({ id: "BuildStatisticsResponse" });

/** Filters of builds, by repo and by time. `start-ts` and `end-ts` are older spellings. */
const filters = {
  repo_id: textParameter().optional(),
  repo_name: textParameter().optional(),
  repo_inner_id: textParameter().optional(),
  start_ts: timestampParameter().optional(),
  end_ts: timestampParameter().optional(),
  "start-ts": timestampParameter().optional().meta({ deprecated: true }),
  "end-ts": timestampParameter().optional().meta({ deprecated: true }),
};

const windowDescription =
  "`repo_id` is the provider's id of a repo, `repo_inner_id` ours; filters combine with AND. The window includes both ends; it ends now and begins 28 days before its end unless said otherwise.";

export const buildEndpoints = {
  list_builds: endpoint({
    method: "GET",
    path: "/builds/{org}",
    tag: "Builds",
    summary: "List builds",
    description: `Newest first. ${windowDescription} \`per_page=0\` only counts. \`has_builds_ever\` looks at the same repos without the window.`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      page: pageParameter().default(1),
      per_page: integerParameter({ min: 0, max: 50 }).default(15),
      ...filters,
    }),
    responses: { 200: json("A page of builds", BuildListResponse) },
  }),
  build_statistics: endpoint({
    method: "GET",
    path: "/builds/{org}/statistics",
    tag: "Builds",
    summary: "Get the times of builds in a window",
    description: `For charts of how often builds are made. ${windowDescription}`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object(filters),
    responses: { 200: json("The window and its builds", BuildStatisticsResponse) },
  }),
} satisfies Endpoints;
