import { randomUUID } from "node:crypto";

import type { Migration } from "../../../db/migrate.ts";
import { UpgradeError } from "../../../db/migrate.ts";
import { backupName, encryptedSuffix, parseBackupName } from "../../../domain/backups.ts";
import { sha256 } from "../../../lib/hash.ts";
import { isDiskFull } from "../../../lib/shortage.ts";
import { daySeconds } from "../../../lib/units.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Sink } from "./archive-writer.ts";
import { openEncryptedSink } from "./encryption-service.ts";
import type { Place } from "./place-service.ts";
import { readDatabaseIdentity, readDatabaseSize } from "./room-store.ts";
import { writeBackup } from "./write-service.ts";

/** Where the backup goes, and what it says of who made it. */
export interface BackupPlace {
  place: Place;
  /** Version of the program. */
  program: string;
  /** Whom it is encrypted for; for nobody when left out or empty. */
  encryptTo?: readonly string[];
}

type BackupDeps = Pick<Deps, "db" | "evidence">;

/** So long after it was made a backup is one of another attempt, in seconds. */
const attemptSeconds = daySeconds;

/**
 * Makes the id of a backup. Those before the same migration of a database begin alike, and their names with them: so a start knows what one
 * before it left that was interrupted.
 */
async function makeId(db: BackupDeps["db"], pending: readonly Migration[]): Promise<string> {
  const purpose = `${await readDatabaseIdentity(db)} before ${pending[0]?.name ?? ""}`;
  return sha256(purpose).toString("hex").slice(0, 8) + randomUUID().slice(8);
}

/** Removes what interrupted starts left unfinished of such a backup. Nobody else makes one: whoever migrates is alone. */
async function removeUnfinished(place: Place, id: string): Promise<void> {
  const alike = new RegExp(`^waybill-[0-9TZ]+-${id.slice(0, 8)}\\.tar(?:\\.age)?$`);
  await place.removeAbandoned(alike, 0);
}

/** Removes the backups that a new one takes the place of: their migration was interrupted after they were made. */
async function removeFormer(place: Place, file: string): Promise<void> {
  const made = parseBackupName(file);
  const { files } = await place.list((name) => name !== file);
  for (const { name } of files) {
    const former = parseBackupName(name);
    if (made === undefined || former?.id !== made.id) continue;
    if (former.made_at > made.made_at - attemptSeconds) await place.remove(name);
  }
}

async function makeBackup(
  deps: BackupDeps,
  { place, program, encryptTo = [] }: BackupPlace,
  pending: readonly Migration[],
): Promise<string> {
  await place.prepare();
  const id = await makeId(deps.db, pending);
  // What may not be removed, as in a bucket whose credentials do not allow it, is left to those who prune.
  await removeUnfinished(place, id).catch(() => {});
  const name = backupName(Date.now() / 1000, id);
  const isPlain = encryptTo.length === 0;
  const file = isPlain ? name : name + encryptedSuffix;
  const expected = await readDatabaseSize(deps.db);
  const open = (): Promise<Sink> => place.create(file, expected);
  // Migrations leave the files of evidence as they are: their digests say which belong to the rows.
  const evidence = "none";
  const sink = await (isPlain ? open() : openEncryptedSink(open, encryptTo, { kind: "portable", evidence }));
  try {
    await writeBackup(deps, sink, { id, program, evidence });
    await sink.finish();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
  await removeFormer(place, file).catch(() => {});
  return place.pathOf(file);
}

/**
 * Copies the rows of the database into a file before migrations rewrite tables, in place of what a start left that was interrupted.
 * @returns the file.
 * @throws UpgradeError when that cannot be done: nothing is to be migrated then.
 */
export async function backUpBeforeMigrating(
  deps: BackupDeps,
  to: BackupPlace,
  pending: readonly Migration[],
): Promise<string> {
  try {
    return await makeBackup(deps, to, pending);
  } catch (error) {
    const reason = isDiskFull(error)
      ? "the disk is full"
      : error instanceof Error
        ? error.message
        : String(error);
    throw new UpgradeError(
      `The backup before migration ${pending[0]?.name ?? ""} could not be made in ${to.place.path}, so the database was left as it is: ` +
        `${reason}. Mend that, or set WAYBILL_BACKUP_BEFORE_MIGRATING=0 if you have a backup of your own.`,
      { cause: error },
    );
  }
}
