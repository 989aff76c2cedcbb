import { describe, expect, it } from "vitest";

import { createPlanAges } from "./plan-ages.ts";

/** Runs of a statement before which its plan was made anew, among so many. */
function replanned(ages: ReturnType<typeof createPlanAges>, name: string, runs: number): number[] {
  return Array.from({ length: runs }, (_, at) => at + 1).filter(() => ages.isOld(name));
}

describe("createPlanAges", () => {
  it("has plans made anew whenever a statement was run twice as often as before", () => {
    const ages = createPlanAges();
    const old: number[] = [];
    for (let run = 1; run <= 1_100; run += 1) if (ages.isOld("one")) old.push(run);
    expect(old).toEqual([17, 35, 71, 143, 287, 575]);
  });

  it("counts those of all statements as made anew with those of one", () => {
    const ages = createPlanAges();
    expect(replanned(ages, "one", 20)).toHaveLength(1);
    for (let run = 1; run <= 16; run += 1) expect(ages.isOld("two")).toBe(false);
    // Run together they need it no more often than one alone.
    let together = 0;
    for (let run = 0; run < 1_000; run += 1)
      for (const name of ["one", "two"]) together += ages.isOld(name) ? 1 : 0;
    expect(together).toBeLessThanOrEqual(7);
  });

  it("is done with a million runs in some sixteen", () => {
    expect(replanned(createPlanAges(), "one", 1_000_000).length).toBeLessThan(18);
  });
});
