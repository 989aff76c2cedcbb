import { addressOfQuestion, byPages, type ExportedList, read } from "../../api/export.ts";
import { pageOfHead } from "../../api/page.ts";
import { type AuditSearch, membershipQuery, writesQuery } from "./queries.ts";

/** The log that is shown, as its filters say. */
export function auditExport(org: string, search: AuditSearch): ExportedList {
  if (search.kind === "members")
    return {
      file: `${org}-membership-audit-log`,
      csv: addressOfQuestion(membershipQuery(org, search)),
      batches: byPages(async (page, signal) => {
        const { data } = await read(membershipQuery(org, { ...search, page }), signal);
        return pageOfHead(data, data.entries);
      }),
    };
  return {
    file: `${org}-audit-log`,
    csv: addressOfQuestion(writesQuery(org, search)),
    batches: byPages(async (page, signal) => {
      const { data } = await read(writesQuery(org, { ...search, page }), signal);
      return pageOfHead(data, data.entries);
    }),
  };
}
