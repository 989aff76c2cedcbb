import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { periods, startOf } from "./periods.ts";
import {
  differencePath,
  numbered,
  presetsFor,
  readExpression,
  readSnapshotName,
  snapshotPath,
} from "./snapshot-names.ts";

describe("names of snapshots", () => {
  it("part into environment and the rest, which together are the name", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9._-]{1,9}$/),
        fc.constantFrom("", "#7", "~1", "@{now}"),
        (env, rest) => {
          expect(readSnapshotName(env + rest)).toEqual({ env, rest });
        },
      ),
    );
    expect(numbered("prod", 3)).toBe("prod#3");
  });

  it("are offered to compare with, the previous one where there is one", () => {
    const from = (...given: Parameters<typeof presetsFor>): string[] =>
      presetsFor(...given).map((one) => one.from);
    expect(from("prod", { index: 7 })).toEqual(["prod#6", "prod@{1.days.ago}", "prod@{1.weeks.ago}"]);
    expect(presetsFor("prod", { index: 1 })).toHaveLength(2);
    expect(presetsFor("prod", {})).toHaveLength(2);
  });

  it("are offered to compare an older one with what ran a day or a week before it", () => {
    const timestamp = Date.UTC(2026, 2, 9, 12) / 1000;
    expect(presetsFor("prod~2", { index: 7, timestamp }).map(({ words, from }) => [words, from])).toEqual([
      ["Previous", "prod#6"],
      ["A day before", "prod@{2026-03-08T12:00:00}"],
      ["A week before", "prod@{2026-03-02T12:00:00}"],
    ]);
    expect(presetsFor("prod#3", { index: 3 })).toHaveLength(1);
  });
});

describe("times until now", () => {
  it("begin at whole minutes, and are never longer than they say", () => {
    const names = ["1h", "24h", "7d", "30d", "90d"] as const;
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.integer({ min: 1e9, max: 4e9 }), (period, now) => {
        const start = startOf(period, now);
        expect(start % 60).toBe(0);
        expect(now - start).toBeLessThanOrEqual(periods[period]);
        expect(now - start).toBeGreaterThan(periods[period] - 60);
      }),
    );
  });

  it.each([
    ["prod~1", { kind: "snapshot", env: "prod", expression: "~1" }],
    [" prod#7 ", { kind: "snapshot", env: "prod", expression: "7" }],
    ["prod@{2.days.ago}", { kind: "snapshot", env: "prod", expression: "@{2.days.ago}" }],
    ["prod#7..prod#9", { kind: "difference", from: "prod#7", to: "prod#9" }],
    ["staging..eu.prod@{now}", { kind: "difference", from: "staging", to: "eu.prod@{now}" }],
    ["prod", undefined],
    ["fix #7", undefined],
    ["a..b..c", undefined],
    ["@{now}", undefined],
  ])("are read out of %s", (typed, expression) => {
    expect(readExpression(typed)).toEqual(expression);
  });

  it("lead to pages that stay what they are", () => {
    expect(snapshotPath("acme", "prod", 7, { q: "a&b", open: undefined })).toBe(
      "/acme/environments/prod/snapshots/7?q=a%26b",
    );
    expect(differencePath("acme", "prod#7", "prod#9")).toBe("/acme/diff?from=prod%237&to=prod%239");
  });
});
