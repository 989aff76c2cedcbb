import type { IntakeLimits } from "../config-limits.ts";
import { AppError } from "../domain/errors.ts";

/** Whose bytes they are: of somebody who is known, or of a stranger; and of which share of theirs. */
export interface Owner {
  pool: "callers" | "strangers";
  share: string;
}

export type BudgetLimits = Pick<
  IntakeLimits,
  "bodyBytes" | "bodyBytesPerCaller" | "strangerBodyBytes" | "strangerBodyBytesPerAddress"
>;

/** What ran out: all that there is for known callers or for strangers, or what one of them may have of it. */
export type Exhausted = `${Owner["pool"]}_full` | `${Owner["pool"]}_share`;

/** The bytes of one body that are in memory. */
export interface BodyAccount {
  /** Counts bytes that have arrived. @throws AppError unavailable when there is no room for them. */
  take(bytes: number): void;
  /** Bytes that have gone on to the disk, or nowhere. */
  give(bytes: number): void;
  /** Gives back all of it. To be called when the request is done, however it ended. Several calls are as good as one. */
  close(): void;
}

class Pool {
  readonly #limit: number;
  readonly #perShare: number;
  readonly #shares = new Map<string, number>();
  used = 0;

  constructor(limit: number, perShare: number) {
    this.#limit = limit;
    this.#perShare = perShare;
  }

  /** Counts the bytes. @returns what there is not enough of, in which case they are not counted. */
  take(share: string, bytes: number): "full" | "share" | undefined {
    const own = (this.#shares.get(share) ?? 0) + bytes;
    if (own > this.#perShare) return "share";
    if (this.used + bytes > this.#limit) return "full";
    this.#shares.set(share, own);
    this.used += bytes;
    return undefined;
  }

  give(share: string, bytes: number): void {
    const left = (this.#shares.get(share) ?? 0) - bytes;
    if (left > 0) this.#shares.set(share, left);
    else this.#shares.delete(share);
    this.used -= bytes;
  }
}

/**
 * Bounds what all bodies together take of memory, from their first byte until their requests are answered. Strangers have
 * a pool of their own, so that nobody who is known waits for them; in each pool one share cannot have it all.
 */
export class BodyBudget {
  readonly #pools: Record<Owner["pool"], Pool>;
  readonly #onRefused: (why: Exhausted) => void;

  constructor(limits: BudgetLimits, onRefused: (why: Exhausted) => void = () => {}) {
    this.#pools = {
      callers: new Pool(limits.bodyBytes, limits.bodyBytesPerCaller),
      strangers: new Pool(limits.strangerBodyBytes, limits.strangerBodyBytesPerAddress),
    };
    this.#onRefused = onRefused;
  }

  /** Says how many bytes are counted at the moment. */
  used(pool: Owner["pool"]): number {
    return this.#pools[pool].used;
  }

  open(owner: Owner): BodyAccount {
    const pool = this.#pools[owner.pool];
    let held = 0;
    let closed = false;
    return {
      take: (bytes) => {
        if (closed) return;
        const lacking = pool.take(owner.share, bytes);
        if (lacking === undefined) held += bytes;
        else {
          this.#onRefused(`${owner.pool}_${lacking}`);
          throw new AppError("unavailable", "The server receives too many large requests at once, try again");
        }
      },
      give: (bytes) => {
        const given = Math.min(bytes, held);
        held -= given;
        if (given > 0) pool.give(owner.share, given);
      },
      close: () => {
        closed = true;
        if (held > 0) pool.give(owner.share, held);
        held = 0;
      },
    };
  }
}
