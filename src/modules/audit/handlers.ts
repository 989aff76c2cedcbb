import type { auditEndpoints } from "../../contract/audit.ts";
import { pageLinks } from "../../lib/links.ts";
import type { Handlers } from "../call.ts";
import { countAuditEntries, listAuditEntries } from "./store.ts";

export const auditHandlers: Handlers<typeof auditEndpoints> = {
  list_organization_audit_log: async (deps, call) => {
    const { page, per_page } = call.query;
    const total_count = await countAuditEntries(deps.db.query, call.org.id, call.query);
    const entries = await listAuditEntries(deps.db.query, call.org.id, call.query, {
      ...call.query,
      total: total_count,
    });
    const total_pages = Math.ceil(total_count / per_page);
    const _links = pageLinks(call.url, page, total_pages);
    return { status: 200, body: { _links, page, per_page, total_pages, total_count, entries } };
  },
};
