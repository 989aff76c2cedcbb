import { describe, expect, it } from "vitest";

import { isReservedControlIdentifier, parseControlVersion } from "./controls.ts";

describe("identifiers whose URL means something else", () => {
  it.each([".", "..", "tags"])("%s is one", (identifier) => {
    expect(isReservedControlIdentifier(identifier)).toBe(true);
  });

  it.each(["...", "Tags", "tag", "~", "-", "constructor"])("%s is none", (identifier) => {
    expect(isReservedControlIdentifier(identifier)).toBe(false);
  });
});

describe("version numbers", () => {
  it.each([
    ["1", 1],
    ["10", 10],
    ["999999999", 999_999_999],
  ])("reads %s", (text, number) => {
    expect(parseControlVersion(text)).toBe(number);
  });

  it.each(["", "0", "01", "-1", "+1", "1.0", "1e3", " 1", "x", "1000000000", "１"])("refuses %j", (text) => {
    expect(parseControlVersion(text)).toBeUndefined();
  });
});
