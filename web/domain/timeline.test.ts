import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { barAt, barOfSnapshot, handleAt, layOutTimeline, shareOfTime, worse, xOfTime } from "./timeline.ts";
import type { Verdict } from "./verdict.ts";

const verdicts: readonly Verdict[] = ["compliant", "non-compliant", "unknown"];

/** Snapshots that follow each other without gaps; the latest lasts until now. */
const histories = fc
  .record({
    start: fc.integer({ min: 1_600_000_000, max: 1_700_000_000 }),
    lengths: fc.array(fc.double({ min: 0, max: 1_000_000, noNaN: true }), { minLength: 1, maxLength: 900 }),
    kinds: fc.array(fc.constantFrom(...verdicts), { minLength: 900, maxLength: 900 }),
  })
  .map(({ start, lengths, kinds }) => {
    let at = start;
    const snapshots = lengths.map((length, place) => {
      const from = at;
      at += length;
      return {
        index: place + 1,
        from,
        to: place === lengths.length - 1 ? 0 : at,
        verdict: kinds[place] ?? "unknown",
        policies_changed: place % 7 === 3,
      };
    });
    return { snapshots, now: at };
  });
const widths = fc.integer({ min: 20, max: 2000 });
/** So few that most histories have snapshots that share one. */
const fewBars = fc.integer({ min: 1, max: 5 });
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe("the timeline", () => {
  it("fills the width with bars that touch and do not overlap, no more than there is room for", () => {
    fc.assert(
      fc.property(histories, widths, ({ snapshots, now }, width) => {
        const { bars } = layOutTimeline(snapshots, [], { width, now });
        expect(bars.length).toBeLessThanOrEqual(Math.min(600, width));
        let x = 0;
        for (const bar of bars) {
          expect(bar.x).toBeCloseTo(x, 6);
          expect(bar.width).toBeGreaterThan(0);
          x = bar.x + bar.width;
        }
        expect(x).toBeCloseTo(width, 3);
      }),
      { numRuns: 60 },
    );
  });

  it("shows every snapshot in one bar, which is as bad as the worst of its own", () => {
    fc.assert(
      fc.property(histories, ({ snapshots, now }) => {
        const { bars } = layOutTimeline(snapshots, [], { width: 900, now });
        expect(bars.reduce((sum, { first, last }) => sum + last - first + 1, 0)).toBe(snapshots.length);
        for (const bar of bars) {
          const own = snapshots.filter(({ index }) => index >= bar.first && index <= bar.last);
          expect(own.map(({ verdict }) => verdict).reduce(worse)).toBe(bar.verdict);
          expect(bar.policies_changed).toBe(own.some(({ policies_changed }) => policies_changed));
        }
      }),
      { numRuns: 40 },
    );
  });

  it("draws the same whatever the order, and longer times no narrower", () => {
    fc.assert(
      fc.property(histories, ({ snapshots, now }) => {
        const picture = layOutTimeline(snapshots, [], { width: 900, now });
        expect(layOutTimeline(snapshots.toReversed(), [], { width: 900, now })).toEqual(picture);
        const sorted = picture.bars.toSorted((a, b) => a.to - a.from - (b.to - b.from));
        for (const [place, bar] of sorted.entries())
          expect(bar.width).toBeGreaterThanOrEqual((sorted[place - 1]?.width ?? 0) - 1e-6);
      }),
      { numRuns: 40 },
    );
  });

  it("finds the bar under a place, and puts moments where their snapshot is", () => {
    fc.assert(
      fc.property(histories, share, ({ snapshots, now }, part) => {
        const { bars, from, to } = layOutTimeline(snapshots, [], { width: 900, now });
        const bar = barAt(bars, 900 * part)!;
        expect(barOfSnapshot(bars, bar.first)).toBe(bar);
        const x = xOfTime(bars, from + (to - from) * part);
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(900.001);
      }),
    );
    expect(barAt([], 1)).toBeUndefined();
  });

  it("counts the time of each verdict by snapshots, however many of them share a bar", () => {
    fc.assert(
      fc.property(histories, fewBars, ({ snapshots, now }, maxBars) => {
        const timeline = layOutTimeline(snapshots, [], { width: 900, now, maxBars });
        const whole = now - snapshots[0]!.from;
        for (const verdict of verdicts) {
          const own = snapshots.filter((one) => one.verdict === verdict);
          const seconds = own.reduce((sum, { from, to }) => sum + (to === 0 ? now : to) - from, 0);
          expect(shareOfTime(timeline, verdict)).toBeCloseTo(whole === 0 ? 0 : seconds / whole, 6);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("has a share for short good times between short bad ones", () => {
    const seconds = 10_000;
    const snapshots = Array.from({ length: seconds }, (_, at) => ({
      index: at + 1,
      from: 1_600_000_000 + at,
      to: 1_600_000_001 + at,
      verdict: at % 4 === 0 ? ("non-compliant" as const) : ("compliant" as const),
    }));
    const timeline = layOutTimeline(snapshots, [], { width: 300, now: 1_600_000_000 + seconds });
    // All bars are bad.
    expect(timeline.bars.every(({ verdict }) => verdict === "non-compliant")).toBe(true);
    expect(shareOfTime(timeline, "compliant")).toBe(0.75);
  });

  it("gives the nearest handle, and of two in one place the one on the side that it is taken to", () => {
    expect(handleAt([10, 50], 20)).toBe(0);
    expect(handleAt([10, 50], 40)).toBe(1);
    expect([handleAt([30, 30], 31), handleAt([30, 30], 29), handleAt([30, 30], 30)]).toEqual([1, 0, 0]);
    expect([handleAt([undefined, 5], 0), handleAt([undefined], 0), handleAt([], 0)]).toEqual([1, -1, -1]);
  });

  it("shows silence within the time that it shows", () => {
    const snapshots = [
      { index: 1, from: 0, to: 100, verdict: "compliant" as const },
      { index: 2, from: 100, to: 0, verdict: "non-compliant" as const },
    ];
    const gaps = [
      { from: -50, to: -10 },
      { from: 50, to: 150 },
      { from: 180, to: null },
    ];
    const timeline = layOutTimeline(snapshots, gaps, { width: 200, now: 200, minWidth: 0 });
    expect(timeline.silences).toEqual([
      { x: 50, width: 100 },
      { x: 180, width: 20 },
    ]);
    expect(shareOfTime(timeline, "compliant")).toBe(0.5);
    const empty = layOutTimeline([], gaps, { width: 200, now: 5 });
    expect(empty).toMatchObject({ bars: [], from: 5, to: 5 });
    expect(shareOfTime(empty, "compliant")).toBe(0);
  });
});
