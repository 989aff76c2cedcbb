import { z } from "zod";

import {
  displayNameLength,
  organizationDescriptionLength,
  organizationNameLength,
  organizationNamePattern,
} from "../domain/names.ts";
import { anyUser, instanceAdmin, organizationReader, organizationRole } from "./access.ts";
import { indexedText, json, okResponse, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { RoleName } from "./role.ts";

/** An organization: the owner of everything else, and the boundary of access. */
const Organization = z
  .object({
    name: z.string(),
    kind: z.enum(["personal", "shared"]),
    display_name: z.string(),
    description: z.string(),
    public: z.boolean(),
    /** Always false: there are no experimental features any more. */
    experimental_features_enabled: z.literal(false),
    created_at: Timestamp,
    last_modified_at: Timestamp,
  })
  .meta({ id: "GetOrganization" });

/** One of the caller's organizations, with the caller's role there. */
const OwnOrganization = Organization.extend({ role: RoleName }).meta({ id: "OwnOrganization" });

const DisplayName = z.string().max(displayNameLength);
const Description = z.string().max(organizationDescriptionLength);

/** Body of a new shared organization. */
const OrganizationPostInput = z
  .object({
    name: z
      .string()
      .min(organizationNameLength.min)
      .max(organizationNameLength.max)
      .regex(organizationNamePattern),
    display_name: DisplayName.nullish(),
    description: Description.nullish(),
    /** Name of the user who becomes its first admin; by default the caller. */
    owner: indexedText().nullish(),
    public: z.boolean().nullish(),
  })
  .meta({ id: "OrganizationPostInput" });

/** Body of an update. What is absent stays, and so does a null `public`; null clears a text. */
const OrganizationPatchInput = z
  .object({
    display_name: DisplayName.nullish(),
    description: Description.nullish(),
    public: z.boolean().nullish(),
  })
  .meta({ id: "OrganizationPatchInput" });

/** Body of the withdrawn switch of experimental features. */
const OrganizationUpdate = z
  .object({ experimental_features_enabled: z.boolean() })
  .meta({ id: "OrganizationUpdate" });

export const organizationEndpoints = {
  list_organizations: endpoint({
    method: "GET",
    path: "/organizations",
    tag: "Organizations",
    summary: "List the caller's organizations",
    access: anyUser,
    responses: { 200: json("The organizations by name, with the caller's role", z.array(OwnOrganization)) },
  }),
  create_organization: endpoint({
    method: "POST",
    path: "/organizations",
    tag: "Organizations",
    summary: "Create a shared organization",
    description:
      "Organizations and users share their names, but for `api`, `live`, `ready`, `metrics`, `favicon.ico` and `robots.txt`, which nobody may take. Not idempotent: a taken name is refused, because it may be somebody else's.",
    access: instanceAdmin,
    body: { kind: "json", schema: OrganizationPostInput },
    responses: { 201: json("The new organization", Organization) },
  }),
  get_organization: endpoint({
    method: "GET",
    path: "/organizations/{org}",
    tag: "Organizations",
    summary: "Get an organization",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The organization", Organization) },
  }),
  update_organization: endpoint({
    method: "PATCH",
    path: "/organizations/{org}",
    tag: "Organizations",
    summary: "Change an organization's settings",
    description:
      "Fields that are absent stay as they are; null clears a text. A key that is bound to networks does not make it public.",
    access: organizationRole("admin"),
    body: { kind: "json", schema: OrganizationPatchInput },
    responses: { 200: json("The organization as it is now", Organization) },
  }),
  update_experimental_features: endpoint({
    method: "PUT",
    path: "/organizations/{org}/experimental_features",
    tag: "Organizations",
    summary: "Switch experimental features",
    description: "There are none any more: the call is accepted for older clients and changes nothing.",
    access: organizationRole("admin"),
    body: { kind: "json", schema: OrganizationUpdate },
    responses: { 200: okResponse },
    deprecated: true,
  }),
} satisfies Endpoints;
