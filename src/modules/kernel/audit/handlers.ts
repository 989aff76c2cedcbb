import type { auditEndpoints } from "../../../contract/audit.ts";
import type { instanceAuditEndpoints } from "../../../contract/instance-audit.ts";
import { instanceLogId } from "../../../domain/instance-log.ts";
import { inBatches } from "../../../lib/batches.ts";
import { pageHead } from "../../../lib/links.ts";
import type { CsvHandlers, Handlers } from "../call.ts";
import type { Deps } from "../deps.ts";
import { exportAuditLog, recordExport } from "./export-service.ts";
import {
  type AuditFilter,
  type AuditPage,
  type AuditRow,
  listAuditEntries,
  listAuditEntriesAfter,
  measureAuditLog,
  readLastNumber,
} from "./store.ts";

/** Reads a page of a log. */
async function readPage(deps: Deps, orgId: string, call: { url: string; query: AuditFilter & AuditPage }) {
  const { url, query } = call;
  const extent = await measureAuditLog(deps.db, orgId, query);
  const entries = await listAuditEntries(deps.db, orgId, query, { ...query, ...extent });
  return { ...pageHead(url, query, extent.total), entries };
}

export const auditHandlers: Handlers<typeof auditEndpoints> = {
  export_organization_audit_log: async (deps, { org, actor, authorizeAgain, query }) => ({
    status: 200,
    ...(await exportAuditLog(deps, { log: org, actor, authorizeAgain }, query)),
  }),
  list_organization_audit_log: async (deps, call) => ({
    status: 200,
    body: await readPage(deps, call.org.id, call),
  }),
};

export const instanceAuditHandlers: Handlers<typeof instanceAuditEndpoints> = {
  list_instance_audit_log: async (deps, call) => ({
    status: 200,
    body: await readPage(deps, instanceLogId, call),
  }),
  export_instance_audit_log: async (deps, { actor, authorizeAgain, query }) => ({
    status: 200,
    ...(await exportAuditLog(deps, { log: { id: instanceLogId, name: null }, actor, authorizeAgain }, query)),
  }),
};

/** Entries that are read at a time for CSV. */
const batch = 500;

export const auditCsv: CsvHandlers<typeof auditEndpoints> = {
  list_organization_audit_log: async (deps, { org, actor, query }) => {
    const { sort_direction } = query;
    // What is recorded meanwhile is left out, as is that this is given out.
    const head = await readLastNumber(deps.db, org.id);
    const first = sort_direction === "desc" ? head + 1 : undefined;
    const rows = await inBatches<AuditRow>(batch, async (last) => {
      const place = { after: last?.seq ?? first, limit: batch, sort_direction };
      const found = await deps.db.sliced(() => listAuditEntriesAfter(deps.db, org.id, query, place));
      return found.filter(({ seq }) => seq <= head);
    });
    await recordExport(deps, { log: org, actor }, { format: "csv" });
    return rows;
  },
};
