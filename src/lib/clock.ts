/** A moment as it crosses the wire: Unix seconds, fraction to the microsecond. */
export type Timestamp = number;

/** Where the program reads the time. Tests pass one they control. */
export interface Clock {
  now(): Timestamp;
}

/** Milliseconds that the fine clock may differ from the machine's before it is corrected. */
const tolerance = 2;

function createSystemClock(): Clock {
  let correction = 0;
  return {
    now() {
      const coarse = Date.now();
      // `performance` counts microseconds but does not follow the machine's clock when that is set.
      let fine = performance.timeOrigin + performance.now() + correction;
      if (Math.abs(fine - coarse) > tolerance) {
        correction += coarse - fine;
        fine = coarse;
      }
      return Math.round(fine * 1000) / 1_000_000;
    },
  };
}

/** The machine's clock, to the microsecond. */
export const systemClock: Clock = createSystemClock();
