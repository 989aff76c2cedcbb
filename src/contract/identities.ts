import { z } from "zod";

import { anyUser } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** Who the caller is at a sign-in provider. */
const Identity = z
  .object({
    /** The provider's issuer (OpenID Connect Core, section 2). */
    issuer: z.string(),
    /** What the provider calls them; stays the same when their name or mail address changes. */
    subject: z.string(),
    /** Since when that is known here. */
    created_at: Timestamp,
    /** Null for somebody who was linked by hand and has not signed in there since. */
    last_signed_in_at: Timestamp.nullable(),
  })
  .meta({ id: "Identity" });

export const identityEndpoints = {
  list_user_identities: endpoint({
    method: "GET",
    path: "/user/identities",
    tag: "User",
    summary: "List who the caller is at sign-in providers",
    description: "Empty for service accounts, and for users who never signed in at one.",
    access: anyUser,
    responses: { 200: json("The identities, the oldest first; at most 100", z.array(Identity)) },
  }),
} satisfies Endpoints;
