import type { Timestamp } from "../lib/clock.ts";
import { daySeconds } from "../lib/units.ts";
import { invalidInput } from "./errors.ts";

/** A span of time, both ends included. */
export interface TimeWindow {
  start_ts: Timestamp;
  end_ts: Timestamp;
}

/** How a window is asked for: the names of its query parameters, and its default length in seconds. */
export interface WindowParameters {
  start: string;
  end: string;
  length: number;
}

/** The window of builds and deployments (interface spec 8). */
const standardWindow: WindowParameters = { start: "start_ts", end: "end_ts", length: 28 * daySeconds };

/**
 * Completes the window that a caller asks for by defaults.
 * @throws AppError invalid when it would end before it starts.
 */
export function timeWindow(
  asked: { start_ts?: Timestamp | undefined; end_ts?: Timestamp | undefined },
  now: Timestamp,
  { start, end, length }: WindowParameters = standardWindow,
): TimeWindow {
  const end_ts = asked.end_ts ?? now;
  const start_ts = asked.start_ts ?? Math.round((end_ts - length) * 1e6) / 1e6;
  if (start_ts > end_ts)
    throw invalidInput({
      [`query.${start}`]: `Input should be less than or equal to ${end} [input: ${start_ts}]`,
    });
  return { start_ts, end_ts };
}
