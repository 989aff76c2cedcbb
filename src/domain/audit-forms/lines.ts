import { cefLine } from "./cef.ts";
import { ocsfEvent } from "./ocsf.ts";
import type { AuditFormat, AuditRecord } from "./record.ts";

/** Media types of the forms. */
export const auditMediaTypes: Record<AuditFormat, string> = {
  jsonl: "application/x-ndjson; charset=utf-8",
  ocsf: "application/x-ndjson; charset=utf-8",
  cef: "text/plain; charset=utf-8",
};

/**
 * Writes an entry as one line, without its end.
 * @param version of the program.
 */
export function auditLine(record: AuditRecord, format: AuditFormat, version: string): string {
  if (format === "ocsf") return JSON.stringify(ocsfEvent(record, version));
  const json = JSON.stringify(record);
  return format === "cef" ? cefLine(record, json, { version }) : json;
}
