import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { moveRefusal, pathOfSpace, type Placed, treeLines } from "./space-tree.ts";

/** Trees in which each space is in one that was made before it, or at the root. */
const trees = fc.array(fc.nat(), { maxLength: 30 }).map((parents) =>
  parents.map((parent, index): Placed => {
    const above = index === 0 ? 0 : parent % (index + 1);
    return { id: String(index), name: `space ${index}`, parent_id: above === index ? null : String(above) };
  }),
);

const spaces: Placed[] = [
  { id: "a", name: "Engineering", parent_id: null },
  { id: "b", name: "Data", parent_id: "a" },
  { id: "c", name: "Back office", parent_id: null },
];

describe("treeLines", () => {
  it("has every space once, below what it is in", () => {
    fc.assert(
      fc.property(trees, (given) => {
        const lines = treeLines(given);
        expect(lines.map(({ space }) => space.id).toSorted()).toEqual(given.map(({ id }) => id).toSorted());
        for (const [index, { space, depth }] of lines.entries()) {
          const above = lines.slice(0, index).findLast((line) => line.depth < depth);
          expect(above?.space.id ?? null).toBe(space.parent_id);
        }
      }),
    );
  });

  it("keeps what is in a space that is not known", () => {
    expect(treeLines([{ id: "x", name: "Lost", parent_id: "gone" }])).toHaveLength(1);
  });
});

describe("moveRefusal", () => {
  it("keeps a space out of itself and what is below it, and lets it go elsewhere", () => {
    expect(moveRefusal(spaces, "a", "a")).toContain("itself");
    expect(moveRefusal(spaces, "a", "b")).toContain("below");
    expect(moveRefusal(spaces, "b", "a")).toContain("already");
    expect(moveRefusal(spaces, "b", "c")).toBeUndefined();
    expect(moveRefusal(spaces, "b", null)).toBeUndefined();
  });

  it("never lets a tree lose a space", () => {
    fc.assert(
      fc.property(trees, fc.nat(), fc.nat(), (given, which, where) => {
        fc.pre(given.length > 0);
        const { id } = given[which % given.length]!;
        const into = where % (given.length + 1) === given.length ? null : given[where % given.length]!.id;
        fc.pre(moveRefusal(given, id, into) === undefined);
        const moved = given.map((space) => (space.id === id ? { ...space, parent_id: into } : space));
        expect(treeLines(moved)).toHaveLength(given.length);
      }),
    );
  });
});

describe("pathOfSpace", () => {
  it("names what is above a space, too", () => {
    expect(pathOfSpace(spaces, "b")).toBe("Engineering / Data");
    expect(pathOfSpace(spaces, null)).toBe("");
  });
});
