import { type Server, type ServerStart } from "../../bench/processes.ts";
import type { Target } from "../client.ts";
import { settle, startOwn, withDataDir } from "../target.ts";
import { everything, Writer } from "../writer.ts";
import { inspectManaged, type Survival, untouched } from "./survival.ts";

/** How often, and with what program. */
export interface Plan {
  /** How many times to strike. */
  cycles: number;
  /** Runs the server from its source. */
  source: boolean;
}

/** A server under hardship, the pipelines that write to it, and what is noted of both. */
export interface Ground {
  plan: Plan;
  dataDir: string;
  server: Server;
  target: Target;
  writer: Writer;
  survival: Survival;
}

/** How the writers of all hardships write: as fast as they are answered. */
export const busily = { pauseMs: 0, atOnce: 8 };

/** Adds what the writers found. */
export async function settleWrites({ writer, survival }: Pick<Ground, "writer" | "survival">): Promise<void> {
  const kept = await writer.check();
  survival.acknowledged += kept.acknowledged;
  survival.lost.push(...kept.lost);
  survival.changed.push(...kept.changed);
  survival.broken.push(...new Set(writer.tally.faults));
}

/** Starts the server of a ground again and notes how long that took. */
export async function restart(ground: Ground, start: ServerStart = {}): Promise<void> {
  ground.server = await startOwn(ground.dataDir, { source: ground.plan.source, ...start });
  ground.survival.readyMs.push(ground.server.startMs);
  ground.writer.move(ground.server.url);
}

/**
 * Runs hardships on a server with a data directory of its own, and looks afterwards what is left.
 * @param parent where the data directory is made.
 */
export function onGround(
  plan: Plan,
  hardship: (ground: Ground) => Promise<void>,
  { parent, start = {} }: { parent?: string; start?: ServerStart } = {},
): Promise<Survival> {
  return withDataDir(async (dataDir) => {
    const survival = untouched();
    const server = await startOwn(dataDir, { source: plan.source, ...start });
    const target = await settle(server.url, server.key);
    const writer = new Writer(target, "written", everything);
    const ground: Ground = { plan, dataDir, server, target, writer, survival };
    try {
      await hardship(ground);
      await settleWrites(ground);
      await inspectManaged(dataDir, survival);
    } finally {
      writer.close();
      await ground.server.stop();
    }
    return survival;
  }, parent);
}
