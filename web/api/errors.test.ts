import { describe, expect, it } from "vitest";

import { ApiError, withMistakes } from "./errors.ts";

describe("a refusal", () => {
  const refused = new ApiError(400, "Input payload validation failed", {
    errors: { "rules.0": "It does not end", summary: "It has no name" },
  });

  it("says what is wrong with the input, and in which part of it where that is asked for", () => {
    expect(withMistakes(refused)).toEqual({ message: "It does not end\nIt has no name" });
    expect(withMistakes(refused, true)).toEqual({
      message: "rules.0: It does not end\nsummary: It has no name",
    });
  });

  it("stays what it is where the server names no mistake", () => {
    for (const error of [new ApiError(503, "The server is overloaded"), new Error("Broken")])
      for (const isNamed of [false, true]) expect(withMistakes(error, isNamed)).toBe(error);
  });
});
