import { type Clock, systemClock, type Timestamp } from "../../src/lib/clock.ts";

/** Runs like the machine's clock until a test moves it. */
export class TestClock implements Clock {
  #offset = 0;

  now(): Timestamp {
    return systemClock.now() + this.#offset;
  }

  /** Moves the time on by some seconds. */
  advance(seconds: number): void {
    this.#offset += seconds;
  }
}
