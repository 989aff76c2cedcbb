import { type Clock, systemClock, type Timestamp } from "../../src/lib/clock.ts";

/** Runs like the machine's clock until a test moves it. */
export class TestClock implements Clock {
  #offset = 0;
  #frozenAt: Timestamp | undefined;

  now(): Timestamp {
    return (this.#frozenAt ?? systemClock.now()) + this.#offset;
  }

  /** Lets it run no more: only tests move it from now on. */
  freeze(): void {
    this.#frozenAt = systemClock.now();
  }

  /** Moves the time on by some seconds. */
  advance(seconds: number): void {
    this.#offset += seconds;
  }
}
