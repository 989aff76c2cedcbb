import type { Timestamp } from "../lib/clock.ts";
import { invalidInput } from "./errors.ts";

/** A span of time, both ends included. */
export interface BuildWindow {
  start_ts: Timestamp;
  end_ts: Timestamp;
}

/** How far a window reaches back when nothing is said: 28 days, in seconds (interface spec 8). */
export const defaultWindow = 28 * 24 * 60 * 60;

/**
 * The window a caller asks for, with what they left out filled in.
 * @throws AppError invalid when it would end before it starts.
 */
export function buildWindow(
  asked: { start_ts?: Timestamp; end_ts?: Timestamp },
  now: Timestamp,
): BuildWindow {
  const end_ts = asked.end_ts ?? now;
  const start_ts = asked.start_ts ?? Math.round((end_ts - defaultWindow) * 1e6) / 1e6;
  if (start_ts > end_ts)
    throw invalidInput({
      "query.start_ts": `Input should be less than or equal to end_ts [input: ${start_ts}]`,
    });
  return { start_ts, end_ts };
}
