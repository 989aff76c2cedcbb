import { randomInt } from "node:crypto";

/** Gives copies of bytes, each with one byte that is another than it was, at a place by chance. */
export function* withOneByteChanged(whole: Buffer, copies: number): Generator<{ at: number; bytes: Buffer }> {
  for (let count = 0; count < copies; count += 1) {
    const bytes = Buffer.from(whole);
    const at = randomInt(whole.length);
    bytes[at]! ^= randomInt(1, 256);
    yield { at, bytes };
  }
}
