import { readFileSync } from "node:fs";

/** Settings that hold a secret or many lines: each may be given as a file, by its name with `_FILE`. */
const variables = [
  "DATABASE_URL",
  "DATABASE_READ_URL",
  "WAYBILL_DATABASE_DIRECT_URL",
  "WAYBILL_SECRET_KEY",
  "WAYBILL_METRICS_TOKEN",
  "WAYBILL_SMTP_URL",
  "WAYBILL_EVIDENCE_S3_ACCESS_KEY",
  "WAYBILL_EVIDENCE_S3_SECRET_KEY",
  "WAYBILL_OIDC_CLIENT_SECRET",
  "WAYBILL_OIDC_ROLES",
] as const;

/**
 * Reads the settings that are given as files (`WAYBILL_SECRET_KEY_FILE=/run/secrets/key`) into the variables they stand for.
 * Line ends after the last line are not part of it.
 * @returns the variables, and what is wrong, a sentence each.
 */
export function withFiles(given: Readonly<Record<string, string | undefined>>): {
  variables: Record<string, string | undefined>;
  mistakes: string[];
} {
  const read = { ...given };
  const mistakes: string[] = [];
  for (const name of variables) {
    const file = given[`${name}_FILE`];
    if (file === undefined) continue;
    if (given[name] !== undefined)
      mistakes.push(`${name} and ${name}_FILE are both set: one of them must go`);
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
