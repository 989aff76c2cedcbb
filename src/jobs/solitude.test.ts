import { setImmediate as turn } from "node:timers/promises";

import fc from "fast-check";
import { expect, it } from "vitest";

import { createSolitude } from "./solitude.ts";

it("lets nothing run beside what runs alone, and everything run at last", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ alone: fc.boolean(), turns: fc.nat(4), fails: fc.boolean(), later: fc.nat(3) }), {
        maxLength: 20,
      }),
      async (works) => {
        const solitude = createSolitude();
        const under = { way: 0, alone: 0 };
        let most = 0;
        const outcomes = works.map(async ({ alone, turns, fails, later }) => {
          for (let index = 0; index < later; index += 1) await turn();
          return solitude[alone ? "alone" : "beside"](async () => {
            under.way += 1;
            under.alone += alone ? 1 : 0;
            most = Math.max(most, under.way);
            expect(under.alone === 0 || under.way === 1).toBe(true);
            for (let index = 0; index < turns; index += 1) await turn();
            expect(under.alone === 0 || under.way === 1).toBe(true);
            under.way -= 1;
            under.alone -= alone ? 1 : 0;
            if (fails) throw new Error("as told");
          });
        });
        const settled = await Promise.allSettled(outcomes);
        expect(settled.map(({ status }) => status)).toEqual(
          works.map(({ fails }) => (fails ? "rejected" : "fulfilled")),
        );
        expect(under).toEqual({ way: 0, alone: 0 });
      },
    ),
    { numRuns: 100 },
  );
});

it("lets other things run side by side", async () => {
  const solitude = createSolitude();
  const [under, most] = [{ way: 0 }, { ways: 0 }];
  const work = async (): Promise<void> => {
    under.way += 1;
    most.ways = Math.max(most.ways, under.way);
    await turn();
    under.way -= 1;
  };
  await Promise.all([solitude.beside(work), solitude.beside(work)]);
  expect(most.ways).toBe(2);
});
