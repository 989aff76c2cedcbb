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
  readonly #limits: Limits;
  /** Times of failures and of attempts under way, by who made them; those who tried last at the end. */
  readonly #times = new Map<string, Timestamp[]>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Begins an attempt. @returns the seconds to wait when there were too many failures. */
  begin(who: string, now: Timestamp): Attempted {
    const { max, windowSeconds } = this.#limits;
    // A time that is not past belongs to a clock that was set back.
    const times = (this.#times.get(who) ?? []).filter((at) => at > now - windowSeconds && at <= now);
    this.#times.delete(who);
    this.#times.set(who, times);
    if (times.length >= max) {
      const [first = now] = times;
      return { admitted: false, retryAfter: Math.max(1, Math.ceil(first + windowSeconds - now)) };
    }
    times.push(now);
    if (this.#times.size > mostRemembered)
      for (const oldest of this.#times.keys()) {
        this.#times.delete(oldest);
        break;
      }
    return { admitted: true, pardon: () => this.#pardon(who, now) };
  }

  #pardon(who: string, at: Timestamp): void {
    const times = this.#times.get(who);
    const index = times?.indexOf(at) ?? -1;
    if (times === undefined || index < 0) return;
    times.splice(index, 1);
    if (times.length === 0) this.#times.delete(who);
  }
}
