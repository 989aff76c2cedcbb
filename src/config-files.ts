import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";

/** Settings that hold a secret or many lines: each may be given as a file, by its name with `_FILE`. */
const variables = [
  "DATABASE_URL",
  "DATABASE_READ_URL",
  "WAYBILL_DATABASE_DIRECT_URL",
  "WAYBILL_SECRET_KEY",
  "WAYBILL_METRICS_TOKEN",
  "WAYBILL_AUDIT_TO_TOKEN",
  "WAYBILL_AUDIT_TO_CA",
  "WAYBILL_SMTP_URL",
  "WAYBILL_EVIDENCE_S3_ACCESS_KEY",
  "WAYBILL_EVIDENCE_S3_SECRET_KEY",
  "WAYBILL_BACKUP_S3_ACCESS_KEY",
  "WAYBILL_BACKUP_S3_SECRET_KEY",
  "WAYBILL_BACKUP_IDENTITY",
  "WAYBILL_OIDC_CLIENT_SECRET",
  "WAYBILL_OIDC_ROLES",
  "OTEL_EXPORTER_OTLP_HEADERS",
] as const;

/**
 * Reads the file that `WAYBILL_SETTINGS_FILE` names: `VARIABLE=value`, one a line.
 * @throws Error when it cannot be read.
 */
export function readSettingsFile(
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const file = given["WAYBILL_SETTINGS_FILE"];
  if (file === undefined || file === "") return {};
  const set = Object.entries(parseEnv(readFileSync(file, "utf8")));
  return Object.fromEntries(set.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Puts the settings of the file below those of the environment. */
function withSettingsFile(given: Readonly<Record<string, string | undefined>>): {
  variables: Record<string, string | undefined>;
  mistakes: string[];
} {
  try {
    return { variables: { ...readSettingsFile(given), ...given }, mistakes: [] };
  } catch (error) {
    return {
      variables: { ...given },
      mistakes: [`WAYBILL_SETTINGS_FILE cannot be read: ${(error as Error).message}`],
    };
  }
}

const isSet = ([, value]: [string, unknown]): boolean => value !== undefined && value !== "";

/**
 * Reads all settings: the environment, below it the settings file, and those that are given as files (`WAYBILL_SECRET_KEY_FILE=/run/secrets/key`) into the variables they stand for.
 * Line ends after the last line are not part of it.
 * @returns the variables, and what is wrong, a sentence each.
 */
export function withFiles(given: Readonly<Record<string, string | undefined>>): {
  variables: Record<string, string | undefined>;
  mistakes: string[];
} {
  const { variables: all, mistakes } = withSettingsFile(given);
  const read = Object.fromEntries(Object.entries(all).filter(isSet));
  for (const name of variables) {
    const file = read[`${name}_FILE`];
    if (file === undefined) continue;
    if (read[name] !== undefined) mistakes.push(`${name} and ${name}_FILE are both set: one of them must go`);
    else
      try {
        read[name] = readFileSync(file, "utf8").replace(/[\r\n]+$/, "");
        if (read[name] === "") mistakes.push(`${name}_FILE names an empty file: ${file}`);
      } catch (error) {
        mistakes.push(`${name}_FILE cannot be read: ${(error as Error).message}`);
      }
  }
  return { variables: read, mistakes };
}
