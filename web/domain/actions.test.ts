import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { environmentTriggers, flowTriggers } from "../../src/domain/actions.ts";
import {
  addressesIn,
  draftTargets,
  failingFirst,
  givenTargets,
  needsAddress,
  offeredTriggers,
  wordsOfTrigger,
} from "./actions.ts";

describe("triggers", () => {
  it("have words, and are offered once if they can fire", () => {
    for (const trigger of [...environmentTriggers, ...flowTriggers])
      expect(wordsOfTrigger(trigger)).not.toBe(trigger);
    expect(wordsOfTrigger("ON_NEWS")).toBe("ON_NEWS");
    expect(offeredTriggers.env.every((one) => environmentTriggers.includes(one))).toBe(true);
    expect(new Set(offeredTriggers.flow).size).toBe(offeredTriggers.flow.length);
  });
});

describe("failingFirst", () => {
  it("moves what fails to the front and keeps order and number otherwise", () => {
    const actions = fc.array(fc.record({ number: fc.nat(), is_failing: fc.constantFrom(true, false, null) }));
    fc.assert(
      fc.property(actions, (given) => {
        const sorted = failingFirst(given);
        const failing = sorted.filter(({ is_failing }) => is_failing === true);
        expect(sorted.slice(0, failing.length)).toEqual(failing);
        expect(failing).toEqual(given.filter(({ is_failing }) => is_failing === true));
        expect(sorted).toHaveLength(given.length);
      }),
    );
  });
});

describe("targets", () => {
  const stored = draftTargets([
    { type: "WEBHOOK" },
    { type: "WEBHOOK" },
    { type: "EMAIL", emails: ["a@b.example", "c@d.example"] },
  ]);

  it("that stay where they are may keep their address; others need it anew", () => {
    expect(stored.map((target, place) => needsAddress(target, place))).toEqual([false, false, false]);
    // Without the first, the second would take the first one's address.
    expect(stored.slice(1).map((target, place) => needsAddress(target, place))).toEqual([true, false]);
  });

  it("are written as the API takes them", () => {
    expect(givenTargets(stored)).toEqual([
      { type: "WEBHOOK", webhook: "" },
      { type: "WEBHOOK", webhook: "" },
      { type: "EMAIL", emails: ["a@b.example", "c@d.example"] },
    ]);
  });

  it("take addresses apart, however they are written", () => {
    expect(addressesIn(" a@b.example,\n c@d.example; a@b.example ")).toEqual(["a@b.example", "c@d.example"]);
    expect(addressesIn("  ")).toEqual([]);
  });
});
