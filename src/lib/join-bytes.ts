import { nextTurn } from "./turns.ts";

/** Bytes from which on copying waits for a turn: many such copies at once would hold up others. */
const many = 1024 * 1024;

/** Copies pieces into one buffer, which keeps nothing else in memory. Large ones are copied when it is their turn. */
export async function joinBytes(pieces: readonly Uint8Array[], size: number): Promise<Buffer> {
  if (size > many) await nextTurn();
  return Buffer.concat(pieces, size);
}
