import { z } from "zod";

import { fingerprintPattern } from "../domain/names.ts";
import { organizationReader } from "./access.ts";
import { json, LinksBody, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { choiceParameter, textParameter } from "./parameters.ts";
import { repoProviders } from "./reports.ts";

/** An artifact as its flow knows it. */
const EmbeddedArtifact = z
  .object({
    id: z.string(),
    fingerprint: z.string().regex(fingerprintPattern),
    commit_sha: z.string().nullable(),
    commit_url: z.string().nullable(),
    _links: LinksBody,
  })
  .meta({ id: "EmbeddedArtifactResponse" });

/** An environment that an artifact runs in. */
const EmbeddedEnvironment = z
  .object({ id: z.string(), name: z.string(), type: z.string(), _links: LinksBody })
  .meta({ id: "EmbeddedEnvironmentResponse" });

/** One artifact in one environment. Its ids refer to the embedded records. */
const LiveArtifactEntry = z
  .object({
    environment_id: z.string(),
    artifact_id: z.string(),
    artifact_name: z.string(),
    /** The environment's latest snapshot. */
    snapshot_index: z.int(),
    /** Null without policies. */
    compliance: z.enum(["COMPLIANT", "NON-COMPLIANT"]).nullable(),
    /** Start of the oldest running instance; if the reporter did not know it, when the artifact was first seen. */
    started_at: Timestamp,
    _links: LinksBody,
  })
  .meta({ id: "LiveArtifactEntryResponse" });

/** The artifacts of a repo that run now, and where (contract catalog 4.2). */
const RepoLiveStatus = z
  .object({
    _embedded: z
      .object({ artifacts: z.array(EmbeddedArtifact), environments: z.array(EmbeddedEnvironment) })
      .meta({ id: "RepoLiveStatusEmbedded" }),
    live_artifacts: z.array(LiveArtifactEntry),
    _links: LinksBody,
  })
  .meta({ id: "RepoLiveStatusResponse" });

export const liveArtifactEndpoints = {
  get_repo_live_artifacts: endpoint({
    method: "GET",
    path: "/repos/{org}/live-artifacts/{repo_name...}",
    tag: "Repos",
    summary: "List what of a repo runs where now",
    description:
      "In physical environments, sorted by environment. The name may contain slashes. With `id` the name and `provider` do not matter; of several repos that fit, the newest is meant.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      provider: choiceParameter(repoProviders).optional(),
      id: textParameter().optional(),
    }),
    responses: { 200: json("What runs", RepoLiveStatus) },
  }),
} satisfies Endpoints;
