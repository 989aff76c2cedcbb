import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import type { ServerProcess } from "./server-process.ts";

/** What a server needs to be watched: see `loop-probe.mjs`. */
export const watched = {
  NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, "loop-probe.mjs")).href}`,
};

/** What was seen of a server since the last time. */
export interface Seen {
  /** How long the event loop was held at most, in milliseconds of the processor's time. */
  longest: number;
  /** Memory now and at most, in MB. */
  resident: number;
  peak: number;
}

/** Asks a watched server. Not twice at the same time. */
export async function look(server: ServerProcess): Promise<Seen> {
  const told = (): string[] => server.output().match(/^probe \{.*\}$/gm) ?? [];
  const before = told().length;
  process.kill(server.pid, "SIGUSR2");
  for (;;) {
    const line = told()[before];
    if (line !== undefined) return JSON.parse(line.slice("probe ".length)) as Seen;
    await delay(10);
  }
}
