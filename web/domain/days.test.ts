import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { dayOf, endOfDay, startOfDay } from "./days.ts";

const days = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2090-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

describe("days", () => {
  it("reads days that there are, and nothing else", () => {
    expect(dayOf("2026-11-22")).toBe("2026-11-22");
    for (const none of ["2026-02-30", "2026-13-01", "22.11.2026", "", 20_261_122, undefined])
      expect(dayOf(none)).toBeUndefined();
    fc.assert(fc.property(days, (day) => dayOf(day) === day));
  });

  it("takes a day from its first moment to its last", () => {
    expect(startOfDay(undefined)).toBeUndefined();
    expect(endOfDay(undefined)).toBeUndefined();
    fc.assert(
      fc.property(days, (day) => {
        const [first, last] = [new Date(startOfDay(day)! * 1000), new Date(endOfDay(day)! * 1000)];
        expect([first.getDate(), last.getDate()]).toEqual([Number(day.slice(8)), Number(day.slice(8))]);
        expect(new Date(last.getTime() + 1).getDate()).not.toBe(last.getDate());
      }),
    );
  });
});
