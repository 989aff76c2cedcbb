import { describe, expect, it } from "vitest";

import { flips, previewStrips, ranIn } from "./previewed.ts";

const snapshots = [
  { index: 4, timestamp: 100, compliant: true, would_be_compliant: false },
  { index: 5, timestamp: 200, compliant: false, would_be_compliant: true },
  { index: 6, timestamp: 300, compliant: null, would_be_compliant: false },
];

describe("a preview", () => {
  it("lasts from each snapshot to the next, and the last until now", () => {
    const { was, wouldBe } = previewStrips(snapshots);
    expect(was).toEqual([
      { index: 4, from: 100, to: 200, verdict: "compliant" },
      { index: 5, from: 200, to: 300, verdict: "non-compliant" },
      { index: 6, from: 300, to: 0, verdict: "unknown" },
    ]);
    expect(wouldBe.map(({ verdict }) => verdict)).toEqual(["non-compliant", "compliant", "non-compliant"]);
  });

  it("counts what changes each way; the unknown does not", () => {
    expect(flips(snapshots)).toEqual({ stricter: 1, milder: 1 });
  });

  it("knows what ran in a snapshot, and in any", () => {
    const spans = [
      { first_index: 1, last_index: 3 },
      { first_index: 7, last_index: 7 },
    ];
    expect([1, 3, 4, 7, 8].map((index) => ranIn(spans, index))).toEqual([true, true, false, true, false]);
    expect(ranIn(spans, undefined)).toBe(true);
  });
});
