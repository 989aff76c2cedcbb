import { z } from "zod";

import { fingerprintPattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { indexedText, json, okResponse, Timestamp } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listParameter, textParameter } from "./parameters.ts";

/**
 * Body of an allow-list entry: an artifact to trust in an environment, whatever is known about it (contract
 * environments 10.1).
 */
const AllowArtifact = z
  .strictObject({
    artifact_name: indexedText().min(1),
    artifact_fingerprint: z.string().regex(fingerprintPattern),
    /** Why it is trusted. */
    description: z.string().max(10_000),
  })
  .meta({ id: "AllowlistPutInput" });

/** An artifact that is trusted in an environment. */
const AllowlistEntry = z
  .object({
    artifact_name: z.string(),
    fingerprint: z.string(),
    environment_name: z.string(),
    timestamp: Timestamp,
    user_name: z.string(),
    description: z.string(),
  })
  .meta({ id: "AllowlistResponse" });

const tag = "Allowlists";

export const allowlistEndpoints = {
  list_allowlist: endpoint({
    method: "GET",
    path: "/allowlists/{org}",
    tag,
    summary: "List allow-listed artifacts",
    description:
      "Of all environments, newest first. Those of archived environments are left out. `environment` is a name, present or former, " +
      "and may be repeated: any of them will do, unknown ones have nothing.",
    access: organizationReader,
    kept: true,
    query: z.object({ environment: listParameter(textParameter()).optional() }),
    responses: {
      200: withCsv(json("The entries", z.array(AllowlistEntry)), "allowlist", [
        time("timestamp"),
        "environment_name",
        "artifact_name",
        "fingerprint",
        "user_name",
        "description",
      ]),
    },
  }),
  allow_artifact_for_env: endpoint({
    method: "PUT",
    path: "/allowlists/{org}/{env_name}",
    tag,
    summary: "Allow an artifact in an environment",
    description:
      "No policy rule applies to it there from now on; what runs is judged again at once. Allowing it again replaces name " +
      "and description.",
    access: organizationRole("member"),
    body: { kind: "json", schema: AllowArtifact },
    responses: { 201: json("What was sent", AllowArtifact) },
  }),
  disallow_artifact_for_env: endpoint({
    method: "DELETE",
    path: "/allowlists/{org}/{env_name}/{fingerprint}",
    tag,
    summary: "Take an artifact off the allow-list of an environment",
    description: "What runs there is judged again at once.",
    access: organizationRole("member"),
    recentSignIn: false,
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
