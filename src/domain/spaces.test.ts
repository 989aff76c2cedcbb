import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type SpacePlace, spaceNamePattern, wouldFormCycle } from "./spaces.ts";

/** A forest: the parent of each space is an earlier one or none. */
const forest: fc.Arbitrary<SpacePlace[]> = fc.array(fc.nat(), { maxLength: 12 }).map((choices) =>
  choices.map((choice, index) => ({
    id: String(index),
    parent_id: choice % (index + 1) === index ? null : String(choice % (index + 1)),
  })),
);

function descendants(spaces: SpacePlace[], id: string): string[] {
  return [id, ...spaces.filter((s) => s.parent_id === id).flatMap((s) => descendants(spaces, s.id))];
}

describe("wouldFormCycle", () => {
  it("forbids exactly the space itself and everything below it", () => {
    fc.assert(
      fc.property(forest, (spaces) => {
        for (const { id } of spaces) {
          const below = descendants(spaces, id);
          expect(wouldFormCycle(spaces, id, null)).toBe(false);
          for (const target of spaces)
            expect(wouldFormCycle(spaces, id, target.id)).toBe(below.includes(target.id));
        }
      }),
    );
  });

  it("ends on a tree that is already broken", () => {
    const broken = [
      { id: "a", parent_id: "b" },
      { id: "b", parent_id: "a" },
      { id: "c", parent_id: null },
    ];
    expect(wouldFormCycle(broken, "c", "a")).toBe(false);
  });
});

describe("spaceNamePattern", () => {
  it.each(["a", "Team A", "äöü ✓", "a/b: c"])("accepts %j", (name) => {
    expect(spaceNamePattern.test(name)).toBe(true);
  });
  it.each(["", " ", " a", "a ", "a\nb", "\ta"])("refuses %j", (name) => {
    expect(spaceNamePattern.test(name)).toBe(false);
  });
});
