import { describe, expect, it } from "vitest";

import { checkWords, type Health, healthInWords, mostUrgentFirst } from "./health.ts";

const checks = (...statuses: Health[]) =>
  statuses.map((status, index) => ({ name: `check_${index}`, status }));

describe("checkWords", () => {
  it("has words for a check, or makes some of its name", () => {
    expect(checkWords("data_disk")).toBe("Disk of the data");
    expect(checkWords("tape_drive")).toBe("Tape drive");
  });
});

describe("mostUrgentFirst", () => {
  it("keeps the order of equals", () => {
    const names = mostUrgentFirst(checks("ok", "degraded", "failing", "ok", "failing")).map(
      ({ name }) => name,
    );
    expect(names).toEqual(["check_2", "check_4", "check_1", "check_0", "check_3"]);
  });
});

describe("healthInWords", () => {
  it.each([
    [["ok", "ok"], "All 2 checks are well"],
    [["ok", "degraded"], "1 needs attention"],
    [["failing", "degraded", "degraded"], "1 check fails, 2 need attention"],
    [["failing", "failing"], "2 checks fail"],
  ] as const)("says of %j: %s", (statuses, words) => {
    expect(healthInWords(checks(...statuses))).toBe(words);
  });
});
