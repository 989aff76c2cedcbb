import { setImmediate as turn } from "node:timers/promises";

import fc from "fast-check";
import { expect, it } from "vitest";

import { sharedRuns } from "./shared-runs.ts";

it("answers everybody with a run that began after they asked, and runs one at a time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ after: fc.nat(3), takes: fc.nat(4), fails: fc.boolean() }), { maxLength: 25 }),
      async (questions) => {
        let runs = 0;
        let under = 0;
        const plan = [...questions];
        const ask = sharedRuns(async () => {
          const number = (runs += 1);
          under += 1;
          expect(under).toBe(1);
          const { takes = 0, fails = false } = plan.shift() ?? {};
          for (let turns = 0; turns < takes; turns += 1) await turn();
          under -= 1;
          if (fails) throw new Error(String(number));
          return number;
        });
        const asked = questions.map(async ({ after }) => {
          for (let turns = 0; turns < after; turns += 1) await turn();
          const before = runs;
          const number = await ask().catch((error: unknown) => Number((error as Error).message));
          expect(number).toBeGreaterThan(before);
          expect(number).toBeLessThanOrEqual(before + 2);
        });
        await Promise.all(asked);
      },
    ),
    { numRuns: 200 },
  );
});
