import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { withBareServer } from "../bench/measure.ts";
import {
  type Memory,
  memoryOf,
  postmasterOf,
  type Server,
  startNode,
  stopProcess,
} from "../bench/processes.ts";
import type { Target } from "./client.ts";
import type { ProbeJob, Seen } from "./probe.ts";

/** Starts a program of this folder in a process of its own. */
export function startProgram(name: string): ChildProcess {
  return startNode({ args: ["--import", "tsx", new URL(name, import.meta.url).pathname] });
}

/** A function that reads the memory of a server's process and of its PostgreSQL. */
export type MemoryReader = () => Promise<Memory>;

/** Makes a reader of a server's memory: from the system for a server of ours, from its metrics for others. */
export function memoryReader(target: Target, server: Server | undefined): MemoryReader {
  if (server !== undefined) return () => memoryOf(server);
  return async () => {
    const text = await fetch(`${target.url}/metrics`, { signal: AbortSignal.timeout(5000) })
      .then((answer) => answer.text())
      .catch(() => "");
    const bytes = /^(?:\w+_)?process_resident_memory_bytes (\S+)/m.exec(text)?.[1];
    return { node: bytes === undefined ? undefined : Number(bytes) / 2 ** 20, postgres: undefined };
  };
}

/** A listener to the messages of a server of ours, which remembers the longest time its event loop was held. */
export class LoopWatch {
  readonly #child: ChildProcess | undefined;
  #heldMs: number | undefined;
  readonly #listen = (message: unknown): void => {
    const { heldMs } = message as { heldMs: number };
    this.#heldMs = Math.max(this.#heldMs ?? 0, heldMs);
  };

  constructor(server: Server | undefined) {
    this.#child = server?.child.on("message", this.#listen);
  }

  /** Stops listening. @returns milliseconds of processor time; undefined for servers that do not tell. */
  stop(): number | undefined {
    this.#child?.off("message", this.#listen);
    return this.#heldMs;
  }
}

const sampleMs = 250;

/** A watch that samples memory and remembers the maximum. */
export class MemoryWatch {
  readonly #read: MemoryReader;
  #isOver = false;
  #busy: Promise<void> = Promise.resolve();
  peak: Memory = { node: undefined, postgres: undefined };

  constructor(read: MemoryReader) {
    this.#read = read;
  }

  start(): void {
    this.#busy = this.#watch();
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      const now = await this.#read();
      for (const part of ["node", "postgres"] as const)
        if (now[part] !== undefined) this.peak[part] = Math.max(this.peak[part] ?? 0, now[part]);
      await sleep(sampleMs);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#busy;
  }

  /** Waits until memory is within `slack` megabytes of what it was, or patience ends. @returns the memory then. */
  async calm(before: Memory, slack: number, patienceMs: number): Promise<Memory> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const now = await this.#read();
      const isBack = (part: keyof Memory): boolean => (now[part] ?? 0) <= (before[part] ?? 0) + slack;
      if ((isBack("node") && isBack("postgres")) || performance.now() > end) return now;
      await sleep(sampleMs);
    }
  }
}

/** The process that asks small things all the time. */
export interface Probe {
  /** Gives what it measured since the last call. */
  look(): Promise<Seen>;
}

/** Runs the probe, and the bare server it compares with, while `work` goes on. */
export async function withProbe<T>(
  target: Target,
  server: Server | undefined,
  work: (probe: Probe) => Promise<T>,
): Promise<T> {
  const processes = server && { server: server.pid, postmaster: await postmasterOf(server.dataDir) };
  return withBareServer("OK", async (bareUrl) => {
    const child = startProgram("probe.ts");
    try {
      const list = `/api/v2/environments/${target.quietOrg}?per_page=15`;
      const job: ProbeJob = { url: target.url, key: target.key, list, bareUrl, processes };
      child.send(job);
      return await work({
        look: async () => {
          child.send("look");
          const [seen] = (await once(child, "message")) as [Seen];
          return seen;
        },
      });
    } finally {
      await stopProcess(child);
    }
  });
}
