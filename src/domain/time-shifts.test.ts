import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { findShifts, type WrongMoment } from "./time-shifts.ts";

async function* each(moments: WrongMoment[]): AsyncGenerator<WrongMoment> {
  yield* moments.toSorted((left, right) => left.at - right.at);
}

describe("findShifts", () => {
  it("finds nothing where nothing is wrong", async () => {
    expect(await findShifts(each([]))).toEqual([]);
  });

  it("puts what was written at once right after what came before it", async () => {
    const moments = [
      { at: 5000, earliest: 100, latest: 200 },
      { at: 5010, earliest: 100, latest: 200 },
      { at: 5020, earliest: 90, latest: 180 },
    ];
    expect(await findShifts(each(moments))).toEqual([{ first: 5000, last: 5020, seconds: 4899 }]);
  });

  it("tells jumps of different lengths apart", async () => {
    const moments = [
      { at: 5000, earliest: 100, latest: 110 },
      { at: 9000, earliest: 120, latest: 130 },
    ];
    expect((await findShifts(each(moments))).map(({ seconds }) => seconds)).toEqual([4899, 8879]);
  });

  it("does with what comes after, where there is nothing before", async () => {
    const moments = [{ at: 5000, earliest: -Infinity, latest: 200 }];
    expect(await findShifts(each(moments))).toEqual([{ first: 5000, last: 5000, seconds: 4800 }]);
  });

  it("puts all that one jump made between what is right around it, in its order", async () => {
    const whole = fc.integer({ min: 0, max: 100_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(whole, whole, whole), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 400_000, max: 4_000_000_000 }),
        async (events, ahead) => {
          const moments = events.map(([time, before, after]) => ({
            at: time + ahead,
            earliest: time - before,
            latest: time + after,
          }));
          const shifts = await findShifts(each(moments));
          expect(shifts).toHaveLength(1);
          for (const { at, earliest, latest } of moments) {
            const righted = at - shifts[0]!.seconds;
            expect(righted).toBeGreaterThanOrEqual(earliest);
            expect(righted).toBeLessThanOrEqual(latest);
          }
        },
      ),
    );
  });
});
