import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { eachInParallel } from "../../../lib/parallel.ts";
import { type Identities, openEncrypted } from "../backups/encryption-service.ts";
import type { ArchivedWal } from "../backups/physical-restore-service.ts";
import type { Place } from "../backups/place-service.ts";
import { openFileSink } from "../backups/file-sink.ts";
import { requireRoom } from "../backups/room-service.ts";
import { listLog, type LogFile } from "./archive-service.ts";

const fetchedAtOnce = 4;

const isSealed = ({ name, segment }: LogFile): boolean => name !== `${segment}.gz`;

/** Brings a file of an archive into a folder, as PostgreSQL's script expects it there. */
async function fetchFile(
  { place, folder, identities }: { place: Place; folder: string; identities: Identities },
  file: LogFile,
): Promise<void> {
  const { name, segment } = file;
  const sink = await openFileSink(join(folder, `${segment}.gz`));
  try {
    const content = isSealed(file) ? openEncrypted({ place, name }, identities) : place.stream(name);
    for await (const piece of content) await sink.write(piece);
    await sink.finish();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

/**
 * Opens the log of an archive for a restore; undefined where there is none. PostgreSQL reads files of a folder by itself; those of a bucket, and
 * encrypted ones, are brought into one first.
 */
export async function openArchivedWal(
  place: Place,
  { script, identities }: { script: string; identities: Identities },
): Promise<ArchivedWal | undefined> {
  const files = await listLog(place);
  if (files.length === 0) return undefined;
  const isReadable = place.folder !== undefined && !files.some(isSealed);
  return {
    path: place.path,
    files,
    script,
    fetch: async (segments, folder) => {
      if (isReadable) return place.path;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Of a backup by hand that has the same file twice, either will do.
      const wanted = [...new Map(files.map((file) => [file.segment, file])).values()].filter(({ segment }) =>
        segments.has(segment),
      );
      await requireRoom(
        folder,
        wanted.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      await eachInParallel(wanted, fetchedAtOnce, (file) => fetchFile({ place, folder, identities }, file));
      return folder;
    },
  };
}
