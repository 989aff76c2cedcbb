import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { diffLines, withContext } from "./line-diff.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c", "  d: e"), { maxLength: 30 });
const shown = (before: string, after: string): string[] =>
  diffLines(before, after).map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`);

describe("the difference of two texts", () => {
  it("says what went and what came", () => {
    expect(shown("a\nb\nc\n", "a\nx\nc\nd\n")).toEqual([" a", "-b", "+x", " c", "+d"]);
    expect(shown("", "a\n")).toEqual(["+a"]);
    expect(shown("a\r\nb\r\n", "a\nb")).toEqual([" a", " b"]);
  });

  it("gives both texts back, numbers every line, and keeps all that both have in common at their ends", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const all = diffLines(before.join("\n"), after.join("\n"));
        const old = all.filter(({ kind }) => kind !== "added");
        const young = all.filter(({ kind }) => kind !== "removed");
        expect(old.map(({ text }) => text)).toEqual(before);
        expect(young.map(({ text }) => text)).toEqual(after);
        expect(old.map((line) => line.before)).toEqual(before.map((_line, index) => index + 1));
        expect(young.map((line) => line.after)).toEqual(after.map((_line, index) => index + 1));
      }),
    );
  });

  it("changes nothing of what is the same", () => {
    fc.assert(
      fc.property(lines, (text) => {
        expect(diffLines(text.join("\n"), text.join("\n")).every(({ kind }) => kind === "same")).toBe(true);
      }),
    );
  });

  it("tells texts that are too long to compare as replaced, but for their ends", () => {
    const many = (word: string): string[] =>
      Array.from({ length: 3000 }, (_line, index) => `${word}${index}`);
    const all = diffLines(["head", ...many("a"), "end"].join("\n"), ["head", ...many("b"), "end"].join("\n"));
    expect([all.length, all[0]?.kind, all[1]?.kind, all.at(-2)?.kind, all.at(-1)?.kind]).toEqual([
      6002,
      "same",
      "removed",
      "added",
      "same",
    ]);
  });

  it("leaves out what is far from changes, and says how much", () => {
    const before = Array.from({ length: 20 }, (_line, index) => `line ${index}`);
    const folded = withContext(diffLines(before.join("\n"), before.with(10, "new").join("\n")), 2);
    expect(folded.map((line) => (line.kind === "skipped" ? line.count : line.kind))).toEqual([
      8,
      "same",
      "same",
      "removed",
      "added",
      "same",
      "same",
      7,
    ]);
  });
});
