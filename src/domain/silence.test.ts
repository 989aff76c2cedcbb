import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { learnedLimit, rememberedGaps, rememberGap, usualInterval } from "./silence.ts";

const gap = fc.integer({ min: 0, max: 100_000 });

describe("the usual interval", () => {
  it("is unknown at first", () => {
    for (const gaps of [[], [60], [60, 60]]) {
      expect(usualInterval(gaps)).toBeUndefined();
      expect(learnedLimit(gaps)).toBeUndefined();
    }
  });

  it("is what three of four gaps keep to", () => {
    expect(usualInterval([60, 61, 62])).toBe(62);
    expect(usualInterval([1, 2, 3, 1000])).toBe(3);
    // Two reporters that report one after the other every hour.
    expect(usualInterval(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 10 : 3590)))).toBe(3590);
    fc.assert(
      fc.property(fc.array(gap, { minLength: 3, maxLength: rememberedGaps }), (gaps) => {
        const usual = usualInterval(gaps)!;
        expect(gaps).toContain(usual);
        expect(gaps.filter((each) => each <= usual).length).toBeGreaterThanOrEqual(gaps.length * 0.75);
        expect(gaps.filter((each) => each < usual).length).toBeLessThan(gaps.length * 0.75);
      }),
      { seed: 24 },
    );
  });

  it("is not changed by outages that are fewer than one in four", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.array(fc.integer({ min: 10_000, max: 10_000_000 }), { maxLength: 5 }),
        (usual, outages) => {
          const gaps = [...outages, ...Array.from({ length: rememberedGaps - 5 }, () => usual)];
          expect(usualInterval(gaps)).toBe(usual);
        },
      ),
      { seed: 24 },
    );
  });
});

describe("the learned limit", () => {
  it("is three usual intervals, and no less than a minute", () => {
    expect(learnedLimit([100, 100, 100])).toBe(300);
    expect(learnedLimit([1, 1, 1])).toBe(60);
  });

  it("is longer than every gap that is usual", () => {
    fc.assert(
      fc.property(fc.array(gap, { minLength: 3, maxLength: rememberedGaps }), (gaps) => {
        expect(learnedLimit(gaps)!).toBeGreaterThan(usualInterval(gaps)!);
      }),
      { seed: 24 },
    );
  });
});

describe("rememberGap", () => {
  it("keeps the latest, and takes time that ran backwards for none", () => {
    fc.assert(
      fc.property(fc.array(gap, { maxLength: 60 }), (gaps) => {
        const remembered = gaps.reduce<number[]>((known, each) => rememberGap(known, each), []);
        expect(remembered).toEqual(gaps.slice(-rememberedGaps));
      }),
      { seed: 24 },
    );
    expect(rememberGap([1], -5)).toEqual([1, 0]);
  });
});
