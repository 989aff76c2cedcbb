import { z } from "zod";

import { environmentSorts, environmentTypes, sortDirections } from "../domain/environments.ts";
import { environmentNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole, organizationRoleOr } from "./access.ts";
import { json, LinksBody, nameText, Ok, okResponse, Timestamp } from "./common.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf } from "./lists.ts";
import {
  booleanParameter,
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
} from "./parameters.ts";

/** An environment as it is read and listed (interface spec 2). */
export const Environment = z
  .object({
    org: z.string(),
    name: z.string(),
    type: z.enum(environmentTypes),
    description: z.string(),
    last_modified_at: Timestamp,
    last_reported_at: Timestamp.nullish(),
    last_changed_at: Timestamp.nullish(),
    /** Compliant or not; null while that is not known. */
    state: z.boolean().nullish(),
    /** Deprecated. */
    include_scaling: z.literal(false),
    tags: z.record(z.string(), z.string()),
    policies: z.array(z.string()).nullish(),
    /** Members of a logical environment in the order given; null for a physical one. */
    included_environments: z.array(z.string()).nullish(),
    archived_at: Timestamp.nullish(),
    /** Display name, or `Unknown` once that user is deleted. */
    archived_by: z.string().nullish(),
  })
  .meta({ id: "GetEnvironmentResponse" });

/** One page of the list (interface spec 2). */
export const EnvironmentList = z
  .strictObject({
    ...pageOfList,
    _links: LinksBody.nullish(),
    environments: z.array(Environment),
  })
  .meta({ id: "EnvironmentListResponse" });

const description = z.string().max(10_000);
const ignoredSwitch = z.boolean().nullish().meta({ deprecated: true });
const policies = listOf(z.string(), { max: 1000 }).nullish();
const includedEnvironments = listOf(z.string(), { max: 10_000 }).nullish();

/** Body of a create or update. Null stands for absent. */
export const CreateEnvironment = z
  .strictObject({
    name: nameText(environmentNamePattern),
    type: z.enum(environmentTypes),
    /** Empty keeps the one there is. */
    description,
    include_scaling: ignoredSwitch,
    require_provenance: ignoredSwitch,
    /** Logical environments only: replaces the members. */
    included_environments: includedEnvironments,
    policies,
  })
  .meta({ id: "CreateEnvironmentPutInput" });

/** Body of a change of single settings. What is absent stays. */
export const UpdateEnvironment = z
  .strictObject({
    /** Empty clears it. */
    description: description.nullish(),
    include_scaling: ignoredSwitch,
    included_environments: includedEnvironments,
    policies,
    /** Null moves it to the root of the tree of spaces. */
    space_id: z.string().nullable().optional(),
  })
  .meta({ id: "UpdateEnvironmentPatchInput" });

/** Body of a rename. */
export const RenameEnvironment = z
  .strictObject({ new_name: nameText(environmentNamePattern) })
  .meta({ id: "RenameEnvironmentPutInput" });

/** Body of a join. */
export const JoinEnvironment = z
  .strictObject({ physical_env_name: z.string() })
  .meta({ id: "JoinPhysicalToLogicalPutInput" });

/** Filters, order and paging of the list (interface spec 4.1). */
export const EnvironmentListQuery = z.object({
  page: pageParameter().optional(),
  per_page: integerParameter({ min: 1, max: 50 }).optional(),
  sort: choiceParameter(environmentSorts).default("name"),
  sort_direction: choiceParameter(sortDirections).default("asc"),
  space_id: listParameter(textParameter()).optional(),
  name: textParameter().optional(),
  type: listParameter(choiceParameter(environmentTypes)).optional(),
  tag: listParameter(textParameter()).optional(),
  archived: booleanParameter().default(false),
  /** Only those whose reporter has been silent for too long, or only the others (ours). */
  stale: booleanParameter().optional(),
});

const tag = "Environments";
const doneResponse = { 200: okResponse } as const;

export const environmentEndpoints = {
  list_envs: endpoint({
    method: "GET",
    path: "/environments/{org}",
    tag,
    summary: "List environments",
    description:
      "All environments that match, as a bare array; with `page` or `per_page`, one page of them as an object, " +
      "15 a page unless said otherwise. `name` is part of the name in any case, a tag is `key` or `key:value`, a space " +
      "includes the spaces below it. With `stale` true they are those whose reporter has been silent for too long. `type`, `tag` and `space_id` may be repeated: any of the values will do. Different " +
      "filters combine with AND.",
    access: organizationReader,
    query: EnvironmentListQuery,
    responses: { 200: json("The environments", z.union([EnvironmentList, z.array(Environment)])) },
  }),
  create_env: endpoint({
    method: "PUT",
    path: "/environments/{org}",
    tag,
    summary: "Create or update an environment",
    access: organizationRole("snapshotter"),
    body: { kind: "json", schema: CreateEnvironment },
    responses: { 201: json("Created or updated", Ok) },
  }),
  get_environment: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}",
    tag,
    summary: "Get an environment",
    access: organizationReader,
    responses: { 200: json("The environment", Environment) },
  }),
  update_env: endpoint({
    method: "PATCH",
    path: "/environments/{org}/{env_name}",
    tag,
    summary: "Change single settings of an environment",
    access: organizationRole("member"),
    body: { kind: "json", schema: UpdateEnvironment },
    responses: doneResponse,
  }),
  rename_environment: endpoint({
    method: "PUT",
    path: "/environments/{org}/{env_name}/rename",
    tag,
    summary: "Rename an environment",
    description: "The old name keeps working until another environment takes it.",
    access: organizationRole("member"),
    body: { kind: "json", schema: RenameEnvironment },
    responses: doneResponse,
  }),
  archive_env: endpoint({
    method: "PUT",
    path: "/environments/{org}/{env_name}/archive",
    tag,
    summary: "Archive an environment",
    description: "Keeps its records, frees its name, takes it out of logical environments and actions.",
    access: organizationRoleOr("member", "User does not have permission to archive environment"),
    responses: doneResponse,
  }),
  join_physical_to_logical: endpoint({
    method: "PUT",
    path: "/environments/{org}/{env_name}/join",
    tag,
    summary: "Put a physical environment into a logical one",
    access: organizationRole("member"),
    body: { kind: "json", schema: JoinEnvironment },
    responses: doneResponse,
  }),
} satisfies Endpoints;
