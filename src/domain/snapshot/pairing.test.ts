import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { finish } from "../../lib/steps.ts";
import { nameWithoutTag } from "../artifact-name.ts";
import { type Pairable, pairVersions } from "./pairing.ts";

function one(key: string, given: Partial<Pairable> = {}): Pairable {
  return {
    key,
    name: key,
    fingerprint: key,
    flow_name: null,
    template_reference_name: null,
    follows: [],
    ...given,
  };
}

/** Pairs as `before>after`. */
function paired(gone: Pairable[], come: Pairable[]): string[] {
  return finish(pairVersions(gone, come)).map(({ before, after }) => `${before.key}>${after.key}`);
}

describe("pairing versions", () => {
  const built = { flow_name: "ci", template_reference_name: "web" };

  it("goes by what ran before, then by flow and template name, then by name without tag", () => {
    const gone = [
      one("a", { name: "x:1", ...built }),
      one("b", { name: "y:1", ...built }),
      one("c", { name: "z:1" }),
      one("d", { name: "left:1", flow_name: "ci", template_reference_name: "other" }),
    ];
    const come = [
      one("A", { name: "unlike", follows: ["q", "a"], ...built }),
      one("B", { name: "unlike, too", ...built }),
      one("C", { name: "z:2", ...built }),
      one("D", { name: "come:1", flow_name: "cd", template_reference_name: "other" }),
    ];
    expect(paired(gone, come)).toEqual(["a>A", "b>B", "c>C"]);
  });

  it("knows what ran before when the second snapshot is the older one", () => {
    expect(paired([one("new", { follows: ["old"] })], [one("old")])).toEqual(["new>old"]);
  });

  it("pairs several of one name in their order, and leaves over what is too many", () => {
    const gone = [one("b", { name: "web:2" }), one("a", { name: "web:1" })];
    const come = ["e", "d", "c"].map((key) => one(key, { name: "web:3" }));
    expect(paired(gone, come)).toEqual(["a>c", "b>d"]);
  });

  it("never takes two of unknown digest for one another by that", () => {
    const unknown = { fingerprint: "", follows: [""] };
    expect(paired([one(" a", unknown)], [one(" b", unknown)])).toEqual([]);
  });

  const keys = fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 16 });
  const few = fc.constantFrom(null, "p", "q");
  const side = (prefix: string) =>
    keys.chain((numbers) =>
      fc.tuple(
        ...numbers.map((number) =>
          fc
            .record({
              name: fc.constantFrom("web:1", "web:2", "api:1", "db"),
              flow_name: few,
              template_reference_name: few,
              follows: fc.array(
                fc.tuple(fc.constantFrom("a", "b"), fc.integer({ min: 0, max: 40 })).map(([p, n]) => p + n),
                { maxLength: 3 },
              ),
            })
            .map((given) => one(`${prefix}${number}`, given)),
        ),
      ),
    );

  it("has each in one pair at most, whichever side is first and in whatever order they come", () => {
    fc.assert(
      fc.property(side("a"), side("b"), fc.func(fc.integer()), (gone, come, weigh) => {
        const pairs = paired(gone, come);
        const sides = pairs.map((pair) => pair.split(">"));
        expect(new Set(sides.flat()).size).toBe(2 * pairs.length);
        for (const [before, after] of sides) {
          expect(gone.some(({ key }) => key === before)).toBe(true);
          expect(come.some(({ key }) => key === after)).toBe(true);
        }
        const mirrored = paired(come, gone).map((pair) => pair.split(">").toReversed().join(">"));
        expect(mirrored.toSorted()).toEqual(pairs.toSorted());
        const shuffled = (some: Pairable[]) => some.toSorted((left, right) => weigh(left) - weigh(right));
        expect(paired(shuffled(gone), shuffled(come))).toEqual(pairs);
      }),
    );
  });

  it("leaves no two over that follow one another, are built as one thing, or have one name", () => {
    fc.assert(
      fc.property(side("a"), side("b"), (gone, come) => {
        const taken = new Set(paired(gone, come).flatMap((pair) => pair.split(">")));
        const [left, right] = [gone, come].map((some) => some.filter(({ key }) => !taken.has(key)));
        for (const before of left!)
          for (const after of right!) {
            expect(after.follows).not.toContain(before.key);
            expect(before.follows).not.toContain(after.key);
            expect(nameWithoutTag(before.name)).not.toBe(nameWithoutTag(after.name));
            const { flow_name, template_reference_name } = after;
            if (flow_name !== null)
              expect([before.flow_name, before.template_reference_name]).not.toEqual([
                flow_name,
                template_reference_name,
              ]);
          }
      }),
    );
  });
});
