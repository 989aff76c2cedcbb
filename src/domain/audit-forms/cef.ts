import { isFailure, type Severity, severityOf } from "./kinds.ts";
import { type AuditRecord, milliseconds } from "./record.ts";

/** Numbers of severity, 0 to 10 (ArcSight Common Event Format, version 0). */
const severities: Record<Severity, number> = { informational: 3, low: 4, medium: 6, high: 9 };

/** Escapes a field of the header: backslash and bar; a header has no way to write line ends, which become spaces. */
function escapeHeader(text: string): string {
  return text.replace(/[\r\n]+/g, " ").replace(/[\\|]/g, "\\$&");
}

/** Escapes a value of the extension: backslash, equals sign and line ends. */
function escapeValue(text: string): string {
  return text.replace(/[\\=]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}

type Field = readonly [string, string | number | null];

/** Gives an address in the field for its family; what is neither stands in `unmapped` alone. */
function addressFields(address: string | null): Field[] {
  if (address === null) return [];
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) return [["src", address]];
  if (!address.includes(":")) return [];
  return [
    ["c6a2Label", "Source IPv6 Address"],
    ["c6a2", address],
  ];
}

/** Custom texts of an event, each with what it is. Null ones are left out. */
function labelled(fields: readonly (readonly [string, string | null])[]): Field[] {
  return fields.flatMap(([label, value], index): Field[] =>
    value === null
      ? []
      : [
          [`cs${index + 1}Label`, label],
          [`cs${index + 1}`, value],
        ],
  );
}

/** What stands in the headers of all lines: which program wrote them. */
export interface CefDevice {
  version: string;
}

/**
 * Writes an entry in the Common Event Format, version 0, without an end of line. `unmapped` has the whole entry as JSON.
 * @param original the entry's JSON line.
 */
export function cefLine(record: AuditRecord, original: string, device: CefDevice): string {
  const header = [
    "Waybill",
    "Waybill",
    device.version,
    record.action,
    record.action.replaceAll("_", " "),
    String(severities[severityOf(record)]),
  ];
  const fields: Field[] = [
    ["rt", milliseconds(record.occurred_at)],
    ["externalId", record.seq],
    ["act", record.action],
    ["outcome", isFailure(record) ? "failure" : "success"],
    ["suser", record.actor],
    ["suid", record.actor_id],
    ...addressFields(record.address),
    ...labelled([
      ["organization", record.org],
      ["resourceType", record.resource_type],
      ["resource", record.resource],
      ["apiKeyId", record.api_key_id],
      ["requestId", record.request_id],
      ["requestSha256", record.request_digest],
    ]),
    ["unmapped", original],
  ];
  const extension = fields
    .flatMap(([key, value]) => (value === null ? [] : [`${key}=${escapeValue(String(value))}`]))
    .join(" ");
  return `CEF:0|${header.map(escapeHeader).join("|")}|${extension}`;
}
