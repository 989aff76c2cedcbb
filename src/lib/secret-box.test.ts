import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createSecretBox } from "./secret-box.ts";

/** What the cipher says of bytes it cannot vouch for. */
const refusal = /authenticat|initialization vector/i;

const box = createSecretBox("k".repeat(32));

describe("createSecretBox", () => {
  it("opens what it sealed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(box.open(box.seal(text))).toBe(text);
      }),
    );
  });

  it("seals a text differently each time, and hides it", () => {
    const [one, two] = [box.seal("a secret text"), box.seal("a secret text")];
    expect(one.equals(two)).toBe(false);
    expect(one.includes("secret")).toBe(false);
  });

  it("opens nothing that was changed, cut, or sealed with another key", () => {
    const sealed = box.seal("a secret text");
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      expect(() => box.open(changed)).toThrow(refusal);
    }
    for (const length of [0, 1, 12, 27, sealed.length - 1])
      expect(() => box.open(sealed.subarray(0, length))).toThrow(refusal);
    expect(() => createSecretBox("o".repeat(32)).open(sealed)).toThrow(refusal);
  });

  it("has a fingerprint that tells keys apart and does not contain them", () => {
    expect(box.fingerprint).toMatch(/^[a-f0-9]{16}$/);
    expect(createSecretBox("k".repeat(32)).fingerprint).toBe(box.fingerprint);
    expect(createSecretBox("o".repeat(32)).fingerprint).not.toBe(box.fingerprint);
  });

  it("derives what is the same for the same purpose and key, and for nothing else", () => {
    const [one, other] = [createSecretBox("k".repeat(32)), createSecretBox("l".repeat(32))];
    expect(one.derive("signing a")).toEqual(createSecretBox("k".repeat(32)).derive("signing a"));
    expect(one.derive("signing a")).toHaveLength(32);
    expect(one.derive("signing a")).not.toEqual(one.derive("signing b"));
    expect(one.derive("signing a")).not.toEqual(other.derive("signing a"));
  });
});
