import { z } from "zod";

import {
  fingerprintPattern,
  gitCommitPattern,
  templateReferenceNamePattern,
  trailNamePattern,
} from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { artifactReadEndpoints } from "./artifact-reads.ts";
import { fingerprintParams, flowParams, json, nameText } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { exactOpaque } from "./exact.ts";
import { listOf } from "./lists.ts";
import { textParameter } from "./parameters.ts";
import { ExternalUrls, GitCommit, GivenUserData, RepoInfoPostInput } from "./reports.ts";

/**
 * What a pipeline says about one artifact (contract catalog 2.2). `repo_url` need not be a URL. `is_compliant` and
 * `template` are accepted from old clients and mean nothing: evidence decides, and flows have their own template.
 * Other keys are ignored.
 */
export const CreateArtifact = z
  .object({
    fingerprint: z.string().regex(fingerprintPattern),
    filename: z.string().min(1),
    build_url: z.string(),
    commit_url: z.string(),
    trail_name: nameText(trailNamePattern).nullish(),
    template_reference_name: nameText(templateReferenceNamePattern).nullish(),
    description: z.string().nullish(),
    git_commit: z.string().regex(gitCommitPattern).nullish(),
    git_commit_info: GitCommit.nullish(),
    repo_info: RepoInfoPostInput.nullish(),
    commits_list: listOf(GitCommit).nullish(),
    repo_url: z.string().nullish(),
    is_compliant: z.boolean().nullish(),
    template: z.union([z.string(), listOf(z.string())]).nullish(),
    external_urls: ExternalUrls.nullish(),
    annotations: exactOpaque(z.record(z.string(), z.unknown())).nullish(),
    user_data: GivenUserData.nullish(),
  })
  .meta({ id: "CreateArtifact" });
export type CreateArtifact = z.output<typeof CreateArtifact>;

/** The body of a report that was stored. */
const ReportedArtifact = z.object({ message: z.literal("OK") }).meta({ id: "ArtifactPostResponse" });

/** The commit of the newest artifact before the one about to be reported; null when there is none. */
const LatestCommit = z.object({ latest_commit: z.string().nullable() }).meta({ id: "LatestCommit" });

export const artifactEndpoints = {
  ...artifactReadEndpoints,
  create_artifact: endpoint({
    method: "POST",
    path: "/artifacts/{org}/{flow_name}",
    tag: "Artifacts",
    summary: "Report an artifact",
    description:
      "Creates the flow and the trail when they do not exist, with an empty template. Without `trail_name` the trail is named after the commit, without a commit after the fingerprint. Without `template_reference_name` the artifact is called `artifact`. Each call is a report of its own; the first one of a fingerprint in the organization is its build.",
    access: organizationRole("member"),
    params: flowParams,
    body: { kind: "json", schema: CreateArtifact },
    responses: { 201: json("Reported", ReportedArtifact) },
  }),
  get_latest_artifact_commit: endpoint({
    method: "GET",
    path: "/artifacts/{org}/{flow_name}/{fingerprint}/latest_commit",
    tag: "Artifacts",
    summary: "Get the newest earlier commit of the artifact's flow",
    description:
      "Looks at the newest 5000 artifacts of the flow that have a commit and not this fingerprint; for a branch at fewer, where their commits are more than 64 MiB together. Null when none of them fits, and when the flow does not exist.",
    access: organizationReader,
    kept: true,
    params: flowParams.extend(fingerprintParams.shape),
    query: z.object({ branch: textParameter().optional() }),
    responses: { 200: json("The commit", LatestCommit) },
  }),
} satisfies Endpoints;
