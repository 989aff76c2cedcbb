import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BufferPool } from "./buffer-pool.ts";

describe("a buffer pool", () => {
  it("hands out what was given back, to whom it is large enough for", () => {
    const pool = new BufferPool(1 << 20);
    const buffer = pool.take(100_000);
    expect(buffer.length).toBeGreaterThanOrEqual(100_000);
    pool.giveBack(buffer);
    expect(pool.take(100_001)).toBe(buffer);
    expect(pool.take(100_001)).not.toBe(buffer);
  });

  it("keeps no more than it may", () => {
    const pool = new BufferPool(1 << 20);
    const [first, second] = [pool.take(1 << 20), pool.take(1 << 20)];
    pool.giveBack(first);
    pool.giveBack(second);
    expect(pool.take(1 << 20)).toBe(first);
    expect(pool.take(1 << 20)).not.toBe(second);
  });

  it("never hands out a buffer to two at a time, nor one that is too small", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(300_000), fc.constant("give back" as const))), (steps) => {
        const pool = new BufferPool(1 << 19);
        const taken: Buffer[] = [];
        for (const step of steps)
          if (step === "give back") {
            const buffer = taken.shift();
            if (buffer !== undefined) pool.giveBack(buffer);
          } else {
            const buffer = pool.take(step);
            expect(buffer.length).toBeGreaterThanOrEqual(step);
            expect(taken).not.toContain(buffer);
            taken.push(buffer);
          }
      }),
    );
  });
});
