import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { AppError } from "../errors.ts";
import {
  chooseWindow,
  everything,
  parseBound,
  pageOfRange,
  parseInterval,
  resolveInterval,
  type Bound,
  type WindowQuery,
} from "./intervals.ts";

const now = Date.parse("2026-03-31T12:00:00Z") / 1000;

function index(number: number): Bound {
  return { kind: "index", index: number };
}

function moment(timestamp: number): Bound {
  return { kind: "moment", timestamp };
}

function message(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalid") return error.message;
    throw error;
  }
  throw new Error("Accepted");
}

describe("parseInterval", () => {
  it.each([
    ["", 1, -1],
    ["..", 1, -1],
    ["1..NOW", 1, -1],
    ["1..now", 1, -1],
    ["3..5", 3, 5],
    ["3..", 3, -1],
    ["..5", 1, 5],
    ["~3..NOW", -4, -1],
    ["~3..~1", -4, -2],
    ["~0..", -1, -1],
    ["-3..-1", -3, -1],
    ["NOW..NOW", -1, -1],
    [" 1 .. 2 ", 1, 2],
    ["NOW", -1, -1],
    ["1", 1, 1],
    ["~2", -3, -3],
    ["-2", -2, -2],
  ])("%j", (text, from, to) => {
    expect(parseInterval(text)).toEqual({ from: index(from), to: index(to) });
  });

  it.each([
    ["abc", "abc is not a valid snapshot index"],
    ["0", "0 is not a valid snapshot index"],
    ["-0", "-0 is not a valid snapshot index"],
    ["0..2", "0 is not a valid snapshot index"],
    ["x..2", "x is not a valid snapshot index"],
    ["1..y", "y is not a valid snapshot index"],
    ["1..1.5", "1.5 is not a valid snapshot index"],
    ["#1..2", "#1 is not a valid snapshot index"],
    ["1,2", "1,2 is not a valid snapshot index"],
    ["~..2", "~ is not a valid snapshot index"],
    ["1hour..NOW", "1hour is not a valid snapshot index"],
    ["1e3", "1e3 is not a valid snapshot index"],
    ["1..2..3", "Invalid interval value: 1..2..3"],
    ["....", "Invalid interval value: ...."],
    ["1...2", ".2 is not a valid snapshot index"],
  ])("refuses %j", (text, text2) => {
    expect(message(() => parseInterval(text))).toBe(text2);
  });
});

describe("parseBound", () => {
  it.each<[string, Bound]>([
    ["1", index(1)],
    ["999999999", index(999_999_999)],
    ["-1", index(-1)],
    ["~2", index(-3)],
    ["NOW", index(-1)],
    ["now", index(-1)],
    ["1000000000", moment(1_000_000_000)],
    ["1777956838.53", moment(1_777_956_838.53)],
    ["1hour", moment(now - 3600)],
    ["1h", moment(now - 3600)],
    ["2 hours", moment(now - 7200)],
    ["2hrs", moment(now - 7200)],
    ["2days", moment(now - 172_800)],
    ["1d", moment(now - 86_400)],
    ["30mins", moment(now - 1800)],
    ["30m", moment(now - 1800)],
    ["45s", moment(now - 45)],
    ["45secs", moment(now - 45)],
    ["1week", moment(now - 604_800)],
    ["1W", moment(now - 604_800)],
    ["1month", moment(Date.parse("2026-02-28T12:00:00Z") / 1000)],
    ["1year", moment(Date.parse("2025-03-31T12:00:00Z") / 1000)],
    ["999999999y", moment(0)],
  ])("%s", (text, bound) => {
    expect(parseBound(text, now)).toEqual(bound);
  });

  it.each([
    "",
    " ",
    "0",
    "x",
    "1x",
    "hour",
    "-1hour",
    "1.5hours",
    "12.5",
    "1e9",
    "1000000000.",
    "253402300800",
    "99999999999999",
    "#1",
    "1..2",
    "1  hour",
    "1 h ago",
    "1constructor",
  ])("refuses %j", (text) => {
    expect(message(() => parseBound(text, now))).toBe(`Invalid interval value: ${text}`);
  });

  it("means a snapshot, a moment or an error, for any text", () => {
    const part = fc.constantFrom("-", "~", "0", "1", "9999999999", ".", "..", "h", "days", "now", " ", "x");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const text = parts.join("");
        for (const read of [() => parseBound(text, now), () => parseInterval(text).from])
          try {
            const bound = read();
            if (bound.kind === "index") expect(bound.index).not.toBe(0);
            else expect(bound.timestamp).toBeGreaterThanOrEqual(0);
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
          }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("chooseWindow", () => {
  it.each<[string, WindowQuery, Bound, Bound]>([
    ["nothing", {}, index(1), index(-1)],
    ["an empty interval", { interval: "" }, index(1), index(-1)],
    ["an interval", { interval: "2..4" }, index(2), index(4)],
    ["a start wins over the interval", { interval: "2..4", start: "3" }, index(3), index(-1)],
    ["an end wins over the interval", { interval: "2..4", end: "3" }, index(1), index(3)],
    ["start and end", { start: "-5", end: "NOW" }, index(-5), index(-1)],
    ["a moment wins over the start", { start: "3", end: "4", start_ts: 5.5 }, moment(5.5), index(4)],
    ["a moment wins over the end", { start: "3", end: "4", end_ts: 6 }, index(3), moment(6)],
    [
      "moments win over all",
      { interval: "2..4", start: "3", end: "4", start_ts: 0, end_ts: 6 },
      moment(0),
      moment(6),
    ],
    ["a moment wins over the interval", { interval: "2..4", start_ts: 5 }, moment(5), index(-1)],
  ])("%s", (_, query, from, to) => {
    expect(chooseWindow(query, now)).toEqual({ from, to });
  });

  it.each<[WindowQuery, string]>([
    [{ start: "" }, "Invalid interval value: "],
    [{ end: "" }, "Invalid interval value: "],
    [{ start: "x", start_ts: 1 }, "Invalid interval value: x"],
    [{ interval: "x", start: "1" }, "x is not a valid snapshot index"],
  ])("refuses %j", (query, text) => {
    expect(message(() => chooseWindow(query, now))).toBe(text);
  });
});

describe("resolveInterval", () => {
  it.each([
    ["", 3, 1, 3],
    ["2..NOW", 3, 2, 3],
    ["2..99", 3, 2, 3],
    ["~1..NOW", 3, 2, 3],
    ["~99..NOW", 3, 1, 3],
    ["-2..-1", 3, 2, 3],
    ["2", 3, 2, 2],
    ["NOW", 3, 3, 3],
    ["..~1", 3, 1, 2],
  ])("%j of %i", (text, count, first, last) => {
    expect(resolveInterval(parseInterval(text), count)).toEqual({ first, last, from: null, to: null });
  });

  it.each([
    ["", 0],
    ["NOW", 0],
    ["4", 3],
    ["4..9", 3],
    ["3..2", 3],
    ["~3", 3],
    ["..~3", 3],
  ])("%j of %i is empty", (text, count) => {
    expect(resolveInterval(parseInterval(text), count)).toBeUndefined();
  });

  it("passes moments on", () => {
    expect(resolveInterval({ from: moment(5), to: index(-2) }, 4)).toEqual({
      first: 1,
      last: 3,
      from: 5,
      to: null,
    });
    expect(resolveInterval({ ...everything, to: moment(9) }, 4)).toEqual({
      first: 1,
      last: 4,
      from: null,
      to: 9,
    });
  });

  it("never leaves what exists", () => {
    const side = fc.constantFrom("", "1", "3", "99", "~0", "~2", "~99", "-1", "-5", "NOW");
    fc.assert(
      fc.property(side, side, fc.nat(8), (from, to, count) => {
        const range = resolveInterval(parseInterval(`${from}..${to}`), count);
        fc.pre(range !== undefined);
        expect(range.first).toBeGreaterThanOrEqual(1);
        expect(range.last).toBeLessThanOrEqual(count);
        expect(range.first).toBeLessThanOrEqual(range.last);
      }),
    );
  });
});

describe("pageOfRange", () => {
  it("cuts a range as a list would be cut", () => {
    const size = fc.integer({ min: 1, max: 7 });
    fc.assert(
      fc.property(
        fc.nat(5),
        fc.nat(20),
        fc.boolean(),
        size,
        size,
        (before, count, reverse, page, per_page) => {
          const range = { first: before + 1, last: before + count };
          const numbers = Array.from({ length: count }, (_, at) => range.first + at);
          const ordered = reverse ? numbers : numbers.toReversed();
          const expected = ordered.slice((page - 1) * per_page, page * per_page);
          const { first, last } = pageOfRange(range, { reverse, page, per_page });
          if (expected.length === 0) expect(first).toBeGreaterThan(last);
          else expect([first, last]).toEqual([Math.min(...expected), Math.max(...expected)]);
        },
      ),
    );
  });
});
