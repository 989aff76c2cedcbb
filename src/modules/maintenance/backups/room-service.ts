import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

import type { EvidenceChoice } from "../../../domain/backup-format.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Deps } from "../../kernel/deps.ts";
import { readDatabaseSize, readSizes } from "./room-store.ts";

export { readDatabaseSize, readSizes };

const mega = 1_000_000;
const megabytes = (bytes: number): string => `${Math.ceil(bytes / mega)} MB`;

/** What has to be free beside what is going to be written. */
const reserve = 64 * mega;

/** Rows take this part of a database in a backup at most: they are packed, and indexes are left out. */
const packed = 0.25;

/** Reads how many bytes are free on the disk of a folder, which may be still to be made. */
async function readFree(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (!isMissing || dirname(folder) === folder) throw error;
    return readFree(dirname(folder));
  }
}

/** @throws AppError unavailable unless the disk of a folder has room for so many bytes. */
export async function requireRoom(folder: string, bytes: number): Promise<void> {
  const free = await readFree(folder);
  if (free < bytes + reserve)
    throw new AppError(
      "unavailable",
      `The disk of ${folder} has too little room: about ${megabytes(bytes + reserve)} are needed, ${megabytes(free)} are free`,
    );
}

/** @throws AppError unavailable unless the disk of a folder has room for a backup, as far as that can be told before. */
export async function requireRoomForBackup(
  { db }: Pick<Deps, "db">,
  folder: string,
  evidence: EvidenceChoice,
): Promise<void> {
  const sizes = await readSizes(db);
  await requireRoom(folder, sizes.database * packed + (evidence === "full" ? sizes.evidence : 0));
}
