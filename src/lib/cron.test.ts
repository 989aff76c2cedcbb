import fc from "fast-check";
import { parseCronItem } from "graphile-worker";
import { describe, expect, it } from "vitest";

import { nextTime, parseCron } from "./cron.ts";

const at = (text: string): number => Date.parse(text) / 1000;
const next = (cron: string, after: string): string =>
  new Date(nextTime(parseCron(cron), at(after)) * 1000).toISOString();

describe("a time by the clock", () => {
  it("comes next where people expect it, in UTC", () => {
    expect(next("17 2 * * *", "2026-11-23T02:16:59.9Z")).toBe("2026-11-23T02:17:00.000Z");
    expect(next("17 2 * * *", "2026-11-23T02:17:00Z")).toBe("2026-11-24T02:17:00.000Z");
    expect(next("43 3 * * 0", "2026-11-23T00:00:00Z")).toBe("2026-11-29T03:43:00.000Z");
    expect(next("0 0 1 1 *", "2026-01-01T00:00:00Z")).toBe("2027-01-01T00:00:00.000Z");
    expect(next("*/30 9-17 * 3,4 *", "2026-04-30T17:30:00Z")).toBe("2027-03-01T09:00:00.000Z");
  });

  it("comes when the queue queues it", () => {
    const field = (from: number, to: number): fc.Arbitrary<string> =>
      fc.oneof(
        fc.constant("*"),
        fc.integer({ min: from, max: to }).map(String),
        fc.integer({ min: 1, max: 7 }).map((step) => `*/${step}`),
        fc.uniqueArray(fc.integer({ min: from, max: to }), { minLength: 1, maxLength: 3 }).map(String),
      );
    const crons = fc.tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6));
    fc.assert(
      fc.property(crons, fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }), (parts, after) => {
        const item = parseCronItem({ task: "task", match: parts.join(" ") });
        const cron = parseCron(parts.join(" "));
        const found = nextTime(cron, after);
        const matches = (seconds: number): boolean => {
          const time = new Date(seconds * 1000);
          const [min, hour, date] = [time.getUTCMinutes(), time.getUTCHours(), time.getUTCDate()];
          return item.match({ min, hour, date, month: time.getUTCMonth() + 1, dow: time.getUTCDay() });
        };
        expect(found).toBeGreaterThan(after);
        expect(matches(found)).toBe(true);
        // Not before, as far as that can be looked at quickly.
        for (let minute = found - 60; minute > Math.max(after, found - 3 * 86_400); minute -= 60)
          expect(matches(minute)).toBe(false);
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    "",
    "17 2 * *",
    "17 2 * * * backup",
    "@daily",
    "77 2 * * *",
    "0 0 30 2 *",
    "0 0 29 2 *",
    "a 2 * * *",
  ])("'%s' is refused", (text) => {
    expect(() => parseCron(text)).toThrow(/^must be |^names no |^Too (?:large|small) value/);
  });
});
