import type { Run } from "./builds.ts";
import { createRandom } from "./random.ts";

/** What a pipeline measured in a run. */
export interface Measurements {
  coverage: { lines: number; branches: number; tool: string };
  load: { p99_ms: number; errors: number; requests: number };
}

/** Makes the measurements of a run, the same at each call: one in eight runs covers too little. */
export function measurementsOf(seed: string, run: Run): Measurements {
  const random = createRandom(`${seed}/measurements of ${run.trail}`);
  const lines = random.chance(0.125) ? random.int(70, 79) : random.int(82, 97);
  return {
    coverage: { lines, branches: lines - random.int(4, 12), tool: "istanbul" },
    load: { p99_ms: random.int(60, 240), errors: 0, requests: random.int(20_000, 90_000) },
  };
}
