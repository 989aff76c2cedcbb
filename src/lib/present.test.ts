import { describe, expect, it } from "vitest";

import { present } from "./present.ts";

describe("a value that must be there", () => {
  it("is taken as it is", () => {
    expect([0, "", false, Number.NaN].map((value) => present(value, "it was given"))).toEqual([
      0,
      "",
      false,
      Number.NaN,
    ]);
  });

  it("says why it must be there when it is not", () => {
    const message = "A value is missing, although every flow was made";
    expect(() => present(undefined, "every flow was made")).toThrow(message);
    expect(() => present(null, "every flow was made")).toThrow(message);
  });
});
