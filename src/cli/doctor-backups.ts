import { access, constants, mkdtemp, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import type { Config } from "../config.ts";
import { type Diagnosis, fine, warning } from "../domain/doctor.ts";
import { judgeBackupBucket, judgeBackupFolder, judgeRecipients } from "../domain/doctor-upkeep.ts";
import { AgeError, ageEncryption, decryptAge } from "../lib/age.ts";
import type { S3Access } from "../lib/bucket/client.ts";
import { isLocationUrl } from "../lib/bucket/location.ts";
import { openPlace } from "../modules/maintenance/backups/place-service.ts";
import { listLeftWal, sayLeftWal } from "../modules/maintenance/wal/left-service.ts";
import type { DoctorCheck } from "./doctor-checks.ts";
import { existing } from "./doctor-machine.ts";

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Says why nothing can be written to a folder, which is made where it is missing; undefined where it can. */
async function writeProblem(path: string): Promise<string | undefined> {
  try {
    const folder = await existing(path);
    await access(folder, constants.W_OK | constants.X_OK);
    // A file system that is read-only, or full, lets one look all the same.
    await rmdir(await mkdtemp(join(folder, ".waybill-doctor-")));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? reasonOf(error);
  }
}

/** Tells the disk that a path is on; undefined where that cannot be found out. */
async function diskOf(path: string): Promise<number | undefined> {
  return existing(path)
    .then((folder) => stat(folder))
    .then(
      ({ dev }) => dev,
      () => undefined,
    );
}

const probeName = "waybill-doctor";

/** Says why no backup can be written to a bucket; undefined where it can: an upload is begun, and aborted. */
async function uploadProblem(path: string, s3: S3Access | undefined): Promise<string | undefined> {
  try {
    const place = openPlace(path, s3 && { ...s3, attempts: 1 });
    await place.list(() => false);
    const sink = await place.create(probeName);
    await sink.abandon();
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Looks at a folder, or a bucket, that copies go to. @param setting that names it. */
async function lookAtTarget(
  to: string | undefined,
  setting: string,
  { backups: { s3 }, databaseUrl, dataDir, evidence }: Config,
): Promise<Diagnosis | undefined> {
  if (to === undefined) return undefined;
  if (isLocationUrl(to)) return judgeBackupBucket(to, await uploadProblem(to, s3));
  const problem = await writeProblem(to);
  const disk = await diskOf(to);
  const kept = [
    ...(databaseUrl === undefined ? [["the database", dataDir] as const] : []),
    ...(evidence.s3 === undefined ? [["the evidence", evidence.dir] as const] : []),
  ];
  const disks = await Promise.all(kept.map(([, path]) => diskOf(path)));
  const beside = kept.filter((_, at) => disk !== undefined && disks[at] === disk).map(([what]) => what);
  return judgeBackupFolder({ path: to, problem, beside, setting });
}

const sample = "waybill doctor";

/** Encrypts a few words, and reads them where an identity is known. */
async function lookAtRecipients({ backups }: Config): Promise<Diagnosis | undefined> {
  const { encryptTo, identities } = backups;
  if (encryptTo.length === 0) return undefined;
  let sealed: Buffer;
  try {
    const encrypt = await ageEncryption(encryptTo);
    const source = ReadableStream.from([new Uint8Array(Buffer.from(sample))]);
    sealed = Buffer.from(await new Response(await encrypt(source)).arrayBuffer());
  } catch (error) {
    return judgeRecipients(reasonOf(error), undefined);
  }
  if (identities.length === 0) return judgeRecipients(undefined, undefined);
  try {
    const read = await buffer(decryptAge(Readable.from([sealed]), identities));
    return judgeRecipients(undefined, read.toString("utf8") === sample);
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    return judgeRecipients(undefined, false);
  }
}

/** Looks for what waits for archives of the write-ahead log that the settings do not name any more. */
async function lookAtLeftWal(config: Config): Promise<Diagnosis> {
  const left = await listLeftWal(config);
  const said = sayLeftWal(left);
  if (said === undefined) return fine("nothing waits for a former archive");
  const folders = left.map(({ folder }) => folder).join(" ");
  return warning(
    said,
    `Start the server once more with the former settings, which brings it, or, if nobody needs its moments, remove ${folders}`,
  );
}

/** Lists what is looked at of where backups go. */
export function backupChecks(config: Config): DoctorCheck[] {
  const { wal } = config;
  return [
    { group: "backups", name: "wal_left", look: () => lookAtLeftWal(config) },
    {
      group: "backups",
      name: "backup_folder",
      look: () => lookAtTarget(config.backups.to, "WAYBILL_BACKUP_TO", config),
    },
    {
      group: "backups",
      name: "wal_folder",
      look: () => lookAtTarget(wal && (wal.forwardTo ?? wal.folder), "WAYBILL_WAL_TO", config),
    },
    { group: "backups", name: "recipients", look: () => lookAtRecipients(config) },
  ];
}
