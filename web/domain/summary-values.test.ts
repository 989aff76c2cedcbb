import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { summaryValue } from "./summary-values.ts";

const data = { lines: 81.5, tool: "cov", deep: { "a b": [1, [2, 3]] }, none: null };

describe("values of a summary", () => {
  it("finds what stands at a path", () => {
    expect(summaryValue(".", data)).toBe(data);
    expect(summaryValue(".lines", data)).toBe(81.5);
    expect(summaryValue('.deep["a b"][1][-1]', data)).toBe(3);
    expect(summaryValue('.deep."a b"[0]', data)).toBe(1);
    expect(summaryValue(" .missing.deeper ", data)).toBeNull();
    expect(summaryValue(".none.x", data)).toBeNull();
    expect(summaryValue(".constructor", data)).toBeNull();
  });

  it("writes texts with values in them", () => {
    expect(summaryValue(String.raw`"\(.lines) %"`, data)).toBe("81.5 %");
    expect(summaryValue(String.raw`"\(.tool): \( .deep["x"] )"`, data)).toBeUndefined();
    expect(summaryValue(String.raw`"\(.tool): \(.missing)"`, data)).toBe("cov: null");
    expect(summaryValue('"plain"', data)).toBe("plain");
    expect(summaryValue('""', data)).toBe("");
  });

  it("leaves to others what is more than that, and what makes a mistake", () => {
    for (const expression of [
      ".lines | floor",
      ".[]",
      ".a?",
      "1",
      ".deep | length",
      "..",
      ".a..b",
      ".lines.x",
      ".tool[0]",
      '"',
      String.raw`"\n"`,
      '"a" + "b"',
    ])
      expect([expression, summaryValue(expression, data)]).toEqual([expression, undefined]);
  });

  it("finds any key of any data, and never fails", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Za-z_]\w*$/), fc.jsonValue()), (some) => {
        for (const [key, value] of Object.entries(some)) expect(summaryValue(`.${key}`, some)).toEqual(value);
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (expression, value) => {
        summaryValue(expression, value);
      }),
    );
  });
});
