import { describe, expect, it } from "vitest";

import { zip } from "./zip.ts";

describe("pairing two lists", () => {
  it("takes the items at the same place", () => {
    expect(zip(["a", "b"], [1, null])).toEqual([
      ["a", 1],
      ["b", null],
    ]);
    expect(zip([], [])).toEqual([]);
  });

  it("refuses lists of which one is longer", () => {
    expect(() => zip(["a"], [])).toThrow("Lists of 1 and 0 items cannot be paired");
    expect(() => zip([], ["a"])).toThrow("Lists of 0 and 1 items cannot be paired");
  });
});
