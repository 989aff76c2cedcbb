import { describe, expect, it } from "vitest";

import { duration, exactDuration, exactTime, momentWords, relativeTime, unitFor } from "./times.ts";

describe("times", () => {
  it.each([
    [0, "0 s"],
    [59, "59 s"],
    [60, "1 min"],
    [3_599, "59 min"],
    [7_200, "2 h"],
    [86_400 * 3, "3 d"],
    [86_400 * 65, "2 mo"],
    [86_400 * 800, "2 y"],
    [-120, "2 min"],
  ])("of %i seconds are %s", (seconds, words) => expect(duration(seconds)).toBe(words));

  it("are told in two units where one is not enough", () => {
    expect(exactDuration(86_400 * 3 + 3_600 * 4)).toBe("3 d 4 h");
    expect(exactDuration(86_400 * 3)).toBe("3 d");
    expect(exactDuration(61)).toBe("1 min");
  });

  it("are drawn in a unit of which there are two", () =>
    expect([0, 1, 119, 120, 7_199, 7_200, 172_800].map((most) => unitFor(most)[0])).toEqual([
      "seconds",
      "seconds",
      "seconds",
      "minutes",
      "minutes",
      "hours",
      "days",
    ]));

  it("are told from now", () => {
    expect(relativeTime(1_000, 1_003)).toBe("just now");
    expect(relativeTime(1_000, 1_100)).toBe("1 min ago");
    expect(relativeTime(5_000, 1_000, true)).toBe("in 1 h");
  });

  it("of what has happened are never ahead, whatever the clock of the server says", () => {
    expect(relativeTime(1_009, 1_000)).toBe("just now");
    expect(relativeTime(5_000, 1_000)).toBe("just now");
  });

  it.each([
    ["2026-11-22T09:00:00Z", "UTC", "today 09:00"],
    ["2026-11-21T23:59:00Z", "UTC", "yesterday 23:59"],
    ["2026-11-21T00:00:00Z", "UTC", "yesterday 00:00"],
    ["2026-11-20T23:59:00Z", "UTC", "2026-11-20 23:59"],
    ["2026-11-21T23:59:00Z", "Asia/Tokyo", "today 08:59"],
  ])("of %s in %s are told as people say them on the day after: %s", (at, zone, words) => {
    const now = Date.UTC(2026, 10, 22, 12) / 1000;
    expect(momentWords(Date.parse(at) / 1000, now, zone)).toBe(words);
  });

  it("are of yesterday at each hour of a day on which clocks are put on", () => {
    for (let hour = 0; hour < 23; hour += 1) {
      const now = Date.UTC(2026, 2, 28, 23 + hour, 30) / 1000;
      const words = momentWords(Date.UTC(2026, 2, 28, 12) / 1000, now, "Europe/Berlin");
      expect(words).toBe("yesterday 13:00");
    }
  });

  it("are told exactly in any zone", () => {
    expect(exactTime(1_795_361_277.5, "UTC")).toBe("2026-11-22 15:27:57");
    expect(exactTime(0, "Asia/Tokyo")).toBe("1970-01-01 09:00:00");
  });
});
