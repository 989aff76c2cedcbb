import type { Timestamp } from "../lib/clock.ts";
import { type Bucket, bucketsBetween } from "./compliance-history.ts";
import { invalidInput } from "./errors.ts";
import { timeWindow, type TimeWindow } from "./time-window.ts";
import { daySeconds } from "../lib/units.ts";

/** Units of time that trails are counted by, in UTC; weeks begin on Monday. */
export const statisticsUnits = ["day", "week"] as const;
export type StatisticsUnit = (typeof statisticsUnits)[number];

/** Days of the longest window. */
const mostDays = 90;

/** A window, both ends included, and what it is divided into. */
export interface StatisticsPlan extends TimeWindow {
  unit: StatisticsUnit;
  /** In microseconds; the last one ends with the window, which it includes. */
  buckets: Bucket[];
}

function microseconds(seconds: Timestamp): number {
  return Math.round(seconds * 1e6);
}

/**
 * Plans what is counted. What is yet to come is left out.
 * @throws AppError invalid for a window that ends before it starts, or is longer than 90 days.
 */
export function planStatistics(
  {
    bucket: unit,
    ...asked
  }: { start_ts?: Timestamp | undefined; end_ts?: Timestamp | undefined; bucket: StatisticsUnit },
  now: Timestamp,
): StatisticsPlan {
  const window = timeWindow(asked, now);
  const { start_ts } = window;
  const end_ts = Math.max(start_ts, Math.min(window.end_ts, now));
  if (end_ts - start_ts > mostDays * daySeconds)
    throw invalidInput({
      "query.start_ts": `There should be at most ${mostDays} days from start_ts to end_ts [input: ${start_ts}]`,
    });
  const end = microseconds(end_ts);
  const buckets = bucketsBetween(microseconds(start_ts), end + 1, unit);
  return {
    start_ts,
    end_ts,
    unit,
    buckets: buckets.map((each) => ({ ...each, to: Math.min(each.to, end) })),
  };
}
