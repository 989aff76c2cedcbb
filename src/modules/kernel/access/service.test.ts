import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readKey } from "./service.ts";

/** Printable ASCII without blanks and colons: what a key may be under both schemes. */
const keys = fc.stringMatching(/^[!-9;-~]{1,512}$/);
const scheme = (name: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((upper) =>
      upper.map((high, index) => (high ? name.charAt(index).toUpperCase() : name.charAt(index))).join(""),
    );
const blanks = fc.integer({ min: 1, max: 5 }).map((count) => " ".repeat(count));

describe("readKey", () => {
  it("reads a bearer token, whatever the case of the scheme", () => {
    fc.assert(
      fc.property(keys, scheme("bearer"), blanks, blanks, (key, name, before, after) => {
        expect(readKey(`${name}${before}${key}`)).toBe(key);
        expect(readKey(`${name}${before}${key}${after}`)).toBe(key);
      }),
    );
  });

  it("reads the user name of basic credentials, whatever the password", () => {
    fc.assert(
      fc.property(keys, scheme("basic"), fc.string(), (key, name, password) => {
        const value = Buffer.from(`${key}:${password}`).toString("base64");
        expect(readKey(`${name} ${value}`)).toBe(key);
      }),
    );
  });

  it("answers a key of sensible length or nothing, to any text, and never throws", () => {
    const prefix = fc.constantFrom("", "Bearer ", "Basic ", "bearer", "Digest ", "Basic \t");
    fc.assert(
      fc.property(prefix, fc.string({ unit: "binary", maxLength: 700 }), (start, rest) => {
        const key = readKey(start + rest);
        if (key !== undefined) {
          expect(key.length).toBeGreaterThan(0);
          expect(key.length).toBeLessThanOrEqual(512);
          expect(start).toMatch(/^(bearer|basic)/i);
        }
      }),
    );
  });

  it.each([undefined, "", "Bearer", "Bearer ", "Basic", "Basic ", "Basic Og==", "Token abc", "Bearer a b"])(
    "reads nothing from %j",
    (header) => expect(readKey(header)).toBeUndefined(),
  );

  it("takes time in proportion to a hostile header's length", () => {
    const started = performance.now();
    for (let round = 0; round < 100; round += 1) readKey(`Bearer ${" ".repeat(15_000)}x y`);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
