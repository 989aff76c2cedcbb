import { expect, it } from "vitest";

import { nextTurn } from "./turns.ts";

it("admits one in some rounds of the event loop, the first to come first", async () => {
  const log: string[] = [];
  let round = 0;
  const count = (): void => {
    round += 1;
    if (round < 100) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    ["a", "b", "c"].map(async (name) => {
      await nextTurn();
      log.push(`${name}${round}`);
    }),
  );
  const rounds = log.map((entry) => Number(entry.slice(1)));
  expect(log.map(([name]) => name)).toEqual(["a", "b", "c"]);
  expect(rounds[1]! - rounds[0]!).toBeGreaterThanOrEqual(4);
  expect(rounds[2]! - rounds[1]!).toBeGreaterThanOrEqual(4);
});
