import { addressOfQuestion, byPages, type ExportedList, read } from "../../api/export.ts";
import { addressOf } from "../../api/client.ts";
import { pageOfHead } from "../../api/page.ts";
import { type AuditSearch, membershipQuery, writesQuery } from "./queries.ts";

/** Forms of the whole log, for what watches many systems. */
const forms = [
  ["jsonl", "Whole log as JSON lines"],
  ["cef", "Whole log as CEF"],
  ["ocsf", "Whole log as OCSF"],
] as const;

/** Lists downloads of a whole log, in each form. @param hrefOf address of one. */
export function wholeLog(
  hrefOf: (format: (typeof forms)[number][0]) => string,
): NonNullable<ExportedList["whole"]> {
  return forms.map(([format, words]) => ({ words, href: hrefOf(format) }));
}

/** Exports the log that is shown, as its filters say. */
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
    whole: wholeLog((format) =>
      addressOf("GET /audit-log/{org}/export", { params: { org }, query: { format } }),
    ),
    csv: addressOfQuestion(writesQuery(org, search)),
    batches: byPages(async (page, signal) => {
      const { data } = await read(writesQuery(org, { ...search, page }), signal);
      return pageOfHead(data, data.entries);
    }),
  };
}
