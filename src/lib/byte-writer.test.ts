import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ByteWriter } from "./byte-writer.ts";

describe("a byte writer", () => {
  it("writes what joining would, whatever room there is at first", () => {
    const part = fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("x".repeat(5000)));
    fc.assert(
      fc.property(fc.array(part), fc.nat(200), (parts, capacity) => {
        const writer = new ByteWriter(capacity);
        for (const [index, text] of parts.entries())
          if (index % 2 === 0) writer.text(text);
          else writer.bytes(Buffer.from(text));
        expect(writer.result().toString()).toBe(parts.join(""));
      }),
    );
  });
});
