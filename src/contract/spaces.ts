import { z } from "zod";

import { spaceNameLength, spaceNamePattern } from "../domain/spaces.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { json, okResponse, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** A folder in the tree that environments and flows are kept in. */
const Space = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Null at the root. */
    parent_id: z.string().nullable(),
    created_at: Timestamp,
    last_modified_at: Timestamp,
  })
  .meta({ id: "GetSpaceResponse" });

const spaceName = z.string().max(spaceNameLength).regex(spaceNamePattern);

/** Body of a new space. */
const CreateSpace = z
  .strictObject({ name: spaceName, parent_id: z.string().nullish() })
  .meta({ id: "SpacePostInput" });

/** Body of an update. What is absent stays; a null `parent_id` moves the space to the root. */
const UpdateSpace = z
  .strictObject({ name: spaceName.optional(), parent_id: z.string().nullable().optional() })
  .meta({ id: "SpacePatchInput" });

const tag = "Spaces";

export const spaceEndpoints = {
  list_spaces: endpoint({
    method: "GET",
    path: "/spaces/{org}",
    tag,
    summary: "List spaces",
    description: "All of them in one flat list; `parent_id` makes the tree.",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The spaces, by name", z.array(Space)) },
  }),
  create_space: endpoint({
    method: "POST",
    path: "/spaces/{org}",
    tag,
    summary: "Create a space",
    access: organizationRole("admin"),
    body: { kind: "json", schema: CreateSpace },
    responses: { 201: json("The new space", Space) },
  }),
  update_space: endpoint({
    method: "PATCH",
    path: "/spaces/{org}/{space_id}",
    tag,
    summary: "Rename or move a space",
    access: organizationRole("admin"),
    body: { kind: "json", schema: UpdateSpace },
    responses: { 200: json("The space as it is now", Space) },
  }),
  delete_space: endpoint({
    method: "DELETE",
    path: "/spaces/{org}/{space_id}",
    tag,
    summary: "Delete an empty space",
    description: "Archived environments and flows do not count; they move to the root.",
    access: organizationRole("admin"),
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
