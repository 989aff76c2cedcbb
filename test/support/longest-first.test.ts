import { expect, it } from "vitest";

import { longestFirst } from "./longest-first.ts";

it("begins what takes long first, in a browser and without one in turns", () => {
  const files = [
    "src/lib/hash.test.ts",
    "test/durability/kill.test.ts",
    "test/e2e/web/roles.test.ts",
    "test/api/flows.test.ts",
    "test/e2e/packages.test.ts",
    "test/api/long-answers-budget.test.ts",
    "test/durability/jobs.test.ts",
    "test/e2e/web/start.test.ts",
  ];
  expect(longestFirst(files, (file) => file)).toEqual([
    "test/e2e/web/roles.test.ts",
    "test/durability/kill.test.ts",
    "test/e2e/web/start.test.ts",
    "test/e2e/packages.test.ts",
    "test/api/long-answers-budget.test.ts",
    "test/durability/jobs.test.ts",
    "src/lib/hash.test.ts",
    "test/api/flows.test.ts",
  ]);
});
