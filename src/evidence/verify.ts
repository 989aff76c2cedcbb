import { createHash } from "node:crypto";
import { Readable } from "node:stream";

import { ContentDamaged } from "./store.ts";

/** Passes `source` on one piece late, so that the last one is not given out before all were verified. */
async function* verified(source: Readable, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let held: Buffer | undefined;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (held !== undefined) yield held;
    held = chunk;
  }
  if (hash.digest("hex") !== sha256) throw new ContentDamaged(sha256);
  if (held !== undefined) yield held;
}

/**
 * Verifies a stream while it is read: it fails with `ContentDamaged` before its last bytes when they do not match.
 * Closing the result closes the source.
 */
export function verifiedStream(source: Readable, sha256: string): Readable {
  const stream = Readable.from(verified(source, sha256), { objectMode: false });
  // One that is closed before it was read has not begun to run and would leave the source open.
  return stream.once("close", () => source.destroy());
}
