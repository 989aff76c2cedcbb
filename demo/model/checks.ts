import type { Run } from "./builds.ts";
import { createRandom } from "./random.ts";

/** What a pipeline checked in a run. */
export interface Checks {
  tests: { total: number; failures: number; skipped: number; duration: number };
  /** Number of its pull request; undefined when it was pushed without one. */
  pullRequest: number | undefined;
}

/** Makes the checks of a run, the same at each call. */
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

/** Says whether all checks passed, so that the run may go to production. */
export function passed({ tests, pullRequest }: Checks): boolean {
  return tests.failures === 0 && pullRequest !== undefined;
}
