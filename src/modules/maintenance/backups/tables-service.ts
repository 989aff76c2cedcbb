import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";

import type { Dedicated } from "../../../db/dedicated.ts";
import type { Pause } from "../../../lib/pace.ts";
import type { ArchiveWriter } from "./archive-writer.ts";
import { copyOutOf } from "./catalog-store.ts";
import {
  type BackupTable,
  partBytes,
  partPath,
  type TableLine,
  tableKey,
} from "../../../domain/backup-format.ts";

/** So many bytes are compressed between two pauses. */
const pieceBytes = 128 * 1024;

async function* inPieces(part: Buffer, pause: Pause): AsyncGenerator<Buffer> {
  for (let at = 0; at < part.length; at += pieceBytes) {
    yield part.subarray(at, at + pieceBytes);
    await pause();
  }
}

/** Compresses a part on another thread, piece by piece. */
const compress = (part: Buffer, pause: Pause): Promise<Buffer> =>
  // What a piece becomes fits into one chunk: with smaller ones each piece takes several calls of the thread.
  pipeline(
    inPieces(part, pause),
    createGzip({ level: constants.Z_BEST_SPEED, chunkSize: pieceBytes }),
    buffer,
  );

/** Gathers the pieces of a stream into parts of at least `partBytes`, and says which is the last. */
async function* inParts(source: AsyncIterable<Buffer>): AsyncGenerator<{ part: Buffer; isLast: boolean }> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    if (size >= partBytes) {
      yield { part: Buffer.concat(pieces), isLast: false };
      [pieces, size] = [[], 0];
    }
    pieces.push(piece);
    size += piece.length;
  }
  yield { part: Buffer.concat(pieces), isLast: true };
}

/**
 * Writes all rows of a table into an archive.
 * @param step called between the pieces: with how many bytes of the table were read, and to rest.
 * @returns what a manifest says of it.
 */
export async function writeTable(
  connection: Dedicated,
  archive: ArchiveWriter,
  table: BackupTable,
  step: { advance(bytes: number): void; pause: Pause },
): Promise<TableLine> {
  const key = tableKey(table);
  const hash = createHash("sha256");
  const rows = connection.copyOut(copyOutOf(table));
  let [bytes, number] = [0, 0];
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const piece of rows as AsyncIterable<Buffer>) {
      hash.update(piece);
      bytes += piece.length;
      step.advance(piece.length);
      yield piece;
      await step.pause();
    }
  }
  for await (const { part, isLast } of inParts(counted())) {
    number += 1;
    await archive.add(partPath(key, number, isLast), await compress(part, step.pause));
  }
  return { kind: "table", table: key, rows: rows.rowCount, bytes, sha256: hash.digest("hex") };
}

/** Reads a table as a backup would. @returns what a manifest would say of it. */
export async function digestTable(connection: Dedicated, table: BackupTable): Promise<TableLine> {
  const hash = createHash("sha256");
  const rows = connection.copyOut(copyOutOf(table));
  let bytes = 0;
  for await (const piece of rows as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { kind: "table", table: tableKey(table), rows: rows.rowCount, bytes, sha256: hash.digest("hex") };
}
