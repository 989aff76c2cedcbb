import { access, constants, mkdtemp, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import type { Config } from "../config.ts";
import type { Diagnosis } from "../domain/doctor.ts";
import { judgeBackupFolder, judgeRecipients } from "../domain/doctor-upkeep.ts";
import { AgeError, ageEncryption, decryptAge } from "../lib/age.ts";
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

async function lookAtFolder({ backups: { to }, databaseUrl, dataDir, evidence }: Config) {
  if (to === undefined) return undefined;
  const problem = await writeProblem(to);
  const disk = await diskOf(to);
  const kept = [
    ...(databaseUrl === undefined ? [["the database", dataDir] as const] : []),
    ...(evidence.s3 === undefined ? [["the evidence", evidence.dir] as const] : []),
  ];
  const disks = await Promise.all(kept.map(([, path]) => diskOf(path)));
  const beside = kept.filter((_, at) => disk !== undefined && disks[at] === disk).map(([what]) => what);
  return judgeBackupFolder({ path: to, problem, beside });
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

/** Lists what is looked at of where backups go. */
export function backupChecks(config: Config): DoctorCheck[] {
  return [
    { group: "backups", name: "backup_folder", look: () => lookAtFolder(config) },
    { group: "backups", name: "recipients", look: () => lookAtRecipients(config) },
  ];
}
