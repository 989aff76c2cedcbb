import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { environmentTypes, membershipProblem, onlyPhysicalInLogical } from "./environments.ts";
import { archivedName, environmentNamePattern } from "./names.ts";

const type = fc.constantFrom(...environmentTypes);

describe("membershipProblem", () => {
  it("is none exactly for no members, or physical ones in something logical", () => {
    fc.assert(
      fc.property(type, fc.array(type), (group, members) => {
        const fine = members.length === 0 || (group === "logical" && !members.includes("logical"));
        const problem = membershipProblem(
          group,
          members.map((member) => ({ type: member })),
        );
        expect(problem).toBe(fine ? undefined : onlyPhysicalInLogical);
      }),
    );
  });
});

describe("archivedName", () => {
  it("is a legal name that ends in whole seconds", () => {
    expect(archivedName("prod", 1787150398.6166384)).toBe("prod-archived-at-1787150398");
    fc.assert(
      fc.property(
        fc.stringMatching(environmentNamePattern),
        fc.double({ min: 0, max: 4e9, noNaN: true }),
        (name, at) => {
          const archived = archivedName(name, at);
          expect(archived).toMatch(environmentNamePattern);
          expect(archived.startsWith(`${name}-archived-at-`)).toBe(true);
          expect(Number(archived.slice(name.length + "-archived-at-".length))).toBe(Math.floor(at));
        },
      ),
    );
  });
});
