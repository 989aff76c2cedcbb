import { z } from "zod";

import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** An organization: the owner of everything else, and the boundary of access. */
export const Organization = z
  .object({
    name: z.string(),
    kind: z.enum(["personal", "shared"]),
    display_name: z.string(),
    description: z.string(),
    public: z.boolean(),
    /** The switch was withdrawn; always false. */
    experimental_features_enabled: z.literal(false),
    created_at: Timestamp,
    last_modified_at: Timestamp,
  })
  .meta({ id: "GetOrganization" });

export const organizationEndpoints = {
  get_organization: endpoint({
    method: "GET",
    path: "/organizations/{org}",
    tag: "Organizations",
    summary: "Get an organization",
    access: organizationReader,
    responses: { 200: json("The organization", Organization) },
  }),
} satisfies Endpoints;
