import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { keepPace } from "./pace.ts";

/** Works in pieces of these milliseconds. @returns how long that took and how long of it was rest, by a clock of its own. */
async function work(share: number, pieces: readonly number[]): Promise<{ taken: number; rested: number[] }> {
  let time = 1_000;
  const rested: number[] = [];
  const pause = keepPace(share, {
    now: () => time,
    rest: async (ms) => {
      rested.push(ms);
      time += ms;
    },
  });
  for (const piece of pieces) {
    time += piece;
    await pause();
  }
  return { taken: time - 1_000, rested };
}

describe("work that keeps a pace", () => {
  it("rests three times as long as it worked where a quarter of the time is its share", async () => {
    expect(await work(0.25, [4, 4, 4, 20])).toEqual({ taken: 32 + 96, rested: [36, 60] });
  });

  it("does not rest where all of the time is its share", async () => {
    expect(await work(1, [50, 50])).toEqual({ taken: 100, rested: [] });
  });

  it("takes its share of the time, whatever its pieces are, but for the milliseconds before the next rest", async () => {
    const pieces = fc.array(fc.double({ min: 0.01, max: 200, noNaN: true }), { maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0.05, max: 1, noNaN: true }), pieces, async (share, given) => {
        const { taken } = await work(share, given);
        const worked = given.reduce((sum, piece) => sum + piece, 0);
        expect(taken).toBeLessThanOrEqual(worked / share + 1e-6);
        expect(taken).toBeGreaterThanOrEqual((worked - 10) / share);
      }),
    );
  });
});
