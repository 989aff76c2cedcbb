import { readdirSync, readFileSync } from "node:fs";

/** The processes of a server on this machine. */
export interface Processes {
  /** Id of the server's process. */
  server: number;
  /** Id of PostgreSQL's first process. */
  postmaster: number | undefined;
}

/** How long each process had waited for a processor until a moment, in milliseconds. */
interface Sample {
  at: number;
  waited: Map<number, number>;
}

/**
 * Reads how long a process's first thread has waited for a processor, in milliseconds; undefined where Linux does not
 * tell.
 */
function waitedOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6;
  } catch {
    return undefined;
  }
}

/** Lists the children of a process. */
function childrenOf(parent: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(parent) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

const familyMs = 1000;

/**
 * A record of how long the processes of a server waited for a processor, as Linux counts it. On a busy machine that is
 * most of what callers wait, and says nothing about the server.
 */
export class RunQueue {
  readonly #processes: Processes;
  #backends: number[] = [];
  #familyAt = Number.NEGATIVE_INFINITY;
  #samples: Sample[] = [];

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  /** Records how long each process has waited until now. */
  sample(): void {
    const at = performance.now();
    const { server, postmaster } = this.#processes;
    if (postmaster !== undefined && at - this.#familyAt > familyMs) {
      this.#backends = childrenOf(postmaster);
      this.#familyAt = at;
    }
    const waited = new Map<number, number>();
    for (const pid of [server, ...this.#backends]) {
      const ms = waitedOf(pid);
      if (ms !== undefined) waited.set(pid, ms);
    }
    this.#samples.push({ at, waited });
  }

  /**
   * Computes how long the server waited between two moments, and how long those two of PostgreSQL's processes that
   * waited longest did together: a list takes two statements.
   */
  between(from: number, to: number): { server: number; backends: number } {
    const first = this.#samples.findLast(({ at }) => at <= from) ?? this.#samples[0];
    const last = this.#samples.find(({ at }) => at >= to) ?? this.#samples.at(-1);
    if (first === undefined || last === undefined) return { server: 0, backends: 0 };
    const waits = (pid: number): number =>
      Math.max(0, (last.waited.get(pid) ?? 0) - (first.waited.get(pid) ?? last.waited.get(pid) ?? 0));
    const ofBackends = [...last.waited.keys()]
      .filter((pid) => pid !== this.#processes.server)
      .map(waits)
      .sort((a, b) => b - a);
    const [longest = 0, second = 0] = ofBackends;
    return { server: waits(this.#processes.server), backends: longest + second };
  }

  /** Forgets all but the latest sample. */
  forget(): void {
    this.#samples = this.#samples.slice(-1);
  }
}
