import type { EvidenceChoice } from "../../../domain/backup-format.ts";
import { backupPart } from "../../../domain/backups.ts";
import { AppError } from "../../../domain/errors.ts";
import { readDisk } from "../../../lib/disk.ts";
import { megabyte } from "../../../lib/units.ts";
import type { Deps } from "../../kernel/deps.ts";
import { readDatabaseSize, readSizes } from "./room-store.ts";

export { readDatabaseSize, readSizes };

const megabytes = (bytes: number): string => `${Math.ceil(bytes / megabyte)} MB`;

/** What has to be free beside what is going to be written. */
const reserve = 64 * megabyte;

/**
 * Refuses what the disk of a folder has too little room for.
 * @param bytes that are going to be written.
 * @throws AppError unavailable.
 */
export async function requireRoom(folder: string, bytes: number): Promise<void> {
  const { free } = await readDisk(folder);
  if (free < bytes + reserve)
    throw new AppError(
      "unavailable",
      `The disk of ${folder} has too little room: about ${megabytes(bytes + reserve)} are needed, ${megabytes(free)} are free`,
    );
}

/**
 * Refuses a backup that the disk of a folder has too little room for, as far as that can be told before.
 * @throws AppError unavailable.
 */
export async function requireRoomForBackup(
  { db }: Pick<Deps, "db">,
  folder: string,
  evidence: EvidenceChoice,
): Promise<void> {
  const sizes = await readSizes(db);
  await requireRoom(folder, sizes.database * backupPart + (evidence === "full" ? sizes.evidence : 0));
}
