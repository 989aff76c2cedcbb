import { isSecretName } from "./domain/support/scrub.ts";
import { isSetting, mayBe, type Variables } from "./config.ts";

/** Settings whose values tell nobody anything about others: numbers, switches, times and words to choose from. All others are shown by name. */
const harmless: ReadonlySet<string> = new Set([
  "PORT",
  "WAYBILL_AUDIT_READS",
  "WAYBILL_ALLOW_PRIVATE_TARGETS",
  "WAYBILL_BACKUP_AT",
  "WAYBILL_BACKUP_BEFORE_MIGRATING",
  "WAYBILL_BACKUP_DRILL_AT",
  "WAYBILL_BACKUP_KEEP",
  "WAYBILL_BODY_BYTES",
  "WAYBILL_BODY_BYTES_PER_CALLER",
  "WAYBILL_BODY_MIN_RATE",
  "WAYBILL_BODY_SECONDS",
  "WAYBILL_BODY_STALL_SECONDS",
  "WAYBILL_DATABASE_POOL",
  "WAYBILL_DATABASE_POOLER",
  "WAYBILL_DEV",
  "WAYBILL_DRAIN_SECONDS",
  "WAYBILL_FAILED_KEYS_PER_ADDRESS",
  "WAYBILL_HEADER_SECONDS",
  "WAYBILL_INSECURE_HTTP",
  "WAYBILL_KEPT_ANSWER_BYTES",
  "WAYBILL_LOG_LEVEL",
  "WAYBILL_MAX_CONNECTIONS",
  "WAYBILL_MAX_CONNECTIONS_PER_ADDRESS",
  "WAYBILL_MAX_EVIDENCE_BYTES",
  "WAYBILL_MAX_PIPELINED",
  "WAYBILL_MAX_WAL_ARCHIVE_BYTES",
  "WAYBILL_METRICS_BY_ORG",
  "WAYBILL_OIDC_MAX_AGE",
  "WAYBILL_RATE_LIMIT_PER_ADDRESS",
  "WAYBILL_RATE_LIMIT_PER_KEY",
  "WAYBILL_ROLES",
  "WAYBILL_SEND_STALL_SECONDS",
  "WAYBILL_SLOW_MS",
  "WAYBILL_STRANGER_BODY_BYTES",
  "WAYBILL_STRANGER_BODY_BYTES_PER_ADDRESS",
  "WAYBILL_UNREAD_SECONDS",
  "WAYBILL_WAL_KEEP_DAYS",
]);

/** Settings as they may be shown to others, and what must not be. */
interface ShownSettings {
  /** Values of harmless settings, as far as they are values such a setting may have. */
  values: Record<string, string>;
  /** Names of all others that are set. */
  set: string[];
  /** Names that look like settings and are none. */
  unknown: string[];
  /** The values of those that are not shown, by name, and of whatever else in the environment may be a secret. */
  hidden: Record<string, string>;
}

/** Parts settings into what may be shown and what may not. @param variables as they were read, those given as files included. */
export function showSettings(variables: Variables): ShownSettings {
  const shown: ShownSettings = { values: {}, set: [], unknown: [], hidden: {} };
  for (const name of Object.keys(variables).toSorted()) {
    const value = variables[name];
    if (value === undefined || value === "") continue;
    const isOurs =
      isSetting(name) || isSetting(name.replace(/_FILE$/, "")) || name === "WAYBILL_SETTINGS_FILE";
    if (harmless.has(name) && mayBe(name, value)) {
      shown.values[name] = value;
      continue;
    }
    if (isOurs) shown.set.push(name);
    else if (/^WAYBILL_[A-Z0-9_]{1,60}$/.test(name)) shown.unknown.push(name);
    else if (!isSecretName(name) && !name.endsWith("_HEADERS")) continue;
    shown.hidden[name] = value;
  }
  return shown;
}
