import { z } from "zod";

import type { S3Settings } from "./evidence/s3.ts";
import { url } from "./config-servers.ts";
import type { S3Access } from "./lib/bucket/client.ts";

const region = z.string().regex(/^[a-z0-9-]{1,64}$/, "must be the name of a region");
const endpoint = url(["http:", "https:"]);

const evidenceVariables = {
  WAYBILL_EVIDENCE_S3_ENDPOINT: endpoint.optional(),
  WAYBILL_EVIDENCE_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket")
    .optional(),
  WAYBILL_EVIDENCE_S3_REGION: region.optional(),
  WAYBILL_EVIDENCE_S3_ACCESS_KEY: z.string().optional(),
  WAYBILL_EVIDENCE_S3_SECRET_KEY: z.string().optional(),
  WAYBILL_EVIDENCE_S3_PREFIX: z
    .string()
    .regex(
      /^[\w.-][\w./-]{0,255}$/,
      "must consist of letters, digits and . _ - /, and not begin with a slash",
    )
    .optional(),
};

const backupVariables = {
  WAYBILL_BACKUP_S3_ENDPOINT: endpoint.optional(),
  WAYBILL_BACKUP_S3_REGION: region.optional(),
  WAYBILL_BACKUP_S3_ACCESS_KEY: z.string().optional(),
  WAYBILL_BACKUP_S3_SECRET_KEY: z.string().optional(),
};

/** The variables that say how services with the S3 protocol are reached. */
export const s3Variables = { ...evidenceVariables, ...backupVariables };

const Settings = z.object(s3Variables);
type Settings = z.output<typeof Settings>;
type Name = keyof Settings;

/** Names what is missing of a group of settings of which one is given. */
function incomplete(set: Settings, group: object, required: readonly Name[]): string[] {
  const given = (Object.keys(group) as Name[]).find((name) => set[name] !== undefined);
  if (given === undefined) return [];
  return required
    .filter((name) => set[name] === undefined)
    .map((name) => `${name} must be set, because ${given} is`);
}

const isBucket = (text: string | undefined): boolean => text?.startsWith("s3://") === true;

/**
 * Lists what does not go together, a sentence each. The bucket is what decides between files and S3 for evidence; the other settings mean
 * nothing without it, and it needs the keys.
 */
export function s3Mistakes(
  set: Settings & { WAYBILL_BACKUP_TO?: string | undefined; WAYBILL_WAL_TO?: string | undefined },
): string[] {
  const mistakes = [
    ...incomplete(set, evidenceVariables, [
      "WAYBILL_EVIDENCE_S3_BUCKET",
      "WAYBILL_EVIDENCE_S3_ACCESS_KEY",
      "WAYBILL_EVIDENCE_S3_SECRET_KEY",
    ]),
    ...incomplete(set, backupVariables, ["WAYBILL_BACKUP_S3_ACCESS_KEY", "WAYBILL_BACKUP_S3_SECRET_KEY"]),
  ];
  if (mistakes.length > 0 || backupAccess(set) !== undefined) return mistakes;
  return (["WAYBILL_BACKUP_TO", "WAYBILL_WAL_TO"] as const)
    .filter((name) => isBucket(set[name]))
    .map((name) => `WAYBILL_BACKUP_S3_ACCESS_KEY must be set, because ${name} is in a bucket`);
}

const standardRegion = "us-east-1";

/** Reads the bucket that evidence is kept in; undefined when it is kept in files. */
export function evidenceBucket(set: Settings): S3Settings | undefined {
  if (set.WAYBILL_EVIDENCE_S3_BUCKET === undefined) return undefined;
  return {
    endpoint: set.WAYBILL_EVIDENCE_S3_ENDPOINT,
    bucket: set.WAYBILL_EVIDENCE_S3_BUCKET,
    region: set.WAYBILL_EVIDENCE_S3_REGION ?? standardRegion,
    accessKey: set.WAYBILL_EVIDENCE_S3_ACCESS_KEY ?? "",
    secretKey: set.WAYBILL_EVIDENCE_S3_SECRET_KEY ?? "",
    prefix: set.WAYBILL_EVIDENCE_S3_PREFIX ?? "",
  };
}

/** Backups are large, and made once a day: a service that is busy is asked for longer. */
const attempts = 6;

/**
 * Reads how the buckets of backups are reached: by settings of their own, else as that of evidence; undefined when neither is set. The two
 * are never mixed, lest a key goes to a service that it is not of.
 */
export function backupAccess(set: Settings): S3Access | undefined {
  const { WAYBILL_BACKUP_S3_ACCESS_KEY: accessKey, WAYBILL_BACKUP_S3_SECRET_KEY: secretKey } = set;
  if (accessKey !== undefined && secretKey !== undefined)
    return {
      endpoint: set.WAYBILL_BACKUP_S3_ENDPOINT,
      region: set.WAYBILL_BACKUP_S3_REGION ?? standardRegion,
      accessKey,
      secretKey,
      attempts,
    };
  const evidence = evidenceBucket(set);
  if (evidence === undefined) return undefined;
  const { bucket: _bucket, prefix: _prefix, ...access } = evidence;
  return { ...access, attempts };
}
