import { clockJumps } from "./clock.ts";
import type { Plan } from "./test-bed.ts";
import { killBoth, killDatabase, killFirstStart, killServer, killStart } from "./kills.ts";
import { machineClockJumps } from "./machine-clock.ts";
import { fullDisk, noDescriptors } from "./shortage.ts";
import { brokenOf, Skipped, type Survival, emptySurvival } from "./survival.ts";
import { killOneOfTwo } from "./two-servers.ts";

/** An incident that a server has to survive. */
export interface Hardship {
  name: string;
  what: string;
  run(plan: Plan): Promise<Survival>;
}

/** All hardships. */
export const hardships: Hardship[] = [
  { name: "kill-server", what: "kill -9 of the server", run: killServer },
  { name: "kill-postgres", what: "kill -9 of PostgreSQL", run: killDatabase },
  { name: "kill-both", what: "kill -9 of both, in either order", run: killBoth },
  { name: "kill-start", what: "kill -9 during a start, three times before each", run: killStart },
  { name: "kill-migrations", what: "kill -9 during the first start and its migrations", run: killFirstStart },
  { name: "two-servers", what: "two servers on one database, one of them killed", run: killOneOfTwo },
  { name: "full-disk", what: "no room on the disk, while writing and at a start", run: fullDisk },
  { name: "no-descriptors", what: "no descriptors left", run: noDescriptors },
  { name: "clock-jumps", what: "the server's clock jumps ahead and back", run: clockJumps },
  {
    name: "machine-clock",
    what: "the clocks of server and database jump a hundred years ahead and back",
    run: machineClockJumps,
  },
];

/** A hardship, and how the server survived it. */
export interface Endured extends Survival {
  name: string;
  what: string;
}

/** Puts a server through a hardship. Never throws: what goes wrong is part of the outcome. */
export async function endure({ name, what, run }: Hardship, plan: Plan): Promise<Endured> {
  try {
    const survival = await run(plan);
    return { name, what, ...survival, broken: brokenOf(survival) };
  } catch (error) {
    if (error instanceof Skipped) return { name, what, ...emptySurvival(), skipped: error.message };
    return { name, what, ...emptySurvival(), broken: [`did not end: ${(error as Error).message}`] };
  }
}
