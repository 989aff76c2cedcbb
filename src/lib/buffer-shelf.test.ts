import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BufferShelf } from "./buffer-shelf.ts";

describe("a buffer shelf", () => {
  it("hands out what was given back, to whom it is large enough for", () => {
    const shelf = new BufferShelf(1 << 20);
    const buffer = shelf.take(100_000);
    expect(buffer.length).toBeGreaterThanOrEqual(100_000);
    shelf.giveBack(buffer);
    expect(shelf.take(100_001)).toBe(buffer);
    expect(shelf.take(100_001)).not.toBe(buffer);
  });

  it("keeps no more than it may", () => {
    const shelf = new BufferShelf(1 << 20);
    const [first, second] = [shelf.take(1 << 20), shelf.take(1 << 20)];
    shelf.giveBack(first);
    shelf.giveBack(second);
    expect(shelf.take(1 << 20)).toBe(first);
    expect(shelf.take(1 << 20)).not.toBe(second);
  });

  it("never hands out a buffer to two at a time, nor one that is too small", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(300_000), fc.constant("give back" as const))), (steps) => {
        const shelf = new BufferShelf(1 << 19);
        const taken: Buffer[] = [];
        for (const step of steps)
          if (step === "give back") {
            const buffer = taken.shift();
            if (buffer !== undefined) shelf.giveBack(buffer);
          } else {
            const buffer = shelf.take(step);
            expect(buffer.length).toBeGreaterThanOrEqual(step);
            expect(taken).not.toContain(buffer);
            taken.push(buffer);
          }
      }),
    );
  });
});
