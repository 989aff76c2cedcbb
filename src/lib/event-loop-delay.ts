import { createHistogram } from "node:perf_hooks";

/** How often is looked at how late the event loop is, in milliseconds: what holds it up for longer is noticed. */
const everyMs = 10;

/** How late the event loop was, in seconds. Like those of Node.js' own monitor, all include the interval of 10 ms. */
export interface Delays {
  min: number;
  max: number;
  mean: number;
  stddev: number;
  p50: number;
  p90: number;
  p99: number;
}

const none: Delays = { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 };

/**
 * Measures how late the event loop is while there is work under way. A monitor that never rests, as Node.js has one, wakes a server up a hundred
 * times a second that has nothing to do and could not be late.
 */
export class EventLoopDelay {
  readonly #histogram = createHistogram();
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  /** Measures from now on, at least until what is returned is called. */
  begin(): () => void {
    this.#underWay += 1;
    this.#start();
    let isUnderWay = true;
    return () => {
      if (isUnderWay) this.#underWay -= 1;
      isUnderWay = false;
    };
  }

  /** Measures while something is done. @returns, and throws, what it does. */
  async during<T>(work: () => T | Promise<T>): Promise<T> {
    const end = this.begin();
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Reads what was measured since this was last asked for; zeros when nothing was. */
  take(): Delays {
    const histogram = this.#histogram;
    if (histogram.count === 0) return none;
    const percentile = (part: number): number => histogram.percentile(part) / 1e9;
    const delays = {
      min: histogram.min / 1e9,
      max: histogram.max / 1e9,
      mean: histogram.mean / 1e9,
      stddev: histogram.stddev / 1e9,
      p50: percentile(50),
      p90: percentile(90),
      p99: percentile(99),
    };
    histogram.reset();
    return delays;
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#lookedAt = performance.now();
    this.#timer = setInterval(() => this.#look(), everyMs).unref();
  }

  /** The look after the end of the last work is the last one: what that left for later turns counts, too. */
  #look(): void {
    const now = performance.now();
    this.#histogram.record(Math.max(1, Math.round((now - this.#lookedAt) * 1e6)));
    this.#lookedAt = now;
    if (this.#underWay > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** That of this process, whatever servers it has. */
export const eventLoopDelay = new EventLoopDelay();
