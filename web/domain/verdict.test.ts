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
    [true, 0, "compliant"],
    [false, 1, "non-compliant"],
    // Without policies, or where members of a logical environment are without.
    [false, 0, "unknown"],
    // Of servers that do not count.
    [false, undefined, "non-compliant"],
  ] as const)("of a snapshot that is %j with %j failing artifacts is %s", (compliant, failing, verdict) =>
    expect(verdictOfSnapshot(compliant, failing)).toBe(verdict),
  );

  it("of an allowed artifact is that no rule applies", () => {
    expect(verdictOfArtifact(true, true)).toBe("exempt");
    expect(verdictOfArtifact(false)).toBe("non-compliant");
  });
});
