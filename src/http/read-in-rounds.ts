import type { IncomingMessage } from "node:http";

/** Bodies of which the next piece waits to be read, in the order in which they came. */
const waiting = new Set<IncomingMessage>();

/** So many of them are read in one round of the event loop, a piece of at most 64 KB each and one that came meanwhile. */
const bodiesARound = 8;

/** Pieces that are as large as this mean that more has arrived already. */
const fullPiece = 32 * 1024;

function readSome(): void {
  let left = bodiesARound;
  for (const request of waiting) {
    if (left === 0) break;
    left -= 1;
    waiting.delete(request);
    request.resume();
  }
  if (waiting.size > 0) setImmediate(readSome);
}

/**
 * Has the rest of a body wait for its turn once a full piece of it was read. Otherwise all that has arrived, megabytes on each
 * connection, is read in one round of the event loop, while everybody else waits.
 */
export function readInRounds(request: IncomingMessage, piece: Buffer): void {
  if (piece.length < fullPiece) return;
  request.pause();
  if (waiting.size === 0) setImmediate(readSome);
  waiting.add(request);
}

/** Leaves the reading of a body to whoever has it now. */
export function readNoMore(request: IncomingMessage): void {
  waiting.delete(request);
}
