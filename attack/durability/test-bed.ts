import { type Server, type ServerStart } from "../../bench/processes.ts";
import type { Target } from "../client.ts";
import { createOrganizations, startOwn, withDataDir } from "../target.ts";
import { allKinds, Writer } from "../writer.ts";
import { inspectManaged, type Survival, emptySurvival } from "./survival.ts";

/** The number of strikes, and the program to run. */
export interface Plan {
  /** How often to strike. */
  cycles: number;
  /** The server's program. */
  program: string;
}

/** A server under hardship, the pipeline that writes to it, and what was observed. */
export interface TestBed {
  plan: Plan;
  dataDir: string;
  server: Server;
  target: Target;
  writer: Writer;
  survival: Survival;
}

/** How pipelines write during hardships: as fast as they are answered. */
export const fullSpeed = { pauseMs: 0, atOnce: 8 };

/** Checks the writes and adds the outcome to the survival. */
export async function checkWrites({ writer, survival }: Pick<TestBed, "writer" | "survival">): Promise<void> {
  const kept = await writer.check();
  survival.acknowledged += kept.acknowledged;
  survival.lost.push(...kept.lost);
  survival.changed.push(...kept.changed);
  survival.broken.push(...new Set(writer.tally.faults));
}

/** Starts the server again and notes how long that took. */
export async function restart(bed: TestBed, start: ServerStart = {}): Promise<void> {
  bed.server = await startOwn(bed.dataDir, { program: bed.plan.program, ...start });
  bed.survival.readyMs.push(bed.server.startMs);
  bed.writer.move(bed.server.url);
}

/**
 * Runs a hardship on a server with a data directory of its own, and checks afterwards what is left.
 * @param parent where the data directory is made.
 */
export function onTestBed(
  plan: Plan,
  hardship: (bed: TestBed) => Promise<void>,
  { parent, start = {} }: { parent?: string; start?: ServerStart } = {},
): Promise<Survival> {
  return withDataDir(async (dataDir) => {
    const survival = emptySurvival();
    const server = await startOwn(dataDir, { program: plan.program, ...start });
    const target = await createOrganizations(server.url, server.key);
    const writer = new Writer(target, "written", allKinds);
    const bed: TestBed = { plan, dataDir, server, target, writer, survival };
    try {
      await hardship(bed);
      await checkWrites(bed);
      await inspectManaged(dataDir, survival);
    } finally {
      writer.close();
      await bed.server.stop();
    }
    return survival;
  }, parent);
}
