import { describe, expect, it } from "vitest";

import { mebibyte } from "../lib/units.ts";
import { UnsentBytes } from "./unsent-bytes.ts";

describe("UnsentBytes", () => {
  it("has room for one caller up to a limit, and for all up to another", () => {
    const unsent = new UnsentBytes();
    expect(unsent.take("a", 20 * mebibyte)).toBeDefined();
    expect(unsent.take("a", 13 * mebibyte)).toBeUndefined();
    expect(unsent.take("a", 12 * mebibyte)).toBeDefined();
    expect(unsent.take("b", 32 * mebibyte)).toBeDefined();
    expect(unsent.take("c", 1)).toBeUndefined();
  });

  it("lets a caller have one answer that is larger than its share", () => {
    const unsent = new UnsentBytes();
    expect(unsent.take("a", 40 * mebibyte)).toBeDefined();
    expect(unsent.take("a", 1)).toBeUndefined();
    expect(unsent.take("b", 20 * mebibyte)).toBeDefined();
  });

  it("has the room again when the bytes are gone", () => {
    const unsent = new UnsentBytes();
    const gone = unsent.take("a", 32 * mebibyte)!;
    const others = unsent.take("b", 32 * mebibyte)!;
    gone();
    expect(unsent.take("b", mebibyte)).toBeUndefined();
    expect(unsent.take("c", 32 * mebibyte)).toBeDefined();
    others();
    expect(unsent.take("b", 32 * mebibyte)).toBeDefined();
  });
});
