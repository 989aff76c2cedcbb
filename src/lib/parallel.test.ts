import { describe, expect, it } from "vitest";

import { eachInParallel } from "./parallel.ts";

describe("eachInParallel", () => {
  it("does everything once, at most so many at a time", async () => {
    const done: number[] = [];
    let running = 0;
    let most = 0;
    await eachInParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      done.push(item);
      running -= 1;
    });
    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it("takes items only when there is room", async () => {
    let taken = 0;
    function* endless(): Generator<number> {
      for (;;) yield (taken += 1);
    }
    const work = eachInParallel(endless(), 2, async (item) => {
      await Promise.resolve();
      if (item === 5) throw new Error("enough");
    });
    await expect(work).rejects.toThrow("enough");
    expect(taken).toBeLessThanOrEqual(6);
  });

  it("throws the first failure when what was begun has ended", async () => {
    const ended: string[] = [];
    const work = eachInParallel(["fails", "ends"], 2, async (item) => {
      await Promise.resolve();
      if (item === "fails") throw new Error(item);
      await Promise.resolve();
      ended.push(item);
    });
    await expect(work).rejects.toThrow("fails");
    expect(ended).toEqual(["ends"]);
  });

  it("does nothing with nothing", async () => {
    let begun = 0;
    await eachInParallel([], 4, () => {
      begun += 1;
      return Promise.resolve();
    });
    expect(begun).toBe(0);
  });
});
