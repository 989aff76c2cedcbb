import type { auditEndpoints } from "../../contract/audit.ts";
import { pageHead } from "../../lib/links.ts";
import type { Handlers } from "../call.ts";
import { countAuditEntries, listAuditEntries } from "./store.ts";

export const auditHandlers: Handlers<typeof auditEndpoints> = {
  list_organization_audit_log: async (deps, call) => {
    const total_count = await countAuditEntries(deps.db.query, call.org.id, call.query);
    const entries = await listAuditEntries(deps.db.query, call.org.id, call.query, {
      ...call.query,
      total: total_count,
    });
    return { status: 200, body: { ...pageHead(call.url, call.query, total_count), entries } };
  },
};
