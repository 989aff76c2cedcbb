import { join } from "node:path";

import { type Config, keepSecretKey } from "../config.ts";
import { createSecretBox } from "../lib/secret-box.ts";
import { openArchive } from "../modules/maintenance/backups/encryption-service.ts";
import { type FoundBackup, listBackups } from "../modules/maintenance/backups/folder-service.ts";
import type { Place } from "../modules/maintenance/backups/place-service.ts";
import { type IdentityFlag, presentSecretKey } from "./backup-encryption.ts";

/** What `waybill restore` can be told. */
export interface RestoreFlags extends IdentityFlag {
  into?: string;
  at?: string;
  wal?: string;
  dryRun?: boolean;
  forceNonempty?: boolean;
  quarantine?: boolean;
  quick?: boolean;
  json?: boolean;
}

/** Reads the fingerprint of the key that a server of this configuration would have; undefined when it would make one. */
function keyFingerprint(config: Config): string | undefined {
  const key = presentSecretKey(config);
  return key === undefined ? undefined : createSecretBox(key).fingerprint;
}

/** Keeps the key that a backup has where there is none, and says what is to be done about another one. */
export function restoreKey(config: Config, { head, secretKey }: FoundBackup): string[] {
  if (secretKey !== undefined) keepSecretKey(config, secretKey);
  if (head.secret_key_fingerprint === null || head.secret_key_fingerprint === keyFingerprint(config))
    return [];
  if (secretKey !== undefined)
    return [
      `The secrets in this backup were sealed with the key that is in it, and there is another one here, which was left as it is: before a server starts, take WAYBILL_SECRET_KEY, or the file ${join(config.dataDir, "secret-key")}, away and restore again, or restore elsewhere`,
    ];
  return [
    `The secrets in this backup were sealed with another key, which is not in it: before a server starts, set WAYBILL_SECRET_KEY, or the file ${join(config.dataDir, "secret-key")}, to that of the installation that was backed up`,
  ];
}

/** Opens the backup of a place that has this id; undefined when it is not there. */
export async function openOther(place: Place, id: string): Promise<AsyncIterable<Buffer> | undefined> {
  const { backups } = await listBackups(place);
  const found = backups.find(({ head }) => head.id === id);
  return found && openArchive(found.file);
}
