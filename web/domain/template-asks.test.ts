import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { askedSince, countAsked, type TemplateLike } from "./template-asks.ts";

const expected = fc.uniqueArray(
  fc.record({ name: fc.constantFrom("a", "b", "c"), type: fc.constantFrom("*", "junit") }),
  { selector: ({ name }) => name },
);
const template: fc.Arbitrary<TemplateLike> = fc.record({
  trail: fc.record({
    attestations: expected,
    artifacts: fc.uniqueArray(fc.record({ name: fc.constantFrom("x", "y", "z"), attestations: expected }), {
      selector: ({ name }) => name,
    }),
  }),
});

const web: TemplateLike = {
  trail: {
    attestations: [{ name: "review", type: "pull_request" }],
    artifacts: [{ name: "web", attestations: [{ name: "tests", type: "*" }] }],
  },
};

describe("what a template asks for", () => {
  it("says what is new, what is asked otherwise, and what is no longer asked", () => {
    const after: TemplateLike = {
      trail: {
        attestations: [],
        artifacts: [
          {
            name: "web",
            attestations: [
              { name: "tests", type: "junit" },
              { name: "scan", type: "snyk" },
            ],
          },
        ],
      },
    };
    expect(askedSince(web, after)).toEqual([
      {
        artifact: "web",
        change: "same",
        attestations: [
          { name: "tests", type: "junit", change: "changed", was: "*" },
          { name: "scan", type: "snyk", change: "new", was: undefined },
        ],
      },
      {
        artifact: null,
        change: "gone",
        attestations: [{ name: "review", type: "pull_request", change: "gone", was: undefined }],
      },
    ]);
    expect(countAsked(after)).toEqual({ attestations: 2, artifacts: 1 });
  });

  it("finds no change in the same template, and lists all of both", () => {
    fc.assert(
      fc.property(template, template, (before, after) => {
        const same = askedSince(after, after);
        expect(same.every(({ change }) => change === "same")).toBe(true);
        expect(
          same.flatMap(({ attestations }) => attestations).every(({ change }) => change === "same"),
        ).toBe(true);
        const places = askedSince(before, after);
        const asked = places.flatMap(({ attestations }) =>
          attestations.filter(({ change }) => change !== "gone"),
        );
        expect(asked).toHaveLength(countAsked(after).attestations);
        const kept = places.flatMap(({ attestations }) =>
          attestations.filter(({ change }) => change !== "new"),
        );
        expect(kept).toHaveLength(countAsked(before).attestations);
      }),
    );
  });
});
