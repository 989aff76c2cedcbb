import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { countByDay, leadTimeBuckets, quantile, startOfDays } from "./series.ts";

const now = 1_790_000_000;
const days = fc.constantFrom(7, 14, 28, 90);

describe("series of charts", () => {
  it("counts each moment of the days once, and knows days without any", () => {
    fc.assert(
      fc.property(days, fc.array(fc.integer({ min: now - 100 * 86_400, max: now })), (length, moments) => {
        const counted = countByDay(moments, length, now);
        expect(counted).toHaveLength(length);
        expect(counted.map(({ day }) => day)).toEqual(counted.map(({ day }) => day).toSorted());
        const first = startOfDays(length, now);
        const sum = counted.reduce((total, { count }) => total + count, 0);
        expect(sum).toBe(moments.filter((moment) => moment >= first).length);
      }),
    );
  });

  it("finds quantiles among the values", () => {
    expect(quantile([], 0.5)).toBeUndefined();
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([5, 1], 0.99)).toBe(5);
    const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (all, part) => {
        const found = quantile(all, part)!;
        expect(all).toContain(found);
        expect(all.filter((one) => one <= found).length).toBeGreaterThanOrEqual(part * all.length);
      }),
    );
  });

  it("puts each lead time in one bucket", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e7, noNaN: true })), (seconds) => {
        const sum = leadTimeBuckets(seconds).reduce((total, { count }) => total + count, 0);
        expect(sum).toBe(seconds.length);
      }),
    );
    expect(leadTimeBuckets([0, 3_599, 3_600, 86_400]).map(({ count }) => count)).toEqual([2, 1, 0, 0, 0, 1]);
  });
});
