import { z } from "zod";

import { organizationRole, organizationRoleUnbound } from "./access.ts";
import { json, okResponse, Timestamp } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";
import { RoleName } from "./role.ts";
import { SessionListQuery, sessionList } from "./sessions.ts";

/** A user with a role in the organization. */
const Member = z
  .object({
    user: z.string(),
    /** Empty when the user has none. */
    display_name: z.string(),
    role: RoleName,
    /** Who looks after the membership: `app` for people, `idp` for the groups of the sign-in provider, which change and remove it. */
    source: z.enum(["app", "idp"]),
    /** Since when they are a member, in whatever role. */
    created_at: Timestamp,
    /** Whether their keys do not work at the moment. */
    disabled: z.boolean(),
  })
  .meta({ id: "Member" });

/** Body of adding a member, or changing a role. */
const MemberPutInput = z.object({ role: RoleName }).meta({ id: "MemberPutInput" });

/** One change of a membership. */
const MembershipEvent = z
  .object({
    when: Timestamp,
    /** Login name of the user concerned. */
    user: z.string(),
    /** Null once removed. */
    role: RoleName.nullable(),
    /** Null when newly added. */
    previous_role: RoleName.nullable(),
    event_type: z.enum(["added", "changed", "removed"]),
    changed_by: z.string(),
    /** Where the change was made: `app` for this interface, `script` for the command line. */
    source: z.string(),
  })
  .meta({ id: "MembershipEvent" });

/** A page of changes of memberships. */
const MembershipLog = z
  .object({
    ...pageOfList,
    entries: z.array(MembershipEvent),
  })
  .meta({ id: "MembershipAuditLog" });

/** Filters, order and page of the changes. */
const MembershipLogQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(15),
  search: textParameter().optional(),
  event_type: choiceParameter(["added", "changed", "removed"]).optional(),
  role: listParameter(textParameter()),
  source: listParameter(textParameter()),
  from_timestamp: timestampParameter().optional(),
  to_timestamp: timestampParameter().optional(),
  sort_by: choiceParameter(["when", "user", "role", "changed_by", "source"]).default("when"),
  sort_dir: choiceParameter(["asc", "desc"]).default("desc"),
});

export const memberEndpoints = {
  list_members: endpoint({
    method: "GET",
    path: "/members/{org}",
    tag: "Members",
    summary: "List the members of an organization",
    access: organizationRole("reader"),
    responses: { 200: json("The members by name", z.array(Member)) },
  }),
  put_member: endpoint({
    method: "PUT",
    path: "/members/{org}/{user}",
    tag: "Members",
    summary: "Add a member, or change a member's role",
    description: "The last admin keeps the role.",
    access: organizationRoleUnbound("admin"),
    recentSignIn: true,
    body: { kind: "json", schema: MemberPutInput },
    responses: { 200: json("A member already; has this role now", Member), 201: json("Added", Member) },
  }),
  delete_member: endpoint({
    method: "DELETE",
    path: "/members/{org}/{user}",
    tag: "Members",
    summary: "Remove a member",
    description: "The last admin stays. Service accounts that the member made stay, too.",
    access: organizationRole("admin"),
    responses: { 200: okResponse },
  }),
  list_member_sessions: endpoint({
    method: "GET",
    path: "/members/{org}/{user}/sessions",
    tag: "Members",
    summary: "List the sessions of a member",
    access: organizationRole("admin"),
    query: SessionListQuery,
    responses: { 200: sessionList },
  }),
  delete_member_sessions: endpoint({
    method: "DELETE",
    path: "/members/{org}/{user}/sessions",
    tag: "Members",
    summary: "End all sessions of a member",
    description: "Also those in which they work for other organizations. Their keys go on working.",
    access: organizationRole("admin"),
    recentSignIn: false,
    responses: { 200: okResponse },
  }),
  list_audit_log: endpoint({
    method: "GET",
    path: "/membership-audit-log/{org}",
    tag: "Audit Log",
    summary: "List changes of members and roles",
    description: "`search` finds part of the name of the user concerned or of who made the change.",
    access: organizationRole("admin"),
    query: MembershipLogQuery,
    responses: {
      200: withCsv(json("A page of changes", MembershipLog), "membership-audit-log", [
        time("when"),
        "user",
        "event_type",
        "role",
        "previous_role",
        "changed_by",
        "source",
      ]),
    },
  }),
} satisfies Endpoints;
