import { describe, expect, it } from "vitest";

import { verdictOfArtifact, verdictOfFlag, verdictOfSnapshot, verdictOfText } from "./verdict.ts";

describe("a verdict", () => {
  it.each([
    ["COMPLIANT", "compliant"],
    ["NON-COMPLIANT", "non-compliant"],
    ["INCOMPLETE", "incomplete"],
    ["MISSING", "missing"],
    ["non_compliant", "non-compliant"],
    ["something new", "unknown"],
    [null, "unknown"],
    [undefined, "unknown"],
  ] as const)("of the text %j is %s", (text, verdict) => expect(verdictOfText(text)).toBe(verdict));

  it.each([
    [true, "compliant"],
    [false, "non-compliant"],
    [null, "unknown"],
    [undefined, "unknown"],
  ] as const)("of the state %j is %s", (state, verdict) => expect(verdictOfFlag(state)).toBe(verdict));

  it.each([
    [true, { true: 1, false: 0, null: 0 }, "compliant"],
    [true, { true: 0, false: 0, null: 0 }, "compliant"],
    [false, { true: 1, false: 1, null: 0 }, "non-compliant"],
    [false, { true: 0, false: 0, null: 3 }, "unknown"],
    [false, { true: 1, false: 0, null: 3 }, "non-compliant"],
    [false, { true: 0, false: 0, null: 0 }, "non-compliant"],
  ] as const)("of a snapshot that is %j with %j is %s", (compliant, counts, verdict) =>
    expect(verdictOfSnapshot(compliant, counts)).toBe(verdict),
  );

  it("of an allowed artifact is that no rule applies", () => {
    expect(verdictOfArtifact(true, true)).toBe("exempt");
    expect(verdictOfArtifact(false)).toBe("non-compliant");
  });
});
