import { z } from "zod";

import { organizationRole } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  choiceParameter,
  integerParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

/** One write: who did what to which resource, when. Entries are never changed or removed. */
const AuditEntry = z
  .object({
    /** Counts up from 1 without gaps within the organization. */
    seq: z.int(),
    occurred_at: Timestamp,
    actor: z.string(),
    actor_kind: z.enum(["user", "service_account", "integration", "system"]),
    actor_id: z.string().nullable(),
    /** The key that was used. */
    api_key_id: z.string().nullable(),
    /** Operation id, command or job. */
    action: z.string(),
    resource_type: z.string(),
    resource: z.string(),
    request_id: z.string(),
    /** Hex SHA-256 of the request's body; null when it had none. */
    request_digest: z.string().nullable(),
  })
  .meta({ id: "AuditLogEntry" });

/** A page of the audit log. */
const AuditLog = z
  .object({
    ...pageOfList,
    entries: z.array(AuditEntry),
  })
  .meta({ id: "AuditLog" });

/** Filters, order and page of the audit log. */
const AuditLogQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(15),
  actor: textParameter().optional(),
  action: textParameter().optional(),
  resource_type: textParameter().optional(),
  resource: textParameter().optional(),
  from_timestamp: timestampParameter().optional(),
  to_timestamp: timestampParameter().optional(),
  sort_direction: choiceParameter(["asc", "desc"]).default("desc"),
});

export const auditEndpoints = {
  list_organization_audit_log: endpoint({
    method: "GET",
    path: "/audit-log/{org}",
    tag: "Audit Log",
    summary: "List every write to an organization",
    description: "Filters match exactly and combine with AND; the time bounds are inclusive.",
    access: organizationRole("admin"),
    query: AuditLogQuery,
    responses: {
      200: withCsv(json("A page of entries", AuditLog), "audit-log", [
        "seq",
        time("occurred_at"),
        "actor",
        "actor_kind",
        "actor_id",
        "api_key_id",
        "action",
        "resource_type",
        "resource",
        "request_id",
        "request_digest",
      ]),
    },
  }),
} satisfies Endpoints;
