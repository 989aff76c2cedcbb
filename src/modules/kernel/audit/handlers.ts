import type { auditEndpoints } from "../../../contract/audit.ts";
import { inBatches } from "../../../lib/batches.ts";
import { pageHead } from "../../../lib/links.ts";
import type { CsvHandlers, Handlers } from "../call.ts";
import { type AuditRow, countAuditEntries, listAuditEntries, listAuditEntriesAfter } from "./store.ts";

export const auditHandlers: Handlers<typeof auditEndpoints> = {
  list_organization_audit_log: async (deps, call) => {
    const total_count = await countAuditEntries(deps.db, call.org.id, call.query);
    const entries = await listAuditEntries(deps.db, call.org.id, call.query, {
      ...call.query,
      total: total_count,
    });
    return { status: 200, body: { ...pageHead(call.url, call.query, total_count), entries } };
  },
};

/** Entries that are read at a time for CSV. */
const batch = 500;

export const auditCsv: CsvHandlers<typeof auditEndpoints> = {
  list_organization_audit_log: (deps, { org, query }) =>
    inBatches<AuditRow>(batch, (last) => {
      const place = { after: last?.seq, limit: batch, sort_direction: query.sort_direction };
      return deps.db.sliced(() => listAuditEntriesAfter(deps.db, org.id, query, place));
    }),
};
