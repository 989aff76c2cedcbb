import { createHash } from "node:crypto";

import { ConcurrencyLimit } from "../../../lib/concurrency-limit.ts";
import { keepPace, type Pause } from "../../../lib/pace.ts";
import { tarEnd, type TarEntry, tarFile } from "../../../lib/tar.ts";

/** Where the bytes of a backup go. */
export interface Sink {
  write(piece: Buffer): Promise<void>;
  /** Makes it durable under its name. Nothing has that name before. */
  finish(): Promise<void>;
  /** Leaves nothing behind. Never fails. */
  abandon(): Promise<void>;
}

/** Writes files of an archive for several that make them side by side. */
export interface ArchiveWriter {
  /** Writes a file, after those of others that were given before. */
  add(path: string, content: Buffer): Promise<void>;
  /** Writes a file of this size from a stream. */
  addStream(path: string, size: number, content: AsyncIterable<Buffer>): Promise<void>;
  /** Writes the last file, made of the SHA-256 of all bytes before it, and the end. */
  end(path: string, make: (precedingSha256: string) => Buffer): Promise<void>;
  /** How many bytes there are so far. */
  written(): number;
}

/**
 * Begins an archive.
 * @param modifiedAt what all files say of their time, in Unix seconds.
 * @param pause called after each piece that was written.
 */
export function writeArchive(sink: Sink, modifiedAt: number, pause: Pause = keepPace(1)): ArchiveWriter {
  const hash = createHash("sha256");
  const oneByOne = new ConcurrencyLimit(1);
  const modified_at = Math.floor(modifiedAt);
  let written = 0;
  const write = async (piece: Buffer): Promise<void> => {
    if (piece.length === 0) return;
    hash.update(piece);
    written += piece.length;
    await sink.write(piece);
    await pause();
  };
  const writeFile = async (entry: TarEntry): Promise<void> => {
    for await (const piece of tarFile(entry)) await write(piece);
  };
  const add = (path: string, content: Buffer): Promise<void> =>
    oneByOne.run(() => writeFile({ path, size: content.length, modified_at, content }));
  return {
    add,
    addStream: (path, size, content) => oneByOne.run(() => writeFile({ path, size, modified_at, content })),
    end: async (path, make) => {
      await add(path, make(hash.copy().digest("hex")));
      await write(tarEnd);
    },
    written: () => written,
  };
}
