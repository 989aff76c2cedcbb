/** How many slots there are, and how many may wait for one. */
export interface SlotLimits {
  /** Slots of all owners together. */
  total: number;
  /** Slots of one owner. */
  perOwner: number;
  /** Waiters of all owners together. */
  waiting: number;
  /** Longest wait, in milliseconds. */
  waitMs: number;
}

/** The refusal of a slot: none became free in time, or too many waited already. */
export class NoSlot extends Error {}

interface Waiter {
  begin: () => void;
}

/**
 * A limited number of slots, handed out in order of arrival. Owners take turns, and none gets all slots: one with much
 * to do does not hold up the others.
 */
export class FairSlots {
  readonly #limits: SlotLimits;
  readonly #active = new Map<string, number>();
  /** Waiters by owner, in the order in which the owners' turns come. */
  readonly #queues = new Map<string, Set<Waiter>>();
  #taken = 0;
  #waiting = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** How many slots are taken, and how many callers wait for one. */
  get state(): { active: number; waiting: number } {
    return { active: this.#taken, waiting: this.#waiting };
  }

  /**
   * Waits for a slot.
   * @returns a function that gives the slot back; only its first call counts.
   * @throws NoSlot; the signal's reason when that is aborted first.
   */
  async take(owner: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#isFree(owner)) await this.#wait(owner, signal);
    else this.#occupy(owner);
    return this.#giveBackOnce(owner);
  }

  /** Takes a slot where one is free. @returns a function that gives it back; undefined where none is. */
  takeFree(owner: string): (() => void) | undefined {
    if (!this.#isFree(owner)) return undefined;
    this.#occupy(owner);
    return this.#giveBackOnce(owner);
  }

  #giveBackOnce(owner: string): () => void {
    let held = true;
    return () => {
      if (held) this.#giveBack(owner);
      held = false;
    };
  }

  #isFree(owner: string): boolean {
    return this.#taken < this.#limits.total && (this.#active.get(owner) ?? 0) < this.#limits.perOwner;
  }

  #occupy(owner: string): void {
    this.#taken += 1;
    this.#active.set(owner, (this.#active.get(owner) ?? 0) + 1);
  }

  #giveBack(owner: string): void {
    const left = (this.#active.get(owner) ?? 0) - 1;
    this.#taken -= 1;
    if (left === 0) this.#active.delete(owner);
    else this.#active.set(owner, left);
    this.#serve();
  }

  /** Gives free slots to the owners whose turn it is. */
  #serve(): void {
    for (const [owner, queue] of this.#queues) {
      if (this.#taken >= this.#limits.total) return;
      const [waiter] = queue;
      if (waiter === undefined || !this.#isFree(owner)) continue;
      this.#remove(owner, waiter);
      const rest = this.#queues.get(owner);
      if (rest !== undefined) {
        this.#queues.delete(owner);
        this.#queues.set(owner, rest);
      }
      this.#occupy(owner);
      waiter.begin();
    }
  }

  #remove(owner: string, waiter: Waiter): void {
    const queue = this.#queues.get(owner);
    if (queue?.delete(waiter) !== true) return;
    this.#waiting -= 1;
    if (queue.size === 0) this.#queues.delete(owner);
  }

  #wait(owner: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting >= this.#limits.waiting) throw new NoSlot();
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        outcome();
      };
      const waiter: Waiter = { begin: () => settle(resolve) };
      const giveUp = (reason: unknown): void => {
        this.#remove(owner, waiter);
        settle(() => reject(reason));
      };
      const onAbort = (): void => giveUp(signal.reason);
      const timer = setTimeout(() => giveUp(new NoSlot()), this.#limits.waitMs).unref();
      signal.addEventListener("abort", onAbort);
      const queue = this.#queues.get(owner) ?? new Set();
      this.#queues.set(owner, queue.add(waiter));
      this.#waiting += 1;
    });
  }
}
