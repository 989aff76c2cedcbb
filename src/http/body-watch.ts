import type { Readable } from "node:stream";

import type { IntakeLimits } from "../config-limits.ts";

/** Why a body was cut off: nothing of it arrived any more, too little did, or it took too long in all. */
export type CutReason = "stalled" | "slow" | "long";

export type WatchLimits = Pick<IntakeLimits, "stallSeconds" | "bodyRate" | "bodySeconds">;

/** One body that is being received. */
export interface WatchedBody {
  arrived(bytes: number): void;
  /** It is all there, or nobody wants it any more. */
  end(): void;
}

interface Entry {
  stream: Pick<Readable, "readableLength">;
  cut: (reason: CutReason) => void;
  /** Milliseconds since which it has been the sender's turn. */
  since: number;
  last: number;
  bytes: number;
}

/** How often slow senders are looked for. */
export const sweepEveryMs = 1_000;

/** Takes time off a sender's account. */
function forgive(entry: Entry, passed: number, now: number): void {
  entry.last = Math.min(now, entry.last + passed);
  entry.since = Math.min(now, entry.since + passed);
}

/**
 * Holds senders to making progress with their bodies. What counts is how long the server waited for them: while bytes that
 * have arrived wait for the server, their time stands still.
 */
export class BodyWatch {
  readonly #limits: WatchLimits;
  readonly #now: () => number;
  readonly #bodies = new Set<Entry>();
  #swept: number;

  constructor(limits: WatchLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#swept = now();
  }

  /** Watches a body from now on. @param cut is called once, when the sender is too slow. */
  watch(stream: Pick<Readable, "readableLength">, cut: (reason: CutReason) => void): WatchedBody {
    const now = this.#now();
    const entry: Entry = { stream, cut, since: now, last: now, bytes: 0 };
    this.#bodies.add(entry);
    return {
      arrived: (bytes) => {
        entry.last = this.#now();
        entry.bytes += bytes;
      },
      end: () => void this.#bodies.delete(entry),
    };
  }

  /** Cuts off who is too slow. To be called every `sweepEveryMs`. */
  sweep(): void {
    const now = this.#now();
    const passed = now - this.#swept;
    this.#swept = now;
    // Time in which the process itself stood still is nobody's: what arrived meanwhile is not read yet.
    const lost = passed > 2 * sweepEveryMs ? passed : 0;
    for (const entry of this.#bodies) {
      forgive(entry, entry.stream.readableLength > 0 ? passed : lost, now);
      const reason = this.#judge(entry, now);
      if (reason === undefined) continue;
      this.#bodies.delete(entry);
      entry.cut(reason);
    }
  }

  #judge({ since, last, bytes }: Entry, now: number): CutReason | undefined {
    const { stallSeconds, bodyRate, bodySeconds } = this.#limits;
    const seconds = (now - since) / 1000;
    if (now - last >= stallSeconds * 1000) return "stalled";
    if (seconds >= stallSeconds && bytes < bodyRate * seconds) return "slow";
    return seconds >= bodySeconds ? "long" : undefined;
  }
}
