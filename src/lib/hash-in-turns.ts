import { createHash } from "node:crypto";

import { paced, type Steps } from "./steps.ts";

/** Bytes that are hashed without a pause: they take about a millisecond. */
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

/** Texts that are hashed without a pause. */
const inOneGo = 250;

/** Hashes a list of texts, written as JSON, with SHA-256. @returns base64. */
export function* digestOfTexts(texts: readonly string[]): Steps<string> {
  const hash = createHash("sha256").update("[");
  for (let at = 0; at < texts.length; at += inOneGo) {
    const some = JSON.stringify(texts.slice(at, at + inOneGo)).slice(1, -1);
    hash.update(at === 0 ? some : `,${some}`);
    yield;
  }
  return hash.update("]").digest("base64");
}

/** Hashes the concatenation of some bytes by SHA-256. Long ones are hashed in slices, with other work in between. */
export function sha256InTurns(parts: readonly Uint8Array[]): Promise<Buffer> {
  return paced(digest(parts));
}
