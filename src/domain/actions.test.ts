import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseActionNumber } from "./actions.ts";

describe("parseActionNumber", () => {
  it("reads every number an action can have", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_147_483_647 }), (number) => {
        expect(parseActionNumber(String(number))).toBe(number);
      }),
    );
  });

  it.each(["", "0", "-1", "+1", "01", "1.0", "1e3", "0x1", " 1", "abc", "2147483648", "9".repeat(40), "١"])(
    "finds no number in %j",
    (text) => expect(parseActionNumber(text)).toBeUndefined(),
  );
});
