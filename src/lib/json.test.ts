import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isStorable, JsonError, parseJson } from "./json.ts";

const parse = (text: string): unknown => parseJson(Buffer.from(text));

describe("parseJson", () => {
  it("reads what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        if (/\\u0000|\\ud[89a-f]|__proto__/i.test(text)) return;
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(["", "  ", "\n"])("reads nothing from %j", (text) => expect(parse(text)).toBeUndefined());
  it("reads null", () => expect(parse("null")).toBeNull());

  it.each([
    ["{", "Syntax error"],
    ["{'a':1}", "Syntax error"],
    ['{"a":1}x', "Syntax error"],
    ['"\\u0000"', "Text must not contain NUL or unpaired surrogates"],
    ['{"\\u0000":1}', "Text must not contain NUL or unpaired surrogates"],
    ['[["\\ud800"]]', "Text must not contain NUL or unpaired surrogates"],
    ['{"__proto__":{}}', "The key __proto__ is not allowed"],
    ['{"a":{"\\u005f_proto__":{}}}', "The key __proto__ is not allowed"],
    ["[".repeat(101) + "]".repeat(101), "Nesting is deeper than 100 levels"],
    ['{"a":'.repeat(101) + "1" + "}".repeat(101), "Nesting is deeper than 100 levels"],
  ])("refuses %j", (text, reason) => {
    expect(() => parse(text)).toThrow(new JsonError(reason));
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(
      new JsonError("Text is not valid UTF-8"),
    );
  });

  it("allows 100 levels, and any number of brackets inside texts", () => {
    expect(parse("[".repeat(100) + "]".repeat(100))).toBeDefined();
    const text = JSON.stringify(`${"[".repeat(500)}\\"${"{".repeat(500)}`);
    expect(parse(text)).toBe(JSON.parse(text));
  });

  it("allows paired surrogates", () => expect(parse('"\\ud83d\\ude00"')).toBe("😀"));

  it("throws nothing but its own error, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          parseJson(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError);
        }
      }),
    );
  });
});

describe("isStorable", () => {
  it("refuses NUL and half pairs only", () => {
    expect(isStorable("a\0")).toBe(false);
    expect(isStorable("\ud800")).toBe(false);
    expect(isStorable("\udc00\ud800")).toBe(false);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => text.includes("\0") || isStorable(text)),
    );
  });
});
