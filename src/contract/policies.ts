import { z } from "zod";

import { policyNamePattern } from "../domain/names.ts";
import { mayNotAttach, mayNotDetach, policyEventTypes, policyLimits } from "../domain/policies.ts";
import { organizationReader, organizationRole, organizationRoleOr } from "./access.ts";
import { json, nameText, okResponse, textFile, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf } from "./lists.ts";

/** One version of a policy's text. */
const VersionedPolicy = z
  .object({
    version: z.int(),
    comment: z.string(),
    timestamp: Timestamp,
    created_by: z.string(),
    /** As uploaded, byte for byte. */
    policy_yaml: z.string(),
  })
  .meta({ id: "VersionedPolicy" });

/** Something that happened to a policy. */
const PolicyEvent = z
  .object({
    type: z.enum(policyEventTypes),
    timestamp: Timestamp,
    user: z.string(),
    /** `version` for a new version, `description` for a change of description. */
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "PolicyEvent" });

/** A policy with its history, oldest first (contract environments 8.3). */
const PolicyResponse = z
  .object({
    name: z.string(),
    description: z.string(),
    created_by: z.string(),
    created_at: Timestamp,
    last_modified_at: Timestamp,
    archived: z.literal(false),
    versions: z.array(VersionedPolicy),
    events: z.array(PolicyEvent),
    /** Names of the environments it is attached to. */
    consuming_envs: z.array(z.string()),
  })
  .meta({ id: "PolicyResponse" });

/** Form field of a policy, beside its file. */
const PutPolicy = z
  .strictObject({
    name: nameText(policyNamePattern),
    /** Replaces the present description. */
    description: z.string().max(policyLimits.description).default(""),
    /** A remark on the new version. */
    comment: z.string().max(policyLimits.comment).default(""),
    type: z.enum(["env"]).default("env"),
  })
  .meta({ id: "PolicyPutInput" });

/** Body of attaching and detaching policies. */
const AttachPolicies = z
  .strictObject({ policy_names: listOf(z.string(), { max: policyLimits.policyNames }) })
  .meta({ id: "AttachPoliciesPutInput" });

/** The form part of a policy's YAML file. */
export const policyFile = { policy_file: textFile };

const tag = "Policies";

export const policyEndpoints = {
  list_policies: endpoint({
    method: "GET",
    path: "/policies/{org}",
    tag,
    summary: "List policies",
    description: "All of them, sorted by name.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    responses: { 200: json("The policies", z.array(PolicyResponse)) },
  }),
  put_policy: endpoint({
    method: "PUT",
    path: "/policies/{org}",
    tag,
    summary: "Create a policy, or a new version of it",
    description:
      "A text other than the latest makes a new version, and the environments the policy is attached to are judged by it " +
      "at once. The same text makes none. Without a file the text stays; a new policy needs one.",
    access: organizationRole("member"),
    body: {
      kind: "multipart",
      field: "payload",
      schema: PutPolicy,
      files: policyFile,
    },
    responses: {
      200: json("The policy, which existed", PolicyResponse),
      201: json("The new policy", PolicyResponse),
    },
  }),
  get_policy: endpoint({
    method: "GET",
    path: "/policies/{org}/{policy_name}",
    tag,
    summary: "Get a policy",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The policy", PolicyResponse) },
  }),
  attach_policy_to_env: endpoint({
    method: "POST",
    path: "/environments/{org}/{env_name}/policies",
    tag: "Environments",
    summary: "Attach policies to an environment",
    description:
      "What runs there is judged again at once, and the outcome is a new snapshot. Attaching what is attached changes nothing.",
    access: organizationRoleOr("member", mayNotAttach),
    body: { kind: "json", schema: AttachPolicies },
    responses: { 200: okResponse },
  }),
  detach_policy_from_env: endpoint({
    method: "DELETE",
    path: "/environments/{org}/{env_name}/policies",
    tag: "Environments",
    summary: "Detach policies from an environment",
    description:
      "What runs there is judged again at once; without any policy left its compliance is unknown. Detaching what is not " +
      "attached changes nothing.",
    access: organizationRoleOr("member", mayNotDetach),
    recentSignIn: false,
    body: { kind: "json", schema: AttachPolicies },
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
