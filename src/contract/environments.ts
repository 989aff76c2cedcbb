import { z } from "zod";

import {
  environmentSorts,
  environmentStates,
  environmentTypes,
  sortDirections,
} from "../domain/environments.ts";
import { environmentNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole, organizationRoleOr } from "./access.ts";
import { json, LinksBody, nameText, Ok, okResponse, Timestamp } from "./common.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf } from "./lists.ts";
import {
  booleanParameter,
  choiceParameter,
  commaListParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
} from "./parameters.ts";

/** An environment as it is read and listed (interface spec 2). */
const Environment = z
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
    /** Deprecated; always false. */
    include_scaling: z.literal(false),
    tags: z.record(z.string(), z.string()),
    policies: z.array(z.string()).nullish(),
    /** Members of a logical environment in the order given; null for a physical one. */
    included_environments: z.array(z.string()).nullish(),
    archived_at: Timestamp.nullish(),
    /** Display name, or `Unknown` once that user is deleted. */
    archived_by: z.string().nullish(),
    /** What follows only with `include=summary`. Internal id, as events of the environment name it. */
    id: z.string().optional(),
    /** Null at the root of the tree of spaces. */
    space_id: z.string().nullable().optional(),
    /** Whether its reporter has been silent for too long. */
    is_stale: z.boolean().optional(),
    stale_since: Timestamp.nullable().optional(),
    snapshot_count: z.int().optional(),
    /** Of the latest snapshot; null before the first one. */
    artifact_compliance_count: z
      .object({ true: z.int(), false: z.int(), null: z.int() })
      .nullable()
      .optional(),
  })
  .meta({ id: "GetEnvironmentResponse" });

/** One page of the list (interface spec 2). */
const EnvironmentList = z
  .strictObject({
    ...pageOfList,
    _links: LinksBody.nullish(),
    environments: z.array(Environment),
  })
  .meta({ id: "EnvironmentListResponse" });

const description = z.string().max(10_000);
/** A switch of older clients, which is ignored. */
const ignoredSwitch = z.boolean().nullish().meta({ deprecated: true });
const policies = listOf(z.string(), { max: 1000 }).nullish();
const includedEnvironments = listOf(z.string(), { max: 10_000 }).nullish();

/** Body of a create or update. Null stands for absent. */
const CreateEnvironment = z
  .strictObject({
    name: nameText(environmentNamePattern),
    type: z.enum(environmentTypes),
    /** Empty keeps the present description. */
    description,
    include_scaling: ignoredSwitch,
    require_provenance: ignoredSwitch,
    /** Logical environments only: replaces the members. */
    included_environments: includedEnvironments,
    policies,
  })
  .meta({ id: "CreateEnvironmentPutInput" });

/** Body of an update of single settings. What is absent stays. */
const UpdateEnvironment = z
  .strictObject({
    /** Empty clears the description. */
    description: description.nullish(),
    include_scaling: ignoredSwitch,
    included_environments: includedEnvironments,
    policies,
    /** Null moves it to the root of the tree of spaces. */
    space_id: z.string().nullable().optional(),
  })
  .meta({ id: "UpdateEnvironmentPatchInput" });

/** Body of a rename. */
const RenameEnvironment = z
  .strictObject({ new_name: nameText(environmentNamePattern) })
  .meta({ id: "RenameEnvironmentPutInput" });

/** Body of a request to put a physical environment into a logical one. */
const JoinEnvironment = z
  .strictObject({ physical_env_name: z.string() })
  .meta({ id: "JoinPhysicalToLogicalPutInput" });

/** Query of the list: filters, order and page (interface spec 4.1). */
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
  /** Only those whose reporter has been silent for too long, or only the others (an extension of the public interface). */
  stale: booleanParameter().optional(),
  /** The following are extensions, too. Any of these states; what never was reported on is unknown as well. */
  state: listParameter(choiceParameter(environmentStates)).optional(),
  /** Names of policies; those that any of them is attached to. */
  policy: listParameter(textParameter()).optional(),
  include: commaListParameter(["summary"]).optional(),
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
      "includes the spaces below it. With `stale` true they are those whose reporter has been silent for too long. `state` is a verdict, or `NEVER-REPORTED` for those that a reporter belongs to and has not reported on; `policy` the name of one that is attached. " +
      "`type`, `tag`, `space_id`, `state` and `policy` may be repeated: any of the values will do. Different " +
      "filters combine with AND. With `include=summary` each tells its id, its space, its silence and the counts of its latest snapshot.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
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
    description:
      "With `include=summary` it tells its id, its space, its silence and the counts of its latest snapshot, too, as in the list.",
    access: organizationReader,
    kept: true,
    query: z.object({ include: commaListParameter(["summary"]).optional() }),
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
  unarchive_env: endpoint({
    method: "PUT",
    path: "/environments/{org}/{env_name}/unarchive",
    tag,
    summary: "Take an environment out of the archive",
    description:
      "It gets back the name it had, unless another environment has that now, and what runs there is judged again. Named by its " +
      "archived name, which keeps leading to it, or by the name it had: the one archived last is meant then. An " +
      "environment that is not archived stays as it is. Logical environments and actions stay without it.",
    access: organizationRoleOr("member", "User does not have permission to unarchive environment"),
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
