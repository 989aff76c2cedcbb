import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createRandom } from "./random.ts";

function draw<T>(count: number, next: () => T): T[] {
  return Array.from({ length: count }, next);
}

describe("random numbers", () => {
  it("are the same for the same seed, and others for another", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const first = draw(8, createRandom(a).next);
        expect(draw(8, createRandom(a).next)).toEqual(first);
        if (a !== b) expect(draw(8, createRandom(b).next)).not.toEqual(first);
      }),
    );
  });

  it("are the published ones of the generator", () => {
    // Computed apart from this program, from the definitions of FNV-1a and mulberry32.
    const known = createRandom("");
    expect(draw(3, () => Math.floor(known.next() * 2 ** 32))).toEqual([2625274932, 2119670693, 3324411561]);
  });

  it("stay in range and reach all of it", () => {
    const random = createRandom("range");
    const seen = new Set(draw(1000, () => random.int(-2, 3)));
    expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
  });

  it("pick by weight, never what weighs nothing", () => {
    const random = createRandom("weights");
    const items = [
      { name: "never", weight: 0 },
      { name: "seldom", weight: 1 },
      { name: "often", weight: 9 },
    ];
    const picks = draw(2000, () => random.weighted(items).name);
    expect(picks).not.toContain("never");
    const often = picks.filter((name) => name === "often").length;
    expect(often).toBeGreaterThan(1700);
    expect(often).toBeLessThan(1900);
  });

  it("shuffle without losing anything", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (items) => {
        const inOrder = (numbers: number[]): number[] => numbers.toSorted((a, b) => a - b);
        expect(inOrder(createRandom("s").shuffled(items))).toEqual(inOrder(items));
      }),
    );
  });

  it("refuse to pick from nothing", () => {
    expect(() => createRandom("").pick([])).toThrow(RangeError);
  });
});
