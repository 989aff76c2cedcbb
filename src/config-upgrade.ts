import { join, resolve } from "node:path";

import { z } from "zod";

/** What is done when a newer version starts on older data. */
export interface UpgradeConfig {
  upgrade: {
    /** Whether a backup is made before tables are rewritten. */
    backupFirst: boolean;
    /** Where backups are: a folder, or `s3://bucket/prefix`. */
    backupFolder: string;
    /** Folder with the programs of the PostgreSQL that made the managed cluster, to move it to the present one. */
    oldEngine: string | undefined;
  };
}

/** The variables that say what is done when a newer version starts on older data. */
export const upgradeVariables = {
  WAYBILL_BACKUP_BEFORE_MIGRATING: z.enum(["0", "1"]).optional(),
  WAYBILL_OLD_ENGINE: z.string().min(1).optional(),
};

const Settings = z.object(upgradeVariables);

/** Reads what is done before an upgrade, of a PostgreSQL that is our own unless a URL names another. */
export function upgradeConfig(
  set: z.output<typeof Settings> & {
    DATABASE_URL?: string | undefined;
    WAYBILL_BACKUP_TO?: string | undefined;
  },
  dataDir: string,
): UpgradeConfig {
  const wanted = set.WAYBILL_BACKUP_BEFORE_MIGRATING ?? (set.DATABASE_URL === undefined ? "1" : "0");
  return {
    upgrade: {
      backupFirst: wanted === "1",
      backupFolder: set.WAYBILL_BACKUP_TO ?? join(dataDir, "backups"),
      oldEngine: set.WAYBILL_OLD_ENGINE === undefined ? undefined : resolve(set.WAYBILL_OLD_ENGINE),
    },
  };
}
