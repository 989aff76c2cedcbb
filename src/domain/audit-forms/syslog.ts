import { type Severity, severityOf } from "./kinds.ts";
import { type AuditRecord, milliseconds } from "./record.ts";

/** Facility "log audit" (RFC 5424, section 6.2.1). */
const facility = 13;

const severities: Record<Severity, number> = { informational: 6, low: 5, medium: 4, high: 2 };

/** Makes a field of the header: printable ASCII without spaces, `-` for nothing. */
function headerField(text: string, most: number): string {
  return text.replace(/[^\x21-\x7e]/g, "_").slice(0, most) || "-";
}

/**
 * Writes an entry as a syslog message (RFC 5424), its kind of message being the action.
 * @param message what follows the header.
 * @param host name of the machine, or of the service.
 */
export function syslogMessage(record: AuditRecord, message: string, host: string): string {
  const priority = facility * 8 + severities[severityOf(record)];
  const time = new Date(milliseconds(record.occurred_at)).toISOString();
  const header = [time, headerField(host, 255), "waybill", "-", headerField(record.action, 32), "-"];
  return `<${priority}>1 ${header.join(" ")} ${message}`;
}

/** Frames a message for a stream: its length in bytes, a space, itself (RFC 5425, section 4.3). */
export function syslogFrame(message: string): Buffer {
  const bytes = Buffer.from(message, "utf8");
  return Buffer.concat([Buffer.from(`${bytes.length} `, "ascii"), bytes]);
}
