import type { Executor } from "./executor.ts";
import { deleteSetting, findSetting, putSetting } from "./instance-settings.ts";
import { boolean } from "./row.ts";
import { query } from "./sql.ts";

/** Thrown when the database is one that a restore did not finish. */
export class UnfinishedRestoreError extends Error {}

/**
 * Makes sure that nobody works with a database into which a backup was restored only in part. What says so stands outside of the
 * tables that are restored (schema `waybill_restore`), and is there from before the first of them is made until all was checked.
 * @throws UnfinishedRestoreError
 */
export async function requireRestored(db: Executor): Promise<void> {
  if (await isUnfinished(db))
    throw new UnfinishedRestoreError(
      "A restore of this database did not finish, so that it is incomplete: run `waybill restore` again, which begins anew.",
    );
}

/** Tells whether a restore began that did not finish. */
export async function isUnfinished(db: Executor): Promise<boolean> {
  const { found } = await db.one(query({ found: boolean })`
    select to_regnamespace('waybill_restore') is not null as found`);
  return found;
}

const setting = "quarantine";

/** Holds back whatever a restored copy would tell others. @param reason which backup it is a copy of. */
export function quarantine(db: Executor, reason: string): Promise<void> {
  return putSetting(db, setting, reason);
}

/** Reads which backup this is a copy of that is to tell nobody anything; undefined for a database that may. */
export function findQuarantine(db: Executor): Promise<string | undefined> {
  return findSetting(db, setting);
}

/** Lets a restored copy tell others what it has to. @returns whether it was not allowed to. */
export function releaseQuarantine(db: Executor): Promise<boolean> {
  return deleteSetting(db, setting);
}
