import { z } from "zod";

import { attestationNamePattern, flowNamePattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { json, nameText, Ok, okResponse, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf } from "./lists.ts";
import { optionalPaging, PaginationInfo } from "./pagination.ts";
import { maxUrlLength } from "./reports.ts";
import { booleanParameter, choiceParameter, listParameter, textParameter } from "./parameters.ts";

const megabyte = 1024 * 1024;

/** The YAML file of flows and trails (contract flows 1.2). */
export const templateFile = {
  template_file: { maxBytes: 10 * megabyte, tooLarge: "File size exceeds 10MB limit" },
};

const visibility = z.enum(["public", "private"]);

/** `data_json` of a flow. The description is replaced; `visibility` left out means private. Other keys are ignored. */
export const CreateFlow = z
  .object({
    name: nameText(flowNamePattern),
    description: z.string(),
    visibility: visibility.nullish(),
  })
  .meta({ id: "CreateFlow" });

/** A flow as older clients send it: the template is a list of names (contract flows 3.2). */
export const LegacyCreateFlow = z
  .object({
    name: nameText(flowNamePattern),
    description: z.string(),
    visibility: visibility.nullish(),
    template: listOf(nameText(attestationNamePattern), { max: 1000 }).nullish(),
    /** Need not be a URL. Empty: the repo of the latest artifact again; absent or null: as before. */
    repo_url: z.string().max(maxUrlLength).nullish(),
  })
  .meta({ id: "LegacyCreateFlow" });

/** The name a flow is to have. */
export const RenameFlow = z.object({ new_name: nameText(flowNamePattern) }).meta({ id: "RenameFlow" });

/** The space a flow is to be in; null is the root. */
export const UpdateFlowPatchInput = z
  .object({ space_id: z.string().nullable() })
  .meta({ id: "UpdateFlowPatchInput" });

/** A process, whose runs are trails (contract flows 3.3). */
export const FlowGet = z
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
export type FlowGet = z.output<typeof FlowGet>;

/** A flow with what happened in it last. */
export const FlowList = FlowGet.extend({
  /** When its latest trail was last reported to; null without trails. */
  latest_activity_at: Timestamp.nullable(),
  /** State of that trail. */
  latest_state: z.enum(["COMPLIANT", "NON-COMPLIANT", "INCOMPLETE"]).nullable(),
}).meta({ id: "FlowList" });
export type FlowList = z.output<typeof FlowList>;

/** One page of flows, when `per_page` is given. */
export const FlowListPage = z
  .object({ data: z.array(FlowList), pagination: PaginationInfo })
  .meta({ id: "FlowListPage" });

export const FlowsQuery = z.object({
  search_by_name: textParameter().optional(),
  case_sensitive: booleanParameter().default(true),
  ...optionalPaging,
  space_id: listParameter(textParameter()),
  tag: listParameter(textParameter()),
  sort: choiceParameter(["name", "latest_activity"]).default("name"),
  sort_direction: choiceParameter(["asc", "desc"]).default("asc"),
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
      "`key` or `key:value`.",
    access: organizationReader,
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
} satisfies Endpoints;
