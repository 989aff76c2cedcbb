import { instanceAdmin } from "./access.ts";
import {
  auditExportDescription,
  AuditExportQuery,
  auditExportResponses,
  AuditLog,
  AuditLogQuery,
} from "./audit.ts";
import { json } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

export const instanceAuditEndpoints = {
  list_instance_audit_log: endpoint({
    method: "GET",
    path: "/instance/audit-log",
    tag: "Audit Log",
    summary: "List what was recorded of the installation",
    description:
      "Sign-ins, backups and whatever else belongs to no organization. Filters match exactly and combine with AND; the time bounds are inclusive.",
    access: instanceAdmin,
    query: AuditLogQuery,
    responses: { 200: json("A page of entries", AuditLog) },
  }),
  export_instance_audit_log: endpoint({
    method: "GET",
    path: "/instance/audit-log/export",
    tag: "Audit Log",
    summary: "Export what was recorded of the installation",
    description: auditExportDescription,
    access: instanceAdmin,
    query: AuditExportQuery,
    responses: auditExportResponses,
  }),
} satisfies Endpoints;
