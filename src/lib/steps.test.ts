import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { turnsDuring } from "../../test/support/turns.ts";
import { groupBy } from "./group.ts";
import { eachOf, finish, grouped, paced, sorted, type Steps } from "./steps.ts";

/** Keeps the event loop busy. */
function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

function* work(steps: number, ms: number, log: string[] = [], name = ""): Steps<number> {
  for (let step = 0; step < steps; step += 1) {
    busy(ms);
    log.push(name);
    yield;
  }
  return steps;
}

describe("steps", () => {
  it("come to the same however they are driven", async () => {
    expect(finish(work(3, 0))).toBe(3);
    expect(await paced(work(3, 0))).toBe(3);
  });

  it("fail as what they do fails", async () => {
    function* failing(): Steps<void> {
      yield;
      throw new Error("no");
    }
    expect(() => finish(failing())).toThrow("no");
    await expect(paced(failing())).rejects.toThrow("no");
  });

  it("let others in between, and take turns among each other", async () => {
    const log: string[] = [];
    const turns = await turnsDuring(() =>
      Promise.all(["a", "b", "c"].map((name) => paced(work(40, 2, log, name)))),
    );
    // Slices of ten milliseconds or little more, one in each turn of the event loop.
    expect(turns).toBeGreaterThanOrEqual(20);
    const begun = ["a", "b", "c"].map((name) => log.indexOf(name));
    const ended = ["a", "b", "c"].map((name) => log.lastIndexOf(name));
    expect(Math.max(...begun)).toBeLessThan(Math.min(...ended));
  });

  it("share a slice with what was done before them in the same turn", async () => {
    const turns = await turnsDuring(async () => {
      // Each has less to do than a slice holds: with one of its own it would let nobody in between.
      for (let part = 0; part < 20; part += 1) await paced(work(4, 2));
    });
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it("begin at once where little was done in the turn", async () => {
    const log: string[] = [];
    const turn = new Promise((resolve) => setImmediate(resolve)).then(() => log.push("turn"));
    await paced(work(1, 0, log, "first"));
    await paced(work(1, 0, log, "second"));
    await turn;
    expect(log).toEqual(["first", "second", "turn"]);
  });
});

describe("sorted", () => {
  it("sorts as arrays do, equal ones in their order", () => {
    const item = fc.record({ key: fc.nat(50), value: fc.nat() });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 30 }), fc.nat(300), (some, repeat) => {
        const items = Array.from({ length: repeat }, () => some).flat();
        const compare = (left: { key: number }, right: { key: number }) => left.key - right.key;
        expect(finish(sorted(items, compare))).toEqual(items.toSorted(compare));
      }),
      { numRuns: 50 },
    );
  });
});

describe("grouped", () => {
  it("groups as groupBy does", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 2000, size: "max" }), (numbers) => {
        const keyOf = (number: number): number => number % 7;
        const groups = finish(grouped(numbers, keyOf));
        expect([...groups]).toEqual([...groupBy(numbers, keyOf)]);
      }),
    );
  });
});

describe("eachOf", () => {
  it("makes what each item comes to, with a stop before each and those of its own", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5)), (numbers) => {
        const steps = eachOf(numbers, (number) => work(number, 0));
        let stops = 0;
        let step = steps.next();
        for (; step.done !== true; step = steps.next()) stops += 1;
        expect(step.value).toEqual(numbers);
        expect(stops).toBe(numbers.reduce((sum, number) => sum + number, numbers.length));
      }),
    );
  });
});
