import type { Run } from "./builds.ts";
import { createRandom } from "./random.ts";

/** What a pipeline found out about a run, beside what it built. */
export interface Checks {
  tests: { total: number; failures: number; skipped: number; duration: number };
  /** Number of the pull request it came with; undefined when it was pushed past everybody. */
  pullRequest: number | undefined;
}

/** The checks of a run, the same whenever they are asked for. */
export function checksOf(seed: string, run: Run): Checks {
  const random = createRandom(`${seed}/checks of ${run.trail}`);
  const total = random.int(180, 900);
  return {
    tests: {
      total,
      failures: random.chance(0.08) ? random.int(1, 4) : 0,
      skipped: random.int(0, 6),
      duration: random.int(200, 3000) / 10,
    },
    pullRequest: random.chance(0.92) ? 200 + run.job : undefined,
  };
}

/** Whether nothing speaks against bringing it to production. */
export function passed({ tests, pullRequest }: Checks): boolean {
  return tests.failures === 0 && pullRequest !== undefined;
}
