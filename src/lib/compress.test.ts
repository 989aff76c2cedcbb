import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { compressAside, compressNow, encodings, type Encoding, PieceCompressor } from "./compress.ts";

/** Decompresses what has arrived so far, whether or not more is to come. */
function decompressed(encoding: Encoding, bytes: Buffer): Buffer {
  return encoding === "br"
    ? brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH })
    : gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}

const piece = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(fc.string({ minLength: 1 }), fc.nat(9_000))
    .map(([text, times]) => Buffer.from(text.repeat(times + 1))),
);

describe.each(encodings)("%s", (encoding) => {
  it("gives back what went in, whether it is made here or aside", async () => {
    await fc.assert(
      fc.asyncProperty(piece, async (bytes) => {
        expect(decompressed(encoding, compressNow(encoding, bytes)).equals(bytes)).toBe(true);
        expect(decompressed(encoding, await compressAside(encoding, bytes)).equals(bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("of pieces: each can be read when it has come", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => {
        const compressor = new PieceCompressor(encoding);
        let sent = Buffer.alloc(0);
        for (const [index, next] of pieces.entries()) {
          sent = Buffer.concat([sent, await compressor.add(next)]);
          const soFar = Buffer.concat(pieces.slice(0, index + 1));
          expect(decompressed(encoding, sent).equals(soFar)).toBe(true);
        }
        sent = Buffer.concat([sent, await compressor.end()]);
        const whole = encoding === "br" ? brotliDecompressSync(sent) : gunzipSync(sent);
        expect(whole.equals(Buffer.concat(pieces))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("can be given up half way", async () => {
    const compressor = new PieceCompressor(encoding);
    const sent = await compressor.add(Buffer.from("x".repeat(100)));
    compressor.close();
    expect(() => compressor.close()).not.toThrow();
    expect(decompressed(encoding, sent)).toHaveLength(100);
  });

  it("makes little of JSON", () => {
    const rows = Array.from({ length: 200 }, (_, index) => ({ name: `service-${index}`, compliant: true }));
    const bytes = Buffer.from(JSON.stringify(rows));
    expect(compressNow(encoding, bytes).length).toBeLessThan(bytes.length / 5);
  });
});
