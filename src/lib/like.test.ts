import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { containsPattern } from "./like.ts";

/** What LIKE does, as a regular expression. */
function like(pattern: string): RegExp {
  const source = pattern.replace(/\\(.)|[%_]|./gsu, (token, escaped: string | undefined) => {
    if (token === "%") return ".*";
    if (token === "_") return ".";
    return (escaped ?? token).replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  });
  return new RegExp(`^${source}$`, "su");
}

const text = fc.string({ unit: fc.constantFrom("a", "B", "%", "_", "\\", "-", "é") });

describe("containsPattern", () => {
  it("matches exactly the texts that contain it", () => {
    fc.assert(
      fc.property(text, text, text, (before, part, after) => {
        const pattern = like(containsPattern(part));
        expect(pattern.test(`${before}${part}${after}`)).toBe(true);
        const other = `${before}${after}`;
        expect(pattern.test(other)).toBe(other.includes(part));
      }),
    );
  });
});
