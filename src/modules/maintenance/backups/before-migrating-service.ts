import { randomUUID } from "node:crypto";

import type { Migration } from "../../../db/migrate.ts";
import { UpgradeError } from "../../../db/migrate.ts";
import { backupName, encryptedSuffix } from "../../../domain/backups.ts";
import { isDiskFull } from "../../../lib/shortage.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Sink } from "./archive-writer.ts";
import { openEncryptedSink } from "./encryption-service.ts";
import type { Place } from "./place-service.ts";
import { readDatabaseSize } from "./room-store.ts";
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

async function makeBackup(
  deps: BackupDeps,
  { place, program, encryptTo = [] }: BackupPlace,
): Promise<string> {
  await place.prepare();
  const id = randomUUID();
  const name = backupName(Date.now() / 1000, id);
  const isPlain = encryptTo.length === 0;
  const file = isPlain ? name : name + encryptedSuffix;
  const expected = await readDatabaseSize(deps.db);
  const open = (): Promise<Sink> => place.create(file, expected);
  const sink = await (isPlain ? open() : openEncryptedSink(open, encryptTo));
  try {
    // Migrations leave the files of evidence as they are: their digests say which belong to the rows.
    await writeBackup(deps, sink, { id, program, evidence: "none" });
    await sink.finish();
    return place.pathOf(file);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

/**
 * Copies the rows of the database into a file before migrations rewrite tables. @returns the file.
 * @throws UpgradeError when that cannot be done: nothing is to be migrated then.
 */
export async function backUpBeforeMigrating(
  deps: BackupDeps,
  to: BackupPlace,
  pending: readonly Migration[],
): Promise<string> {
  try {
    return await makeBackup(deps, to);
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
