import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readVisits, withVisit } from "./recent.ts";

const visit = fc.record({
  path: fc.integer({ min: 0, max: 15 }).map((number) => `/acme/${number}`),
  title: fc.string(),
});

describe("pages that were visited", () => {
  it("are remembered once each, the last first, ten at most", () => {
    fc.assert(
      fc.property(fc.array(visit), visit, (before, last) => {
        const visits = withVisit(before.reduce(withVisit, []), last);
        expect(visits[0]).toEqual(last);
        expect(visits.length).toBeLessThanOrEqual(10);
        expect(new Set(visits.map(({ path }) => path)).size).toBe(visits.length);
        expect(readVisits(JSON.stringify(visits))).toEqual(visits);
      }),
    );
  });

  it("are forgotten when what is remembered makes no sense", () => {
    for (const text of [
      null,
      "",
      "{",
      "{}",
      '[{"path":"//evil.example","title":"x"}]',
      '[{"path":1}]',
      "[null]",
    ])
      expect(readVisits(text)).toEqual([]);
  });
});
