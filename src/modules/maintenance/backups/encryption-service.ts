import { createHash } from "node:crypto";
import { type ClearFacts, clearWords, parseClearWords } from "../../../domain/backup-format.ts";
import { AppError, invalid } from "../../../domain/errors.ts";
import {
  AgeError,
  ageEncryption,
  ageStart,
  clearBytes,
  decryptAge,
  readClearWords,
} from "../../../lib/age.ts";
import { DamagedArchive } from "../../../lib/tar-reader.ts";
import type { Sink } from "./archive-writer.ts";
import type { FileOfPlace } from "./place-service.ts";

/** Gives the identities that encrypted backups are read with; asked only when one is encrypted. */
export type Identities = () => Promise<readonly string[]>;

const noIdentities: Identities = async () => [];

/** Where encrypted bytes go, and what is known of them. */
export interface EncryptedSink extends Sink {
  /** How many encrypted bytes there are so far. */
  bytes(): number;
  /** SHA-256 of them, in hexadecimal. */
  sha256(): string;
}

/**
 * Begins a sink that encrypts whatever is written to it for all of the recipients, in pieces of 64 KB; a writer waits for the one below.
 * @param openSink opens the one that the encrypted bytes go to, once the recipients are known to be some.
 * @param facts of a backup, which anybody may read.
 * @throws AppError invalid for a recipient that is none.
 */
export async function openEncryptedSink(
  openSink: () => Promise<Sink>,
  recipients: readonly string[],
  facts?: ClearFacts,
): Promise<EncryptedSink> {
  const encrypt = await ageEncryption(recipients, facts && clearWords(facts)).catch((error: unknown) => {
    throw new AppError("invalid", "A recipient of the backup is not one of age: copy all of its `age1…`", {
      cause: error,
    });
  });
  const below = await openSink();
  const hash = createHash("sha256");
  let bytes = 0;
  const through = new TransformStream<Uint8Array, Uint8Array>();
  const writer = through.writable.getWriter();
  writer.closed.catch(() => {});
  let failure: { error: unknown } | undefined;
  const pass = async (): Promise<void> => {
    const reader = (await encrypt(through.readable)).getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const { buffer, byteOffset, byteLength } = next.value;
        const piece = Buffer.from(buffer, byteOffset, byteLength);
        hash.update(piece);
        bytes += piece.length;
        await below.write(piece);
      }
    } catch (error) {
      failure = { error };
      await reader.cancel(error).catch(() => {});
      throw error;
    }
  };
  const passing = pass();
  passing.catch(() => {});
  const given = async (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      throw failure === undefined ? error : failure.error;
    });
  return {
    write: (piece) => given(writer.write(piece)),
    finish: async () => {
      await given(writer.close());
      await passing;
      await below.finish();
    },
    abandon: async () => {
      // First: what is on its way may wait for somebody who does not answer.
      const abandoned = below.abandon();
      await writer.abort().catch(() => {});
      await passing.catch(() => {});
      await abandoned;
    },
    bytes: () => bytes,
    sha256: () => hash.copy().digest("hex"),
  };
}

/** Reads how many bytes a file has. @throws Error with the code ENOENT for one that is not there. */
export async function sizeOf({ place, name }: FileOfPlace): Promise<number> {
  const found = await place.find(name);
  if (found !== undefined) return found.bytes;
  const path = place.pathOf(name);
  throw Object.assign(new Error(`There is no ${path}`), { code: "ENOENT", path });
}

/** What is known of a file that is encrypted without reading it. */
interface Sealed {
  /** Undefined of what says nothing of itself. */
  facts: ClearFacts | undefined;
}

/** Reads what a file says in the clear, by its first bytes; undefined unless it is encrypted. @param bytes how many it has. */
export async function lookAtSealed({ place, name }: FileOfPlace, bytes: number): Promise<Sealed | undefined> {
  if (bytes < ageStart.length) return undefined;
  const start = await place.read(name, 0, Math.min(bytes, clearBytes));
  if (!start.subarray(0, ageStart.length).equals(ageStart)) return undefined;
  return { facts: parseClearWords(readClearWords(start)) };
}

/**
 * Reads the archive of a backup, decrypting it where it is encrypted.
 * @throws AppError invalid without the identity that it takes; DamagedArchive where it was changed; what reading the file fails with.
 */
export async function* openArchive(
  file: FileOfPlace,
  identities: Identities = noIdentities,
): AsyncGenerator<Buffer> {
  const { place, name } = file;
  if ((await lookAtSealed(file, await sizeOf(file))) === undefined) {
    yield* place.stream(name);
    return;
  }
  yield* openEncrypted(file, identities);
}

/**
 * Reads a file that is encrypted.
 * @throws AppError invalid without the identity that it takes; DamagedArchive where it was changed; what reading the file fails with.
 */
export async function* openEncrypted(
  { place, name }: FileOfPlace,
  identities: Identities,
): AsyncGenerator<Buffer> {
  const path = place.pathOf(name);
  const known = await identities();
  if (known.length === 0)
    throw invalid(
      `${path} is encrypted: name the file with its identity (AGE-SECRET-KEY-…) by --identity or WAYBILL_BACKUP_IDENTITY_FILE`,
    );
  try {
    yield* decryptAge(place.stream(name), known);
  } catch (error) {
    if (!(error instanceof AgeError)) throw error;
    if (error.reason === "identity")
      throw new AppError(
        "invalid",
        `${path} is encrypted for others: no identity that was given can read it`,
        {
          cause: error,
        },
      );
    throw new DamagedArchive(
      "The backup is damaged: its encrypted bytes are not those that were written, or end too early",
    );
  }
}

/** Compares the bytes of a file with what was written. @throws DamagedArchive where they differ. */
export async function requireDigest({ place, name }: FileOfPlace, sha256: string): Promise<void> {
  const hash = createHash("sha256");
  for await (const piece of place.stream(name)) hash.update(piece);
  if (hash.digest("hex") !== sha256)
    throw new DamagedArchive("The backup is damaged: its bytes are not those that were written");
}
