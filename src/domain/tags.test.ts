import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { tagKeyPattern } from "./names.ts";
import { parseTagFilter, taggedKind, taggedKindSpellings } from "./tags.ts";

describe("parseTagFilter", () => {
  it.each([
    ["team", { keys: ["team"], pairs: [] }],
    ["team:core", { keys: [], pairs: [["team", "core"]] }],
    ["url:http://x:80", { keys: [], pairs: [["url", "http://x:80"]] }],
    ["team:", { keys: [], pairs: [["team", ""]] }],
    [":core", { keys: [], pairs: [["", "core"]] }],
    ["", { keys: [""], pairs: [] }],
  ])("reads %j", (text, expected) => {
    expect(parseTagFilter([text])).toEqual(expected);
  });

  it("reads every text exactly once, in order", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        const { keys, pairs } = parseTagFilter(texts);
        expect(keys).toEqual(texts.filter((text) => !text.includes(":")));
        expect(pairs.map(([key, value]) => `${key}:${value}`)).toEqual(
          texts.filter((text) => text.includes(":")),
        );
        expect(pairs.every(([key]) => !key.includes(":"))).toBe(true);
      }),
    );
  });

  it("finds any key and value again", () => {
    fc.assert(
      fc.property(fc.stringMatching(tagKeyPattern), fc.string(), (key, value) => {
        expect(parseTagFilter([key, `${key}:${value}`])).toEqual({ keys: [key], pairs: [[key, value]] });
      }),
    );
  });
});

describe("taggedKind", () => {
  it("knows every spelling and no other", () => {
    expect(taggedKindSpellings.map((spelling) => taggedKind(spelling))).toEqual([
      "environment",
      "environment",
      "environment",
      "flow",
      "flow",
      "repo",
      "repo",
      "control",
      "control",
    ]);
    for (const other of ["", "ENV", "policy", "constructor", "__proto__"])
      expect(taggedKind(other)).toBeUndefined();
  });
});
