import { z } from "zod";

import { auditMediaTypes } from "../domain/audit-forms/lines.ts";
import { auditFormats } from "../domain/audit-forms/record.ts";
import { organizationRole } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  booleanParameter,
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
    /** Who sent the request; null for what no request did, and for entries older than 400 days. */
    address: z.string().nullable(),
    /** What else there is to say of it. */
    details: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: "AuditLogEntry" });

/** A page of the audit log. */
export const AuditLog = z
  .object({
    ...pageOfList,
    entries: z.array(AuditEntry),
  })
  .meta({ id: "AuditLog" });

/** Filters, order and page of the audit log. */
export const AuditLogQuery = z.object({
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

const largestNumber = Number.MAX_SAFE_INTEGER;

/** Which entries are given out, in which form. */
export const AuditExportQuery = z.object({
  format: choiceParameter(auditFormats).default("jsonl"),
  from_seq: integerParameter({ min: 1, max: largestNumber }).default(1),
  to_seq: integerParameter({ min: 1, max: largestNumber }).optional(),
  follow: booleanParameter().default(false),
});

export const auditExportDescription =
  "Entries as lines, in the order of their numbers: as JSON (`jsonl`), in the Common Event Format (`cef`), or as events of OCSF 1.3.0 (`ocsf`). " +
  "What breaks off goes on with `from_seq`, the number after the last one received. It ends with the entry that was the last one when it began; " +
  "with `follow` it goes on for 60 seconds after that, with whatever is recorded meanwhile, as long as the caller may export the log. Two exports of a log can be under way at a time. That it is given out is recorded in it before, as `export`; with `follow` once an hour for a key or session.";

/** The lines of an export; their media type follows from the format. */
export const auditExportResponses = {
  200: {
    description: "The entries, a line each",
    contentType: [...new Set(Object.values(auditMediaTypes))],
  },
} as const;

export const auditEndpoints = {
  export_organization_audit_log: endpoint({
    method: "GET",
    path: "/audit-log/{org}/export",
    tag: "Audit Log",
    summary: "Export the audit log of an organization",
    description: auditExportDescription,
    access: organizationRole("admin"),
    query: AuditExportQuery,
    responses: auditExportResponses,
  }),

  list_organization_audit_log: endpoint({
    method: "GET",
    path: "/audit-log/{org}",
    tag: "Audit Log",
    summary: "List every write to an organization",
    description:
      "Filters match exactly and combine with AND; the time bounds are inclusive. That it is given out as CSV is recorded in it, as `export`.",
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
        "address",
      ]),
    },
  }),
} satisfies Endpoints;
