import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BufferPool } from "./buffer-pool.ts";

// Buffers are compared by the tests: expectations write what they are given into a message first, which takes seconds for a megabyte.
describe("a buffer pool", () => {
  it("hands out what was given back, to whom it is large enough for", () => {
    const pool = new BufferPool(1 << 20);
    const buffer = pool.take(100_000);
    expect(buffer.length).toBeGreaterThanOrEqual(100_000);
    pool.giveBack(buffer);
    expect(pool.take(100_001) === buffer).toBe(true);
    expect(pool.take(100_001) === buffer).toBe(false);
  });

  it("keeps no more than it may", () => {
    const pool = new BufferPool(1 << 20);
    const [first, second] = [pool.take(1 << 20), pool.take(1 << 20)];
    pool.giveBack(first);
    pool.giveBack(second);
    expect(pool.take(1 << 20) === first).toBe(true);
    expect(pool.take(1 << 20) === second).toBe(false);
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
            expect(taken.includes(buffer)).toBe(false);
            taken.push(buffer);
          }
      }),
    );
  });
});
