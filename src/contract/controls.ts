import { z } from "zod";

import { controlLimits, controlStatuses, isReservedControlIdentifier } from "../domain/controls.ts";
import { sortDirections } from "../domain/environments.ts";
import { controlIdentifierPattern } from "../domain/names.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { indexedText, json, LinksBody, Timestamp } from "./common.ts";
import { controlCoverageEndpoints } from "./control-coverage.ts";
import { controlDecisionEndpoints } from "./control-decisions.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { mapOf } from "./lists.ts";
import {
  booleanParameter,
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
} from "./parameters.ts";

/** Fields of a version of a control; `links` maps names to addresses. */
const definition = {
  identifier: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  version: z.int(),
  archived: z.boolean(),
  created_by: z.string(),
  created_at: Timestamp,
  links: z.record(z.string(), z.string()),
};

/** A governance requirement (contract flows 11.1). */
const Control = z
  .object({ ...definition, tags: z.record(z.string(), z.string()) })
  .meta({ id: "ControlResponse" });

/** One control, with the names of the policies whose latest version asks for it. */
const ControlDetail = Control.extend({ policies_referencing: z.array(z.string()) }).meta({
  id: "ControlDetailResponse",
});

/** An entry of a control's history: the control as it was from then on, and what was done, by whom and when. */
const ControlVersion = z
  .object({ ...definition, status: z.enum(controlStatuses) })
  .meta({ id: "ControlVersionResponse" });

/** A page of controls. */
const ControlListResponse = z
  .strictObject({ ...pageOfList, controls: z.array(Control) })
  .meta({ id: "ControlListResponse" });

/** A page of a control's history. */
const ControlVersionListResponse = z
  .strictObject({ ...pageOfList, versions: z.array(ControlVersion) })
  .meta({ id: "ControlVersionListResponse" });

/** Every key and value that some control is tagged with. */
const ControlTagChoicesResponse = z
  .object({ tag_choices: z.array(z.object({ key: z.string(), value: z.string() })), _links: LinksBody })
  .meta({ id: "ControlTagChoicesResponse" });

const name = indexedText().min(1);
const description = z.string().max(controlLimits.description).nullish();
const links = mapOf(z.string().min(1).max(controlLimits.linkName), z.string().max(controlLimits.link))
  .refine(
    (value) => Object.keys(value).length <= controlLimits.links,
    `Dictionary should have at most ${controlLimits.links} items`,
  )
  .nullish();

/** Body of a new control. */
const CreateControl = z
  .strictObject({
    identifier: z
      .string()
      .max(controlLimits.identifier)
      .regex(controlIdentifierPattern)
      .refine((text) => !isReservedControlIdentifier(text), "Identifier is reserved"),
    name,
    description,
    links,
  })
  .meta({ id: "ControlPostInput" });

/** Body of an edit. What is absent or null stays; `links` replaces all there were. */
const EditControl = z
  .strictObject({ name: name.nullish(), description, links })
  .meta({ id: "ControlPutInput" });

const paging = {
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(15),
};

/** Filters, order and page of the controls. */
export const ControlsQuery = z.object({
  ...paging,
  sort_direction: choiceParameter(sortDirections).default("asc"),
  search: textParameter().optional(),
  tag: listParameter(textParameter()),
  archived: booleanParameter().default(false),
});
export type ControlsQuery = z.output<typeof ControlsQuery>;

const tag = "Controls";
const asItIsNow = { 200: json("The control as it is now", Control) };

export const controlEndpoints = {
  list_controls: endpoint({
    method: "GET",
    path: "/controls/{org}",
    tag,
    summary: "List controls",
    description:
      "Sorted by name. `search` is part of the name or the identifier, in any case. `tag` is `key` or `key:value`; any of several will do. `archived` lists the archived ones instead of the others.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: ControlsQuery,
    responses: { 200: json("A page of controls", ControlListResponse) },
  }),
  post_control: endpoint({
    method: "POST",
    path: "/controls/{org}",
    tag,
    summary: "Create a control",
    description:
      "The identifier is for good: no other control can have it, not even once this one is archived.",
    access: organizationRole("admin"),
    body: { kind: "json", schema: CreateControl },
    responses: {
      201: json("The new control", Control),
    },
  }),
  list_control_tag_choices: endpoint({
    method: "GET",
    path: "/controls/{org}/tags",
    tag,
    summary: "List the tags that controls have",
    description:
      "Distinct pairs over all controls of the organization, archived ones included, sorted by key, then by value.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    responses: { 200: json("The tags", ControlTagChoicesResponse) },
  }),
  get_control: endpoint({
    method: "GET",
    path: "/controls/{org}/{identifier}",
    tag,
    summary: "Get a control",
    description: "Archived ones too.",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The control", ControlDetail) },
  }),
  put_control: endpoint({
    method: "PUT",
    path: "/controls/{org}/{identifier}",
    tag,
    summary: "Edit a control",
    description:
      "Makes a new version, also of what stays the same; a body that says nothing changes nothing. An archived control stays archived.",
    access: organizationRole("admin"),
    body: { kind: "json", schema: EditControl },
    responses: asItIsNow,
  }),
  archive_control: endpoint({
    method: "POST",
    path: "/controls/{org}/{identifier}/archive",
    tag,
    summary: "Retire a control",
    description: "An entry in its history, unless it is archived already.",
    access: organizationRole("admin"),
    responses: asItIsNow,
  }),
  unarchive_control: endpoint({
    method: "POST",
    path: "/controls/{org}/{identifier}/unarchive",
    tag,
    summary: "Bring a control back",
    description: "An entry in its history, unless it is not archived.",
    access: organizationRole("admin"),
    responses: asItIsNow,
  }),
  list_control_versions: endpoint({
    method: "GET",
    path: "/controls/{org}/{identifier}/versions",
    tag,
    summary: "List the versions of a control",
    description: "Sorted by version number: creation, edits, archivings and returns.",
    access: organizationReader,
    kept: true,
    query: z.object({ ...paging, sort_direction: choiceParameter(sortDirections).default("desc") }),
    responses: { 200: json("A page of versions", ControlVersionListResponse) },
  }),
  get_control_version: endpoint({
    method: "GET",
    path: "/controls/{org}/{identifier}/versions/{version_number}",
    tag,
    summary: "Get a control as it was at a version",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The version", ControlVersion) },
  }),
  ...controlDecisionEndpoints,
  ...controlCoverageEndpoints,
} satisfies Endpoints;
