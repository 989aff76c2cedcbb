import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseIsoTime, utcText } from "./iso-time.ts";

describe("parseIsoTime", () => {
  it.each<[string, number]>([
    ["1970-01-01", 0],
    ["2026-08-01", 1_785_542_400],
    ["2026-08-01T12:30", 1_785_587_400],
    ["2026-08-01T12:30:05", 1_785_587_405],
    ["2026-08-01t12:30:05z", 1_785_587_405],
    ["2026-08-01 12:30:05.25Z", 1_785_587_405.25],
    ["2026-08-01T12:30:05.1234567Z", 1_785_587_405.123457],
    ["2026-08-01T14:30:05+02:00", 1_785_587_405],
    ["2026-08-01T14:30:05 02:00", 1_785_587_405],
    ["2026-08-01T07:00:05-0530", 1_785_587_405],
  ])("%s", (text, seconds) => {
    expect(parseIsoTime(text)).toBe(seconds);
  });

  it.each([
    "",
    "now",
    "1785542400",
    "2026-08",
    "2026-8-1",
    "2026-02-30",
    "2026-13-01",
    "2026-08-01T24:00",
    "2026-08-01T12:60",
    "2026-08-01T12",
    "2026-08-01T12:30.5:00",
    "2026-08-01T12:30:05+24:00",
    "2026-08-01T12:30:05+02:00Z",
    "1969-12-31T23:59:59Z",
    "1970-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "+12026-08-01",
    " 2026-08-01",
  ])("is nothing for %j", (text) => {
    expect(parseIsoTime(text)).toBeUndefined();
  });

  it("reads what machines print, and any text without harm", () => {
    const moment = fc.integer({ min: 0, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(moment, (milliseconds) => {
        expect(parseIsoTime(new Date(milliseconds).toISOString())).toBeCloseTo(milliseconds / 1000, 5);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const seconds = parseIsoTime(text);
        expect(seconds === undefined || Number.isFinite(seconds)).toBe(true);
      }),
    );
  });
});

describe("utcText", () => {
  it.each<[number, string]>([
    [0, "1970-01-01 00:00:00 UTC"],
    [1_786_000_000.9, "2026-08-06 07:06:40 UTC"],
    [253_402_300_800, "+010000-01-01 00:00:00 UTC"],
    [1e15, "1000000000000000 seconds after 1970"],
  ])("shows %d as %s", (at, text) => {
    expect(utcText(at)).toBe(text);
  });
});
