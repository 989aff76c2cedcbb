import { once } from "node:events";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";

import { flush } from "../../../lib/flush.ts";
import type { Sink } from "./archive-writer.ts";

/** What names of files end with that are being written, or were when somebody was interrupted. */
export const partialSuffix = ".partial";

/**
 * So many bytes are brought to the disk at a time: all at once at the end, they would keep those waiting who have what they report brought
 * there meanwhile.
 */
const flushedBytes = 8_000_000;

async function writeAll(file: FileHandle, piece: Buffer): Promise<void> {
  for (let done = 0; done < piece.length;) done += (await file.write(piece, done)).bytesWritten;
}

/**
 * Begins a file, readable for its owner alone, that gets its name when it is complete and on the disk.
 * @throws what opening it fails with.
 */
export async function openFileSink(path: string): Promise<Sink> {
  const partial = `${path}.${process.pid}${partialSuffix}`;
  const file = await open(partial, "w", 0o600);
  let unflushed = 0;
  return {
    write: async (piece) => {
      await writeAll(file, piece);
      unflushed += piece.length;
      if (unflushed < flushedBytes) return;
      unflushed = 0;
      await file.datasync();
    },
    finish: async () => {
      await file.sync();
      await file.close();
      await rename(partial, path);
      await flush(dirname(path));
    },
    abandon: async () => {
      await file.close().catch(() => {});
      await rm(partial, { force: true }).catch(() => {});
    },
  };
}

/** Nobody reads any more what is written to a stream. */
export class ReaderGoneError extends Error {}

/**
 * Writes to a stream that is open, such as standard output. Whoever reads it finds the end missing after a failure.
 * What it gives throws ReaderGoneError once the reader has gone.
 */
export function streamSink(stream: Writable): Sink {
  let failure: Error | undefined;
  stream.once("error", (error: NodeJS.ErrnoException) => {
    failure =
      error.code === "EPIPE" ? new ReaderGoneError("Nobody reads the stream", { cause: error }) : error;
  });
  return {
    write: async (piece) => {
      // It rejects with what is kept as the failure.
      if (failure === undefined && !stream.write(piece)) await once(stream, "drain").catch(() => {});
      if (failure !== undefined) throw failure;
    },
    finish: async () => {
      stream.end();
      await finished(stream).catch((error: unknown) => {
        throw failure ?? error;
      });
    },
    abandon: async () => {},
  };
}
