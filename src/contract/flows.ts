import { z } from "zod";

import { complianceStates } from "../domain/compliance/model.ts";
import { attestationNamePattern, flowNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { json, nameText, Ok, okResponse, textFile, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf } from "./lists.ts";
import { optionalPaging, PaginationInfo } from "./pagination.ts";
import { maxUrlLength } from "./reports.ts";
import {
  booleanParameter,
  choiceParameter,
  commaListParameter,
  listParameter,
  textParameter,
} from "./parameters.ts";

/** The form part of a template, the YAML file of flows and trails (contract flows 1.2). */
export const templateFile = { template_file: textFile };

const visibility = z.enum(["public", "private"]);

/** `data_json` of a flow. `visibility` left out means private. Other keys are ignored. */
const CreateFlow = z
  .object({
    name: nameText(flowNamePattern),
    description: z.string(),
    visibility: visibility.nullish(),
  })
  .meta({ id: "CreateFlow" });

/** Body of a flow as older clients send it: the template is a list of names (contract flows 3.2). */
const LegacyCreateFlow = z
  .object({
    name: nameText(flowNamePattern),
    description: z.string(),
    visibility: visibility.nullish(),
    template: listOf(nameText(attestationNamePattern), { max: 1000 }).nullish(),
    /** Need not be a URL. Empty: the repo of the latest artifact again; absent or null: as before. */
    repo_url: z.string().max(maxUrlLength).nullish(),
  })
  .meta({ id: "LegacyCreateFlow" });

/** Body of a rename. */
const RenameFlow = z.object({ new_name: nameText(flowNamePattern) }).meta({ id: "RenameFlow" });

/** Body of a move to another space; null is the root. */
const UpdateFlowPatchInput = z
  .object({ space_id: z.string().nullable() })
  .meta({ id: "UpdateFlowPatchInput" });

/** A flow: a process whose runs are trails (contract flows 3.3). */
const FlowGet = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    visibility,
    /** Name of the organization. */
    org: z.string(),
    /** As uploaded, byte for byte; names joined by blanks when it was given as a list of names. */
    template: z.string(),
    /** What the deprecated way of creating a flow said, else the repo of the latest artifact; empty when unknown. */
    repo_url: z.string(),
    tags: z.record(z.string(), z.string()),
    /** Null: the root. */
    space_id: z.string().nullable(),
    created_at: Timestamp,
    created_by: z.string(),
  })
  .meta({ id: "FlowGet" });
type FlowGet = z.output<typeof FlowGet>;

const trailState = z.enum(complianceStates);

/** A trail of a flow in short. */
const LatestTrail = z
  .object({ name: z.string(), compliance_state: trailState, html_url: z.string() })
  .meta({ id: "FlowLatestTrail" });

/** A flow with its latest activity. */
export const FlowList = FlowGet.extend({
  /** When its latest trail was last reported to; null without trails. */
  latest_activity_at: Timestamp.nullable(),
  /** State of that trail. */
  latest_state: trailState.nullable(),
  /** Its 20 newest trails, newest first; only with `include=latest_trails`. */
  latest_trails: z.array(LatestTrail).optional(),
  /** Of archived ones, of which the latest activity is not known. */
  archived_at: Timestamp.optional(),
  /** The name it had, of archived ones. */
  original_name: z.string().optional(),
}).meta({ id: "FlowList" });
export type FlowList = z.output<typeof FlowList>;

/** One page of flows, when `per_page` is given. */
const FlowListPage = z
  .object({ data: z.array(FlowList), pagination: PaginationInfo })
  .meta({ id: "FlowListPage" });

/** Filters, order and page of the flows. */
export const FlowsQuery = z.object({
  search_by_name: textParameter().optional(),
  case_sensitive: booleanParameter().default(true),
  ...optionalPaging,
  space_id: listParameter(textParameter()),
  tag: listParameter(textParameter()),
  sort: choiceParameter(["name", "latest_activity"]).default("name"),
  sort_direction: choiceParameter(["asc", "desc"]).default("asc"),
  archived: booleanParameter().default(false),
  include: commaListParameter(["latest_trails"]).optional(),
});
export type FlowsQuery = z.output<typeof FlowsQuery>;

const createdOrUpdated = { 200: json("Updated", Ok), 201: json("Created", Ok) };

export const flowEndpoints = {
  get_flows: endpoint({
    method: "GET",
    path: "/flows/{org}",
    tag: "Flows",
    summary: "List flows",
    description:
      "Archived flows are left out. `search_by_name` is a part of the name, and not empty. Without `per_page` the reply is an array of all flows, with it one page. Each of " +
      "`space_id` and `tag` may be repeated: any of the values will do. A space includes the spaces below it. A tag is " +
      "`key` or `key:value`. `archived=true` lists the archived ones instead. `include=latest_trails`, with `per_page` only, " +
      "adds the 20 newest trails of each.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: FlowsQuery,
    responses: { 200: json("The flows", z.union([z.array(FlowList), FlowListPage])) },
  }),
  create_flow: endpoint({
    method: "PUT",
    path: "/flows/{org}",
    tag: "Flows",
    summary: "Create or update a flow with a list of names as its template",
    description:
      "The flow expects one artifact called `artifact`, with an attestation of any type for each of the other names. " +
      "`repo_url` is kept and shown.",
    deprecated: true,
    access: organizationRole("member"),
    body: { kind: "json", schema: LegacyCreateFlow },
    responses: createdOrUpdated,
  }),
  create_flow_with_template: endpoint({
    method: "PUT",
    path: "/flows/{org}/template_file",
    tag: "Flows",
    summary: "Create or update a flow",
    description:
      "Replaces description and template of a flow that exists. Without a file a new flow gets a template that expects " +
      "nothing, and an existing one keeps its own. Trails keep the template they began with.",
    access: organizationRole("member"),
    body: { kind: "multipart", field: "data_json", schema: CreateFlow, files: templateFile },
    responses: createdOrUpdated,
  }),
  get_flow: endpoint({
    method: "GET",
    path: "/flows/{org}/{flow_name}",
    tag: "Flows",
    summary: "Get a flow",
    description: "A renamed flow is found by its old name until another flow takes that.",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The flow", FlowGet) },
  }),
  update_flow: endpoint({
    method: "PATCH",
    path: "/flows/{org}/{flow_name}",
    tag: "Flows",
    summary: "Move a flow to another space",
    access: organizationRole("member"),
    body: { kind: "json", schema: UpdateFlowPatchInput },
    responses: { 200: okResponse },
  }),
  rename_flow: endpoint({
    method: "PUT",
    path: "/flows/{org}/{flow_name}/rename",
    tag: "Flows",
    summary: "Rename a flow",
    access: organizationRole("member"),
    body: { kind: "json", schema: RenameFlow },
    responses: { 200: okResponse },
  }),
  archive_flow: endpoint({
    method: "PUT",
    path: "/flows/{org}/{flow_name}/archive",
    tag: "Flows",
    summary: "Archive a flow",
    description:
      "Renames it to `<name>-archived-at-<Unix seconds>`, under which it stays readable. Its name is free again.",
    access: organizationRole("member"),
    responses: { 200: okResponse },
  }),
  unarchive_flow: endpoint({
    method: "PUT",
    path: "/flows/{org}/{flow_name}/unarchive",
    tag: "Flows",
    summary: "Take a flow out of the archive",
    description:
      "It gets back the name it had, unless another flow has that now. Named by its archived name, which keeps leading to it, or by " +
      "the name it had: the one archived last is meant then. A flow that is not archived stays as it is. Actions " +
      "stay without it.",
    access: organizationRole("member"),
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
