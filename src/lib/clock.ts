/** A moment as it crosses the wire: Unix seconds, fraction to the microsecond. */
export type Timestamp = number;

/** Where the program reads the time. Tests pass one they control. */
export interface Clock {
  now(): Timestamp;
}

/** The machine's clock, to the microsecond. */
export const systemClock: Clock = {
  now: () => Math.round((performance.timeOrigin + performance.now()) * 1000) / 1_000_000,
};
