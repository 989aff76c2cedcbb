/** An entry of an audit log as it leaves the installation: what its JSON line has, in this order. */
export interface AuditRecord {
  /** Name of the organization; null for the log of the instance. */
  org: string | null;
  /** Counts up from 1 without gaps within the log. */
  seq: number;
  /** Unix seconds with a microsecond fraction. */
  occurred_at: number;
  actor: string;
  actor_kind: "user" | "service_account" | "integration" | "system";
  actor_id: string | null;
  api_key_id: string | null;
  action: string;
  resource_type: string;
  resource: string;
  request_id: string;
  /** Hexadecimal SHA-256. */
  request_digest: string | null;
  address: string | null;
  details: Readonly<Record<string, unknown>> | null;
}

/** Forms in which entries are given out. */
export const auditFormats = ["jsonl", "cef", "ocsf"] as const;

export type AuditFormat = (typeof auditFormats)[number];

/** Writes a moment as whole milliseconds since 1970. */
export function milliseconds(seconds: number): number {
  return Math.floor(seconds * 1000);
}
