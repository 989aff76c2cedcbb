import { daySeconds } from "./times.ts";

/** Times until now that readers choose from, with their length in seconds. */
export const periods = {
  "1h": 3_600,
  "24h": daySeconds,
  "7d": 7 * daySeconds,
  "30d": 30 * daySeconds,
  "90d": 90 * daySeconds,
} as const;
export type Period = keyof typeof periods;

export const periodWords: Readonly<Record<Period, string>> = {
  "1h": "last hour",
  "24h": "last 24 hours",
  "7d": "last 7 days",
  "30d": "last 30 days",
  "90d": "last 90 days",
};

/** Periods that lists are filtered by, where what they list lives longer than an hour. */
export const listPeriods = ["24h", "7d", "30d", "90d"] as const satisfies readonly Period[];

/** The same with their words, to choose from. */
export const listPeriodChoices = listPeriods.map((period) => [period, periodWords[period]] as const);

/**
 * Tells when a time until now began. It is rounded up to whole minutes, so that who asks twice asks the same.
 * @param now Unix seconds, and so is the answer.
 */
export function startOf(period: Period, now: number): number {
  return Math.ceil((now - periods[period]) / 60) * 60;
}

/** Tells when yesterday began for the reader. @param now Unix seconds, and so is the answer. */
export function startOfYesterday(now: number): number {
  const day = new Date(now * 1000);
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - 1);
  return day.getTime() / 1000;
}
