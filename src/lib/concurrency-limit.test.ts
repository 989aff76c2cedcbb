import { expect, it } from "vitest";

import { ConcurrencyLimit } from "./concurrency-limit.ts";

it("lets a limited number run, in the order in which they came, also after failures", async () => {
  const limit = new ConcurrencyLimit(2);
  const log: string[] = [];
  let running = 0;
  const jobs = ["a", "b", "c", "d"].map((name) =>
    limit.run(async () => {
      running += 1;
      log.push(`${name}${running}`);
      await Promise.resolve();
      running -= 1;
      if (name === "b") throw new Error("b failed");
      return name;
    }),
  );
  const outcomes = await Promise.allSettled(jobs);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(log.map(([name]) => name)).toEqual(["a", "b", "c", "d"]);
  expect(Math.max(...log.map((entry) => Number(entry.slice(1))))).toBe(2);
});
