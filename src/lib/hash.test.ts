import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { equalInConstantTime, hmacSha256Hex, sha256 } from "./hash.ts";

describe("sha256", () => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ])("of %j is the published value", (text, hex) => expect(sha256(text).toString("hex")).toBe(hex));

  it("takes text as UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(sha256(text)).toEqual(sha256(Buffer.from(text, "utf8")));
      }),
    );
  });
});

describe("hmacSha256Hex", () => {
  it("agrees with RFC 4231 test case 2", () => {
    expect(hmacSha256Hex("Jefe", Buffer.from("what do ya want for nothing?"))).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });
});

describe("equalInConstantTime", () => {
  it("says whether two texts are the same, of any lengths", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(equalInConstantTime(a, a)).toBe(true);
        expect(equalInConstantTime(a, b)).toBe(a === b);
      }),
    );
  });
});
