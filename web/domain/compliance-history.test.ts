import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  compliantShare,
  dayOf,
  type HistoryBucket,
  historyWords,
  percent,
  worstBucket,
} from "./compliance-history.ts";

const seconds = fc.integer({ min: 0, max: 86_400 });
const bucket = fc
  .record({ compliant: seconds, non_compliant: seconds, unknown: seconds, silent: seconds })
  .map((spent): HistoryBucket => ({ from: 0, to: 86_400, ...spent }));

const day = (at: number, compliant: number, non_compliant: number): HistoryBucket => ({
  from: at * 86_400,
  to: (at + 1) * 86_400,
  compliant,
  non_compliant,
  unknown: 0,
  silent: 0,
});

describe("a history of compliance", () => {
  it("lies between its worst part and the whole", () => {
    fc.assert(
      fc.property(fc.array(bucket, { minLength: 1, maxLength: 40 }), (buckets) => {
        const share = compliantShare(buckets);
        const worst = worstBucket(buckets);
        if (share === undefined) expect(worst).toBeUndefined();
        else if (worst === undefined) expect(share).toBe(1);
        else expect(compliantShare([worst])).toBeLessThanOrEqual(share + 1e-12);
      }),
    );
  });

  it("says the share of what was judged, and when it was least", () => {
    expect(historyWords([day(0, 100, 0), day(1, 50, 50), day(2, 90, 10)])).toBe(
      "Compliant for 80 % of the judged time; least on 1970-01-02, with 50 %",
    );
    expect(historyWords([day(0, 100, 0)])).toBe("Compliant for 100 % of the judged time");
    expect(historyWords([{ ...day(0, 0, 0), unknown: 5, silent: 9 }])).toBe(
      "No policy judged anything in this time",
    );
    expect(dayOf(1_795_364_842.79)).toBe("2026-11-22");
  });

  it("never rounds a part to the whole or to nothing", () => {
    expect([0, 0.001, 0.5, 0.999, 1].map(percent)).toEqual(["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]);
  });
});
