import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { planStatistics, statisticsUnits } from "./flow-statistics.ts";
import { daySeconds } from "../lib/units.ts";

// A Wednesday, at noon.
const now = Date.UTC(2026, 6, 15, 12) / 1000;

const iso = (microseconds: number): string => new Date(microseconds / 1000).toISOString();

describe("the window of a flow's statistics", () => {
  it("has four weeks until now when nothing is said", () => {
    const plan = planStatistics({ bucket: "day" }, now);
    expect([plan.start_ts, plan.end_ts]).toEqual([now - 28 * daySeconds, now]);
    expect(plan.buckets).toHaveLength(29);
    expect(plan.buckets.at(-1)).toMatchObject({ from: (now - daySeconds / 2) * 1e6, to: now * 1e6 });
  });

  it("has weeks that begin on Monday", () => {
    const { buckets } = planStatistics({ bucket: "week", start_ts: now - 9 * daySeconds }, now);
    expect(buckets.map(({ from, to }) => [iso(from), iso(to)])).toEqual([
      ["2026-07-06T12:00:00.000Z", "2026-07-13T00:00:00.000Z"],
      ["2026-07-13T00:00:00.000Z", "2026-07-15T12:00:00.000Z"],
    ]);
  });

  it("leaves out what is yet to come", () => {
    expect(
      planStatistics({ bucket: "day", start_ts: now - daySeconds, end_ts: now + daySeconds }, now).end_ts,
    ).toBe(now);
    const ahead = planStatistics(
      { bucket: "day", start_ts: now + daySeconds, end_ts: now + 2 * daySeconds },
      now,
    );
    expect(ahead.buckets).toHaveLength(1);
  });

  it.each([{ start_ts: now - 91 * daySeconds }, { start_ts: 2, end_ts: 1 }])("refuses %j", (asked) => {
    expect(() => planStatistics({ bucket: "day", ...asked }, now)).toThrow("Input payload validation failed");
  });

  it("is divided without gaps into no more parts than days", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...statisticsUnits),
        fc.double({ min: 0, max: now, noNaN: true }),
        fc.double({ min: 0, max: 90 * daySeconds - 1, noNaN: true }),
        (bucket, start_ts, length) => {
          const { buckets, ...plan } = planStatistics({ bucket, start_ts, end_ts: start_ts + length }, now);
          expect(buckets.length).toBeGreaterThan(0);
          expect(buckets.length).toBeLessThanOrEqual(91);
          expect(buckets[0]!.from).toBe(Math.round(plan.start_ts * 1e6));
          expect(buckets.at(-1)!.to).toBe(Math.round(plan.end_ts * 1e6));
          for (const [index, { to }] of buckets.slice(0, -1).entries())
            expect(buckets[index + 1]!.from).toBe(to);
        },
      ),
    );
  });
});
