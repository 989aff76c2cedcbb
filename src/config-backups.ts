import { resolve } from "node:path";

import { z } from "zod";

import { type KeepRule, parseKeep } from "./domain/backups.ts";
import { backupAccess, s3Variables } from "./config-buckets.ts";
import type { S3Access } from "./lib/bucket/client.ts";
import { bucketUrl, isLocationUrl, parseBucketUrl } from "./lib/bucket/location.ts";
import { isRecipient, parseIdentities } from "./lib/age.ts";
import { type Cron, parseCron } from "./lib/cron.ts";

/** Where backups go, and when the server makes them by itself. */
export interface BackupSettings {
  /** A folder, or `s3://bucket/prefix`; undefined: none are made by themselves. */
  to: string | undefined;
  /** How buckets of backups are reached; undefined where that is not set. */
  s3: S3Access | undefined;
  /** When one is made. */
  at: Cron;
  /** What is kept of older ones, with the text it was read from; undefined: all. */
  keep: { text: string; rule: KeepRule } | undefined;
  /** When the last one is restored beside, to see that it can be; undefined: never, as by default where backups are encrypted and no identity is known. */
  drillAt: Cron | undefined;
  /** Recipients of age that backups are encrypted for; none: they are not encrypted. */
  encryptTo: readonly string[];
  /** Identities of age that encrypted backups are read with. Secret. */
  identities: readonly string[];
}

const cron = z.string().transform((text, context) => {
  try {
    return parseCron(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: (error as Error).message });
    return z.NEVER;
  }
});

const keep = z.string().transform((text, context) => {
  const rule = parseKeep(text);
  if (rule !== undefined) return { text, rule };
  context.addIssue({
    code: "custom",
    message: "must be numbers of days, weeks and months, such as 7d,4w,12m",
  });
  return z.NEVER;
});

const recipients = z.string().transform((text, context) => {
  const found = text.split(",").map((each) => each.trim());
  if (found.every(isRecipient)) return found;
  context.addIssue({
    code: "custom",
    message: "must be recipients of age (age1…) with commas between",
  });
  return z.NEVER;
});

const identities = z.string().transform((text, context) => {
  const found = parseIdentities(text);
  if (found !== undefined) return found;
  context.addIssue({ code: "custom", message: "must be identities of age (AGE-SECRET-KEY-…), one a line" });
  return z.NEVER;
});

/** A folder or a place in a bucket. A path becomes an absolute one. */
export const placeText = z.string().transform((text, context) => {
  if (!isLocationUrl(text)) return resolve(text);
  const found = parseBucketUrl(text);
  if (found !== undefined) return bucketUrl(found);
  context.addIssue({
    code: "custom",
    message: "must be a folder, or s3:// with a bucket and a prefix of letters, digits and . _ - /",
  });
  return z.NEVER;
});

/** The variables that say what is done about backups. */
export const backupVariables = {
  WAYBILL_BACKUP_TO: placeText.optional(),
  WAYBILL_BACKUP_AT: cron.optional(),
  WAYBILL_BACKUP_KEEP: keep.optional(),
  WAYBILL_BACKUP_DRILL_AT: z.union([z.literal("off"), cron]).optional(),
  WAYBILL_BACKUP_ENCRYPT_TO: recipients.optional(),
  WAYBILL_BACKUP_IDENTITY: identities.optional(),
};

const Settings = z.object({ ...backupVariables, ...s3Variables });
type Settings = z.output<typeof Settings>;

const standardAt = parseCron("17 2 * * *");
const standardDrillAt = parseCron("43 3 * * 0");

/** Says whether a server cannot read the backups that it makes. */
function cannotDrill(set: Settings): boolean {
  return set.WAYBILL_BACKUP_ENCRYPT_TO !== undefined && set.WAYBILL_BACKUP_IDENTITY === undefined;
}

/** Lists what does not go together, a sentence each. */
export function backupMistakes(set: Settings): string[] {
  if (set.WAYBILL_BACKUP_TO !== undefined) {
    const drill = set.WAYBILL_BACKUP_DRILL_AT;
    return drill !== undefined && drill !== "off" && cannotDrill(set)
      ? ["WAYBILL_BACKUP_IDENTITY must be set, because WAYBILL_BACKUP_DRILL_AT is and backups are encrypted"]
      : [];
  }
  return (["WAYBILL_BACKUP_AT", "WAYBILL_BACKUP_KEEP", "WAYBILL_BACKUP_DRILL_AT"] as const)
    .filter((name) => set[name] !== undefined)
    .map((name) => `WAYBILL_BACKUP_TO must be set, because ${name} is`);
}

/** Reads where backups go and when they are made. */
export function backupSettings(set: Settings): BackupSettings {
  const drill = set.WAYBILL_BACKUP_DRILL_AT ?? (cannotDrill(set) ? "off" : standardDrillAt);
  return {
    to: set.WAYBILL_BACKUP_TO,
    s3: backupAccess(set),
    at: set.WAYBILL_BACKUP_AT ?? standardAt,
    keep: set.WAYBILL_BACKUP_KEEP,
    drillAt: drill === "off" ? undefined : drill,
    encryptTo: set.WAYBILL_BACKUP_ENCRYPT_TO ?? [],
    identities: set.WAYBILL_BACKUP_IDENTITY ?? [],
  };
}
