import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readJson, shownValue } from "./json-text.ts";

describe("JSON that somebody wrote", () => {
  it("is read when it is an object or a list, and told what is wrong otherwise", () => {
    expect(readJson('{"a": [1]}')).toEqual({ value: { a: [1] } });
    expect(readJson("[1, 2]")).toEqual({ value: [1, 2] });
    for (const text of ["1", '"a"', "null", "true"])
      expect(readJson(text)).toEqual({ wrong: "This has to be an object or a list" });
    expect(readJson("{")).toEqual({ wrong: expect.stringMatching(/^This is no JSON: /) });
  });

  it("comes back as it was written, and never throws", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const written = JSON.stringify(value);
        expect(readJson(written)).toEqual({ value: JSON.parse(written) });
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => Object.keys(readJson(text)).length === 1));
  });

  it("is shown as people read it", () => {
    expect(["text", 1, null, { a: [true] }].map(shownValue)).toEqual(["text", "1", "null", '{"a":[true]}']);
  });
});
