import type { AuditRecord } from "./record.ts";

/** What an entry tells of. */
export type AuditKind = "authentication" | "account" | "api";

/** What was done, whatever it was done to. */
export type AuditVerb = "create" | "read" | "update" | "delete" | "other";

const signInActions = new Set([
  "sign_in",
  "sign_in_failed",
  "sign_out",
  "session_revoked",
  "break_glass",
  "address_refused",
]);
const signInResources = new Set(["session", "refused_sign_in"]);
const accountResources = new Set(["user", "member", "service_account", "api_key", "invitation"]);
const accountActions = new Set(["role_mapped", "key_expired"]);

/** Tells sign-ins and changes of accounts from everything else. */
export function kindOf({ action, resource_type }: AuditRecord): AuditKind {
  if (signInActions.has(action) || signInResources.has(resource_type)) return "authentication";
  return accountActions.has(action) || accountResources.has(resource_type) ? "account" : "api";
}

const verbs: Readonly<Record<string, AuditVerb>> = {
  create: "create",
  post: "create",
  join: "create",
  attach: "create",
  allow: "create",
  get: "read",
  list: "read",
  download: "read",
  export: "read",
  update: "update",
  put: "update",
  patch: "update",
  rename: "update",
  archive: "update",
  unarchive: "update",
  rotate: "update",
  delete: "delete",
  detach: "delete",
  disallow: "delete",
  remove: "delete",
};

/** Reads what was done from the name of an operation, whose first word says it. */
export function verbOf({ action }: Pick<AuditRecord, "action">): AuditVerb {
  const [first = ""] = action.split("_");
  return Object.hasOwn(verbs, first) ? (verbs[first] ?? "other") : "other";
}

const failures = new Set(["sign_in_failed", "address_refused"]);

/** Says whether an entry tells of something that was refused. */
export function isFailure({ action, resource_type }: AuditRecord): boolean {
  return failures.has(action) || resource_type === "refused_sign_in";
}

/** How much an entry deserves to be looked at. */
export type Severity = "informational" | "low" | "medium" | "high";

/** Rates an entry: way around the usual sign-in, refusals, removals, all else. */
export function severityOf(record: AuditRecord): Severity {
  if (record.action === "break_glass") return "high";
  if (isFailure(record)) return "medium";
  return verbOf(record) === "delete" ? "low" : "informational";
}
