import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { AppError } from "../errors.ts";
import { absoluteIndex, noSuchSnapshot, parseSnappish, parseSnapshotExpression } from "./expressions.ts";
import { ago, parseDateTime, type TimeUnit } from "./moments.ts";

function at(text: string): number {
  return Date.parse(text) / 1000;
}

const now = at("2026-03-31T12:30:00Z") + 0.25;

function message(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalid") return error.message;
    throw error;
  }
  throw new Error("Accepted");
}

describe("parseSnapshotExpression", () => {
  it.each([
    ["1", 1, "#1"],
    ["42", 42, "#42"],
    ["007", 7, "#7"],
    ["-1", -1, "#-1"],
    ["-3", -3, "#-3"],
    ["#5", 5, "#5"],
    ["#-2", -2, "#-2"],
    ["~0", -1, "#-1"],
    ["~1", -2, "#-2"],
    ["~10", -11, "#-11"],
    ["@{now}", -1, "#-1"],
    ["@{NOW}", -1, "#-1"],
    ["0", 0, "#0"],
    ["-0", 0, "#0"],
  ])("%s is snapshot %i", (text, index, asked) => {
    expect(parseSnapshotExpression(text, now)).toEqual({ kind: "index", index, asked });
  });

  it.each([
    ["@{2026-08-01T12:00:00}", at("2026-08-01T12:00:00Z")],
    ["@{2024-02-29T23:59:59}", at("2024-02-29T23:59:59Z")],
    ["@{0001-01-01T00:00:00}", 0],
    ["@{9999-12-31T23:59:59}", at("9999-12-31T23:59:59Z")],
    ["@{0.hours.ago}", now],
    ["@{2.hours.ago}", now - 7200],
    ["@{1.hour.ago}", now - 3600],
    ["@{3.days.ago}", now - 3 * 86_400],
    ["@{2.weeks.ago}", now - 14 * 86_400],
    ["@{1.months.ago}", at("2026-02-28T12:30:00Z") + 0.25],
    ["@{2.months.ago}", at("2026-01-31T12:30:00Z") + 0.25],
    ["@{13.months.ago}", at("2025-02-28T12:30:00Z") + 0.25],
    ["@{25.months.ago}", at("2024-02-29T12:30:00Z") + 0.25],
    ["@{999999999.hours.ago}", 0],
    ["@{999999999.months.ago}", 0],
  ])("%s is the moment %d", (text, timestamp) => {
    expect(parseSnapshotExpression(text, now)).toEqual({ kind: "moment", timestamp, asked: text });
  });

  it.each([
    "", "abc", "#", "#abc", "~", "~-1", "~x", "--1", "+1", "1.5", "1e3", " 1", "1 ", "1\n", "##1", "#~1", "@", "@{}", "@now", "@{xyz}", "@{now", "@{now}x",
    "@{2026-13-01T00:00:00}", "@{2026-02-30T00:00:00}", "@{2026-02-28T24:00:00}", "@{2026-02-28T23:59:60}",
    "@{2026-02-28}", "@{2026-02-28T12:00}", "@{2026-02-28 12:00:00}", "@{2026-02-28T12:00:00Z}", "@{2026-02-28T12:00:00+01:00}",
    "@{2.years.ago}", "@{-1.days.ago}", "@{1.5.days.ago}", "@{days.ago}", "@{1.days}", "@{1 days ago}", "@{1.DAYS.AGO}",
    "9999999999999999", "NOW", "HEAD", "\0", "٣",
  ])("refuses %j", (text) => {
    expect(message(() => parseSnapshotExpression(text, now))).toBe(`Bad snappish ${text}`);
  }); // prettier-ignore

  it("means a snapshot, a moment or an error, for any text", () => {
    const part = fc.constantFrom("#", "~", "@", "{", "}", "-", "0", "1", "99", ".", "days", "ago", "now", "2026-01-01T00:00:00", "x", "\n"); // prettier-ignore
    const text = fc.oneof(
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 12 }),
    );
    fc.assert(
      fc.property(text, (source) => {
        try {
          const expression = parseSnapshotExpression(source, now);
          expect(
            expression.kind === "index"
              ? Number.isSafeInteger(expression.index)
              : expression.timestamp >= 0 && expression.timestamp < 253_402_300_800,
          ).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ kind: "invalid", message: `Bad snappish ${source}` });
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("parseSnappish", () => {
  it.each([
    ["prod", "prod", { kind: "index", index: -1, asked: "" }],
    ["prod-1.eu_2", "prod-1.eu_2", { kind: "index", index: -1, asked: "" }],
    ["prod#5", "prod", { kind: "index", index: 5, asked: "#5" }],
    ["prod~2", "prod", { kind: "index", index: -3, asked: "#-3" }],
    ["prod@{now}", "prod", { kind: "index", index: -1, asked: "#-1" }],
    ["prod@{1.days.ago}", "prod", { kind: "moment", timestamp: now - 86_400, asked: "@{1.days.ago}" }],
    [
      "prod@{2026-01-01T00:00:00}",
      "prod",
      { kind: "moment", timestamp: at("2026-01-01T00:00:00Z"), asked: "@{2026-01-01T00:00:00}" },
    ],
  ])("%s", (text, environment, expression) => {
    expect(parseSnappish(text, now)).toEqual({ environment, expression });
  });

  it.each([
    "",
    "#1",
    "~1",
    "@{now}",
    "prod#",
    "prod#x",
    "prod~",
    "prod@",
    "prod@{x}",
    "prod#1#2",
    "my env",
    "-prod",
    "prod/1",
    "prod#1 ",
  ])("refuses %j", (text) => {
    expect(message(() => parseSnappish(text, now))).toBe(`Bad snappish ${text}`);
  });
});

describe("noSuchSnapshot", () => {
  it.each([
    ["e", 0, "Org: 'o'. Snapshot 'e' resolves to 'e#0'. len(snapshots) == 0. Indexes are 1-based"],
    ["e#-1", 0, "Org: 'o'. Snapshot 'e#-1' resolves to 'e#0'. len(snapshots) == 0. Indexes are 1-based"],
    ["e#23", 3, "Org: 'o'. Snapshot 'e#23' resolves to 'e#23'. len(snapshots) == 3. Indexes are 1-based"],
    ["e~5", 3, "Org: 'o'. Snapshot 'e#-6' resolves to 'e#-2'. len(snapshots) == 3. Indexes are 1-based"],
    ["e#0", 3, "Org: 'o'. Snapshot 'e#0' resolves to 'e#0'. len(snapshots) == 3. Indexes are 1-based"],
    [
      "e@{1.days.ago}",
      3,
      "Org: 'o'. Snapshot 'e@{1.days.ago}' resolves to 'e#0'. len(snapshots) == 3. Indexes are 1-based",
    ],
  ])("%s of %i", (text, count, expected) => {
    expect(noSuchSnapshot("o", parseSnappish(text, now), count)).toMatchObject({
      kind: "not_found",
      message: expected,
    });
  });

  it.each([
    [1, 3, 1],
    [3, 3, 3],
    [4, 3, 4],
    [-1, 3, 3],
    [-3, 3, 1],
    [-4, 3, 0],
    [0, 3, 0],
  ])("counts %i of %i as %i", (index, count, absolute) => {
    expect(absoluteIndex(index, count)).toBe(absolute);
  });
});

describe("moments", () => {
  it("goes back whole months without leaving them out or skipping into others", () => {
    const anyMoment = fc.integer({ min: at("1990-01-01T00:00:00Z"), max: at("2100-01-01T00:00:00Z") });
    fc.assert(
      fc.property(anyMoment, fc.integer({ min: 0, max: 200 }), (moment, months) => {
        const [from, to] = [new Date(moment * 1000), new Date(ago(moment, months, "month") * 1000)];
        const monthOf = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth();
        expect(monthOf(from) - monthOf(to)).toBe(months);
        expect(to.getUTCDate()).toBeLessThanOrEqual(from.getUTCDate());
        expect(to.toISOString().slice(10)).toBe(from.toISOString().slice(10));
        expect(ago(moment, 12, "year")).toBe(ago(moment, 144, "month"));
      }),
    );
  });

  it.each<[TimeUnit, number]>([
    ["second", 1],
    ["minute", 60],
    ["hour", 3600],
    ["day", 86_400],
    ["week", 604_800],
  ])("a %s has %i seconds", (unit, seconds) => {
    expect(ago(now, 2, unit)).toBe(now - 2 * seconds);
  });

  it("reads the times that exist, and says them the same again", () => {
    const times = fc.date({ min: new Date("1970-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
    fc.assert(
      fc.property(times, (time) => {
        const text = time.toISOString().slice(0, 19);
        expect(parseDateTime(text)).toBe(Math.floor(time.getTime() / 1000));
      }),
    );
  });
});
