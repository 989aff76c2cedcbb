import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { type AuditFormat, auditFormats } from "./domain/audit-forms/record.ts";
import { sha256 } from "./lib/hash.ts";
import { parseUrl } from "./lib/url.ts";

/** Where entries of all audit logs are sent, and in which form. */
export interface AuditTarget {
  kind: "file" | "https" | "syslog";
  /** Tells it from all others, whatever its URL holds. */
  id: string;
  /** What people know it by: without what may be secret. */
  name: string;
  /** Absolute path of a file. */
  path: string;
  /** Address to post to. */
  url: string;
  host: string;
  port: number;
  format: AuditFormat;
}

/** What is done with entries of audit logs beside keeping them. */
export interface AuditConfig {
  auditTargets: readonly AuditTarget[];
  /** Bearer token for targets that are posted to. */
  auditToken: string | undefined;
  /** Certificates of authorities to trust for the targets, in place of the usual ones; PEM. */
  auditCa: string | undefined;
  /** Whether reads of evidence and of audit packages are recorded. */
  auditReads: boolean;
}

const syslogTlsPort = 6514;
const mostTargets = 8;

const kinds = { "file:": "file", "https:": "https", "syslog+tls:": "syslog" } as const;

function pathOf(url: URL): string | undefined {
  try {
    const path = fileURLToPath(`file://${url.host}${url.pathname}`);
    return isAbsolute(path) && !path.endsWith("/") ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a target; undefined for what is none. */
function readTarget(text: string): AuditTarget | undefined {
  const url = parseUrl(text);
  if (url === undefined || !Object.hasOwn(kinds, url.protocol)) return undefined;
  const kind = kinds[url.protocol as keyof typeof kinds];
  const format = url.hash === "" ? "jsonl" : auditFormats.find((one) => `#${one}` === url.hash);
  const path = kind === "file" ? pathOf(url) : "";
  if (format === undefined || path === undefined || url.username !== "" || url.password !== "")
    return undefined;
  if (kind !== "file" && url.hostname === "") return undefined;
  if (kind === "syslog" && (url.search !== "" || !["", "/"].includes(url.pathname))) return undefined;
  const standard = kind === "syslog" ? syslogTlsPort : 443;
  const bare = text.replace(/#.*$/, "");
  return {
    kind,
    id: sha256(bare).toString("hex"),
    name:
      kind === "file"
        ? `file://${path}`
        : `${url.protocol}//${url.host}${kind === "https" ? url.pathname : ""}`,
    path,
    url: kind === "https" ? bare : "",
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? standard : Number(url.port),
    format,
  };
}

function readTargets(text: string): AuditTarget[] | undefined {
  const targets = text.split(",").map((one) => readTarget(one.trim()));
  const known = targets.filter((target) => target !== undefined);
  const areDistinct = new Set(known.map(({ id }) => id)).size === known.length;
  return known.length === targets.length && known.length <= mostTargets && areDistinct ? known : undefined;
}

/** The variables that say where entries of audit logs go. */
export const auditVariables = {
  WAYBILL_AUDIT_TO: z
    .string()
    .transform(readTargets)
    .refine(
      (targets) => targets !== undefined,
      `must be at most ${mostTargets} different URLs with commas between, each starting with file:///, https:// or syslog+tls://, without a password, and with #cef or #ocsf at its end for another form than JSON`,
    )
    .optional(),
  WAYBILL_AUDIT_TO_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, "must be a token of printable characters without spaces")
    .optional(),
  WAYBILL_AUDIT_TO_CA: z
    .string()
    .regex(/-----BEGIN CERTIFICATE-----/, "must be certificates in PEM")
    .optional(),
  WAYBILL_AUDIT_READS: z
    .enum(["0", "1", "true", "false"])
    .transform((value) => value === "1" || value === "true")
    .optional(),
};

const Settings = z.object(auditVariables);

/** Reads where entries of audit logs go. */
export function auditConfig(set: z.output<typeof Settings>): AuditConfig {
  return {
    auditTargets: set.WAYBILL_AUDIT_TO ?? [],
    auditToken: set.WAYBILL_AUDIT_TO_TOKEN,
    auditCa: set.WAYBILL_AUDIT_TO_CA,
    auditReads: set.WAYBILL_AUDIT_READS ?? false,
  };
}
