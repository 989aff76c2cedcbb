import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createCalendar } from "./calendar.ts";

const day = 24 * 3600;
const end = 1_790_000_000.5;

describe("the calendar", () => {
  const calendar = createCalendar(end, 365);

  it("never goes back and stays within its span", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(share, share, (a, b) => {
        const [early, late] = [calendar(Math.min(a, b)), calendar(Math.max(a, b))];
        expect(early).toBeLessThanOrEqual(late);
        expect(early).toBeGreaterThanOrEqual(end - 365 * day - 1e-5);
        expect(late).toBeLessThan(end);
      }),
    );
  });

  it("has people work on weekdays, by day, and more at the end than at the beginning", () => {
    const moments = Array.from({ length: 10_000 }, (_, index) => calendar(index / 10_000));
    const dates = moments.map((at) => new Date(at * 1000));
    const share = (is: (date: Date) => boolean): number => dates.filter(is).length / dates.length;
    expect(share((date) => date.getUTCDay() % 6 === 0)).toBeLessThan(0.06);
    expect(share((date) => date.getUTCHours() >= 7 && date.getUTCHours() < 19)).toBeGreaterThan(0.9);
    expect(moments.filter((at) => at > end - 182.5 * day).length).toBeGreaterThan(5_200);
  });

  it("covers a span of a day as well", () => {
    const short = createCalendar(end, 1);
    expect(short(0)).toBeGreaterThanOrEqual(end - day - 1e-5);
    expect(short(1)).toBeLessThan(end);
  });
});
