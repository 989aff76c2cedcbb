import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  type Change,
  changesBy,
  changesByAll,
  gatherChanges,
  mostNames,
  parsePosition,
  positionText,
  topics,
} from "./changes.ts";

describe("what is to be looked at again", () => {
  it.each<[type: string, resource: string, told: [string, string | null, number | null][]]>([
    ["environment", "prod", [["environment", "prod", null]]],
    ["snapshot", "prod#7", [["environment", "prod", 7]]],
    ["trail", "web-ci/v1", [["trail", "web-ci/v1", null]]],
    [
      "allowlist",
      "prod/abc",
      [
        ["allow_list", "prod/abc", null],
        ["environment", "prod", null],
      ],
    ],
    ["api_key", "ci/0a-1", [["service_account", "ci", null]]],
    ["api_key", "0a-1", []],
    ["quality_delivery", "0a-1", [["integration", "quality", null]]],
    ["signing_secret", "notifications", []],
    ["attestation", "0a-1", []],
    ["user", "ann", []],
  ])("when a %s %s was written", (resource_type, resource, told) => {
    expect(
      changesBy({ resource_type, resource }).map(({ topic, name, index }) => [topic, name, index]),
    ).toEqual(told);
  });
});

describe("what is to be looked at again when much was written", () => {
  it("is all of the topic, where there may be more than was listed", () => {
    const many = Array.from({ length: mostNames + 1 }, (_, index) => ({
      resource_type: "snapshot",
      resource: `e#${index}`,
    }));
    const one = { resource_type: "flow", resource: "web" };
    expect(changesByAll([...many, one])).toEqual([
      { topic: "environment", name: null, index: null },
      { topic: "flow", name: "web", index: null },
    ]);
    expect(changesByAll(many.slice(1))).toHaveLength(mostNames);
  });
});

const change = fc.record<Change>({
  topic: fc.constantFrom(...topics.slice(0, 3)),
  name: fc.option(fc.constantFrom(...Array.from({ length: 70 }, (_, index) => `n${index}`)), { freq: 300 }),
  index: fc.option(fc.integer({ min: 1, max: 9 })),
});

describe("what is told at a time", () => {
  it("names each thing once, the latest number of it, and not too many", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
        const told = gatherChanges(changes);
        for (const { topic, name, index } of told) {
          expect(told.filter((other) => other.topic === topic && other.name === name)).toHaveLength(1);
          const meant = changes.filter((one) => one.topic === topic && one.name === name);
          if (name !== null) expect(index).toBe(Math.max(0, ...meant.map((one) => one.index ?? 0)) || null);
        }
        for (const topic of topics)
          expect(told.filter((one) => one.topic === topic).length).toBeLessThanOrEqual(mostNames);
        for (const { topic, name } of changes)
          expect(told.some((one) => one.topic === topic && (one.name === null || one.name === name))).toBe(
            true,
          );
      }),
    );
  });
});

describe("a position", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (seq, at) => {
        expect(parsePosition(positionText({ seq, at }))).toEqual({ seq, at });
      }),
    );
    expect(positionText({ seq: 3, at: 1.9 })).toBe("3-1");
  });

  it.each(["", "7", "-7", "7-", "7-8-9", "a-b", "7-8 ", "9".repeat(16) + "-1"])("%j is none", (text) => {
    expect(parsePosition(text)).toBeUndefined();
  });
});
