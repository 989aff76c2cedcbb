import { createHash } from "node:crypto";
import { join } from "node:path";

import { z } from "zod";

import { backupVariables, placeText } from "./config-backups.ts";
import { whole } from "./config-limits.ts";
import type { S3Access } from "./lib/bucket/client.ts";
import { isLocationUrl } from "./lib/bucket/location.ts";
import { daySeconds } from "./lib/units.ts";

/** What is kept of PostgreSQL's write-ahead log (WAL), so that any moment of some days can be restored. */
export interface WalSettings {
  /** Folder that PostgreSQL writes to: the archive, or one in the data directory that the server empties into the archive. */
  folder: string;
  /** The archive, a folder or `s3://bucket/prefix`, where the server brings its files there; undefined where PostgreSQL does. */
  forwardTo: string | undefined;
  /** Recipients of age that files are encrypted for on their way; none: they are not. */
  encryptTo: readonly string[];
  /** For how long any moment can be restored, in seconds. */
  keepSeconds: number;
  /** Bytes of the log that PostgreSQL keeps at most while the archive is away; undefined: 16 GB, or a quarter of the disk if that is less. */
  maxWaitingBytes: number | undefined;
}

/** The variables about the archive of the write-ahead log. */
export const walVariables = {
  WAYBILL_WAL_TO: placeText.optional(),
  WAYBILL_WAL_KEEP_DAYS: whole(1, 3650).optional(),
  WAYBILL_MAX_WAL_ARCHIVE_BYTES: whole(64 * 1024 * 1024, Number.MAX_SAFE_INTEGER).optional(),
};

const Settings = z.object({
  ...walVariables,
  WAYBILL_BACKUP_ENCRYPT_TO: backupVariables.WAYBILL_BACKUP_ENCRYPT_TO,
  DATABASE_URL: z.string().optional(),
});
type Settings = z.output<typeof Settings>;

/** Lists what does not go together, a sentence each. */
export function walMistakes(set: Settings): string[] {
  const mistakes: string[] = [];
  if (set.WAYBILL_WAL_TO !== undefined && set.DATABASE_URL !== undefined)
    mistakes.push(
      "WAYBILL_WAL_TO is for the PostgreSQL that Waybill runs itself: with DATABASE_URL the WAL is archived by the tools of that PostgreSQL",
    );
  for (const name of ["WAYBILL_WAL_KEEP_DAYS", "WAYBILL_MAX_WAL_ARCHIVE_BYTES"] as const)
    if (set[name] !== undefined && set.WAYBILL_WAL_TO === undefined)
      mistakes.push(`WAYBILL_WAL_TO must be set, because ${name} is`);
  return mistakes;
}

const standardDays = 14;
/** For how long any moment can be restored when nothing else is said, in seconds. */
export const standardKeepSeconds = standardDays * daySeconds;

/** Names the folder of a data directory in which files wait for being brought to an archive, in a folder for each. */
export function spoolsOf(dataDir: string): string {
  return join(dataDir, "wal-archive");
}

/**
 * Names a folder for each archive: what was written for one is no part of another, and what is noted of one not true of it. A bucket at another
 * service is another one, whatever its name.
 */
function spoolName(to: string, isEncrypted: boolean, s3: S3Access | undefined): string {
  const service = isLocationUrl(to) ? (s3?.endpoint ?? s3?.region ?? null) : null;
  return createHash("sha256")
    .update(JSON.stringify([to, isEncrypted, service]))
    .digest("hex")
    .slice(0, 16);
}

/** Reads where the write-ahead log is archived; undefined when it is not. @param s3 how buckets of backups are reached. */
export function walSettings(
  set: Settings,
  dataDir: string,
  s3: S3Access | undefined,
): WalSettings | undefined {
  const { WAYBILL_WAL_TO: to, WAYBILL_BACKUP_ENCRYPT_TO: encryptTo = [] } = set;
  if (to === undefined) return undefined;
  // PostgreSQL's script can neither upload nor encrypt.
  const isForwarded = isLocationUrl(to) || encryptTo.length > 0;
  return {
    folder: isForwarded ? join(spoolsOf(dataDir), spoolName(to, encryptTo.length > 0, s3)) : to,
    forwardTo: isForwarded ? to : undefined,
    encryptTo,
    keepSeconds: (set.WAYBILL_WAL_KEEP_DAYS ?? standardDays) * daySeconds,
    maxWaitingBytes: set.WAYBILL_MAX_WAL_ARCHIVE_BYTES,
  };
}
