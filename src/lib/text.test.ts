import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { capitalized, compareText, compareUnits } from "./text.ts";

/** The order as defined: the first code points that differ decide, then the length. */
function byDefinition(left: string, right: string): number {
  const [first, second] = [Array.from(left), Array.from(right)];
  for (let at = 0; at < Math.max(first.length, second.length); at += 1) {
    const difference = (first[at]?.codePointAt(0) ?? -1) - (second[at]?.codePointAt(0) ?? -1);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

describe("compareText", () => {
  it.each([
    ["", "", 0],
    ["", "a", -1],
    ["a", "B", 1],
    ["a", "ab", -1],
    ["\uffff", "\u{1f600}", -1],
    ["\u{1f600}", "\u{1f601}", -1],
    ["a\udc00", "a\udc01", -1],
    ["\ud83d", "\ud83d\ude00", -1],
  ])("puts %j and %j in order", (left, right, order) => {
    expect(compareText(left, right)).toBe(order);
    expect(compareText(right, left)).toBe(order === 0 ? 0 : -order);
  });

  it("is the order of code points, for any text", () => {
    const unit = fc.constantFrom("a", "b", "\ud83d", "\ude00", "\ude01", "\uffff", "é");
    const text = fc.array(unit, { maxLength: 5 }).map((units) => units.join(""));
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(compareText(left, right)).toBe(byDefinition(left, right));
      }),
    );
  });
});

it("compareUnits is the order that lists of texts have by themselves", () => {
  const unit = fc.constantFrom("a", "b", "\ud83d", "\ude00", "\uffff", "é");
  const text = fc.array(unit, { maxLength: 5 }).map((units) => units.join(""));
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      expect(texts.toSorted(compareUnits)).toEqual(texts.toSorted());
    }),
  );
  expect(compareUnits("a", "a")).toBe(0);
});

it.each([
  ["", ""],
  ["to begin", "To begin"],
  ["Two Words", "Two Words"],
])("capitalized writes %j as %j", (text, written) => expect(capitalized(text)).toBe(written));
