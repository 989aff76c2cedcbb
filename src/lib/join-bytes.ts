import { nextTurn } from "./turns.ts";

/** Bytes whose copying others would notice if many did it at the same moment. */
const many = 1024 * 1024;

/** Copies pieces into one, which keeps nothing else in memory. Of many bytes, when there is a turn for that. */
export async function joinBytes(pieces: readonly Uint8Array[], size: number): Promise<Buffer> {
  if (size > many) await nextTurn();
  return Buffer.concat(pieces, size);
}
