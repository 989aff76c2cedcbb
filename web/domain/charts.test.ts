import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { labelled, niceTop, percentOf, stack } from "./charts.ts";

describe("charts", () => {
  it("have a top that is not below what they show, and not far above", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), (most) => {
        expect(niceTop(most)).toBeGreaterThanOrEqual(most);
        expect(niceTop(most)).toBeLessThanOrEqual(most * 2.5);
      }),
    );
    expect(niceTop(0)).toBe(1);
  });

  it("stack bars without gap or overlap, within their height", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 4 }), (values) => {
        const top = niceTop(values.reduce((sum, value) => sum + value, 0));
        const parts = stack(values, top, 120);
        let bottom = 120;
        for (const part of parts) {
          expect(part.y + part.height).toBeCloseTo(bottom, 6);
          expect(part.y).toBeGreaterThanOrEqual(-1e-9);
          bottom = part.y;
        }
        expect(parts).toHaveLength(values.filter((value) => value > 0).length);
      }),
    );
  });

  it("name bars that stand far enough from each other", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 100 }), fc.integer({ min: 200, max: 1200 }), (count, width) => {
        const shown = labelled(count, width, 60);
        expect(shown[0]).toBe(0);
        expect(shown.at(-1)).toBeLessThan(count);
        expect(shown.length).toBeLessThanOrEqual(Math.floor(width / 60) + 1);
      }),
    );
    expect(labelled(0, 300, 60)).toEqual([]);
  });

  it("say nothing of nothing as 0", () => {
    expect(percentOf(0, 0)).toBe("0 %");
    expect(percentOf(1, 3)).toBe("33 %");
  });

  it("say neither all of what is almost all, nor nothing of what is something", () => {
    expect(percentOf(199, 200)).toBe("> 99 %");
    expect(percentOf(1, 300)).toBe("< 1 %");
  });
});
