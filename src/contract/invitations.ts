import { z } from "zod";

import { displayNameLength, organizationNameLength, organizationNamePattern } from "../domain/names.ts";
import { organizationRole, organizationRoleUnbound, siteAccess } from "./access.ts";
import { json, okResponse, Timestamp } from "./common.ts";
import { CurrentUser } from "./current-user.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { hidingInput } from "./hidden-input.ts";
import { PaginationInfo } from "./pagination.ts";
import { integerParameter, pageParameter } from "./parameters.ts";
import { RoleName } from "./role.ts";

/** Somebody who is asked to become a user and a member. */
const Invitation = z
  .object({
    id: z.string(),
    /** The name they will have. */
    user: z.string(),
    /** To whom the link is to be given, for those who read the list; empty when nobody said. It does not become the user's. */
    email: z.string(),
    role: RoleName,
    invited_by: z.string(),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: "Invitation" });

/** A new invitation, this once with what accepts it. */
const CreatedInvitation = Invitation.extend({
  token: z.string(),
  /** A page of this server that accepts it; to be passed on in private. */
  link: z.string(),
}).meta({ id: "CreatedInvitation" });

const InvitationPostInput = z
  .strictObject({
    user: z
      .string()
      .min(organizationNameLength.min)
      .max(organizationNameLength.max)
      .regex(organizationNamePattern),
    email: z.email().max(320).nullish(),
    role: RoleName,
  })
  .meta({ id: "InvitationPostInput" });

const InvitationAcceptInput = hidingInput(
  z.strictObject({
    token: z.string().min(1).max(512),
    display_name: z.string().max(displayNameLength).nullish(),
  }),
  ["display_name"],
).meta({ id: "InvitationAcceptInput" });

export const invitationEndpoints = {
  create_invitation: endpoint({
    method: "POST",
    path: "/members/{org}/invitations",
    tag: "Members",
    summary: "Invite somebody who is no user yet",
    description:
      "Answers a link that makes them a user with this name and role, once, within 7 days, while who invited them is an admin. Another invitation of the same name takes the place of the one before. The mail address says to whom the link is given, and does not become the user's. Who is a user is not invited: make them members with `PUT /members/{org}/{user}`. Where everybody has to sign in at the provider (`WAYBILL_OIDC_REQUIRE`), nobody is invited: 403.",
    access: organizationRoleUnbound("admin"),
    recentSignIn: true,
    body: { kind: "json", schema: InvitationPostInput },
    responses: { 201: json("The invitation, with its link", CreatedInvitation) },
  }),
  list_invitations: endpoint({
    method: "GET",
    path: "/members/{org}/invitations",
    tag: "Members",
    summary: "List the open invitations of an organization",
    access: organizationRole("admin"),
    query: z.object({
      page: pageParameter().default(1),
      per_page: integerParameter({ min: 1, max: 100 }).default(20),
    }),
    responses: {
      200: json(
        "Invitations that can be accepted, the latest first; there are at most 100",
        z.object({ data: z.array(Invitation), pagination: PaginationInfo }),
      ),
    },
  }),
  delete_invitation: endpoint({
    method: "DELETE",
    path: "/members/{org}/invitations/{invitation_id}",
    tag: "Members",
    summary: "Take an invitation back",
    access: organizationRole("admin"),
    recentSignIn: false,
    responses: { 200: okResponse },
  }),
  accept_invitation: endpoint({
    method: "POST",
    path: "/invitations/accept",
    tag: "Members",
    summary: "Accept an invitation",
    description:
      "Makes the user, with a personal organization, and the membership, and signs them in. Failures are answered as those of signing in.",
    access: siteAccess,
    body: { kind: "json", schema: InvitationAcceptInput },
    responses: { 201: json("Signed in; the header Set-Cookie has the session", CurrentUser) },
  }),
} satisfies Endpoints;
