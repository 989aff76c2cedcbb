import type { Timestamp } from "./clock.ts";

interface Limits {
  /** Failures that somebody may have within the window. */
  max: number;
  windowSeconds: number;
}

/** An attempt under way: it counts as a failure unless it is said not to be one. */
export type Attempted = { admitted: true; pardon(): void } | { admitted: false; retryAfter: number };

/** So many are remembered; beyond that those are forgotten who tried longest ago. */
const mostRemembered = 10_000;

/**
 * Limits how often somebody may fail. Attempts count from their beginning, so that many at once do not get around it. Counted in
 * this process.
 */
export class FailureLimit {
  readonly #limits: Readonly<Limits>;
  /** Times of failures and of attempts under way, by who made them; those who tried last at the end. */
  readonly #times = new Map<string, Timestamp[]>();

  constructor(limits: Readonly<Limits>) {
    this.#limits = limits;
  }

  /**
   * Says whether somebody failed too often already, without counting anything.
   * @returns the seconds to wait; undefined for who may try.
   */
  refusal(who: string, now: Timestamp): number | undefined {
    const times = this.#recent(who, now);
    if (times.length < this.#limits.max) return undefined;
    return Math.max(1, Math.ceil((times[0] ?? now) + this.#limits.windowSeconds - now));
  }

  /** Counts a failure. */
  fail(who: string, now: Timestamp): void {
    const times = this.#recent(who, now);
    this.#times.delete(who);
    this.#times.set(who, times);
    // More than that tell nothing more.
    if (times.length < this.#limits.max) times.push(now);
    if (this.#times.size > mostRemembered)
      for (const oldest of this.#times.keys()) {
        this.#times.delete(oldest);
        break;
      }
  }

  /** Begins an attempt, which counts from now on. @returns the seconds to wait when there were too many failures. */
  begin(who: string, now: Timestamp): Attempted {
    const retryAfter = this.refusal(who, now);
    if (retryAfter !== undefined) return { admitted: false, retryAfter };
    this.fail(who, now);
    return { admitted: true, pardon: () => this.#pardon(who, now) };
  }

  /** Lists the failures of somebody that still count. A time that is not past belongs to a clock that was set back. */
  #recent(who: string, now: Timestamp): Timestamp[] {
    const times = this.#times.get(who) ?? [];
    return times.filter((at) => at > now - this.#limits.windowSeconds && at <= now);
  }

  #pardon(who: string, at: Timestamp): void {
    const times = this.#times.get(who);
    const index = times?.indexOf(at) ?? -1;
    if (times === undefined || index < 0) return;
    times.splice(index, 1);
    if (times.length === 0) this.#times.delete(who);
  }
}
