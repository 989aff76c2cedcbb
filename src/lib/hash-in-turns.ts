import { createHash } from "node:crypto";

import { paced, type Steps } from "./steps.ts";

/** Bytes that are hashed at once: a millisecond's worth. */
const slice = 512 * 1024;

function* digest(parts: readonly Uint8Array[]): Steps<Buffer> {
  const hash = createHash("sha256");
  for (const part of parts)
    for (let at = 0; at < part.length; at += slice) {
      hash.update(part.subarray(at, at + slice));
      yield;
    }
  return hash.digest();
}

/** The SHA-256 of some bytes one after the other. Others come in between, if they are many. */
export function sha256InTurns(parts: readonly Uint8Array[]): Promise<Buffer> {
  return paced(digest(parts));
}
