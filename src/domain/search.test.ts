import { describe, expect, it } from "vitest";

import { resolveMatches, searchPattern } from "./search.ts";

describe("resolveMatches", () => {
  it("tells one thing from several", () => {
    expect(resolveMatches([], [])).toBeUndefined();
    expect(resolveMatches(["f"], [])).toEqual({ type: "fingerprint", full_match: "f" });
    expect(resolveMatches([], ["c"])).toEqual({ type: "commit", full_match: "c" });
    for (const [fingerprints, commits] of [
      [["f", "g"], []],
      [[], ["f", "d"]],
      [["f"], ["c"]],
    ] as const)
      expect(resolveMatches(fingerprints, commits)).toEqual({ type: "multiple", full_match: "f" });
  });
});

describe("searchPattern", () => {
  it("takes five to 64 hexadecimal digits", () => {
    for (const text of ["abcde", "ABCDEF1", "0".repeat(64)]) expect(text).toMatch(searchPattern);
    for (const text of ["abcd", "abcdg", "0".repeat(65), "", "abcde\n"])
      expect(text).not.toMatch(searchPattern);
  });
});
