import type { Timestamp } from "../../lib/clock.ts";
import { invalidInput } from "../errors.ts";
import { timeWindow, type TimeWindow } from "../time-window.ts";
import { daySeconds } from "../../lib/units.ts";

/**
 * Seconds that events of all environments are asked for at most: a week, which a hundred thousand environments fill with hundreds
 * of thousands of them.
 */
export const longestEventWindow = 7 * daySeconds;

/**
 * Completes the window in which events of all environments are asked for: the last day unless said otherwise.
 * @throws AppError invalid when it ends before it starts, or is too long.
 */
export function eventWindow(
  asked: { start_ts?: Timestamp | undefined; end_ts?: Timestamp | undefined },
  now: Timestamp,
): TimeWindow {
  const window = timeWindow(asked, now, { start: "start_ts", end: "end_ts", length: daySeconds });
  if (window.end_ts - window.start_ts > longestEventWindow)
    throw invalidInput({
      "query.start_ts": `There should be at most ${longestEventWindow / daySeconds} days from start_ts to end_ts [input: ${window.start_ts}]`,
    });
  return window;
}
