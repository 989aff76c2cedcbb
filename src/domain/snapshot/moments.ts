import type { Timestamp } from "../../lib/clock.ts";

export type TimeUnit = "second" | "minute" | "hour" | "day" | "week" | "month" | "year";

const seconds: Record<Exclude<TimeUnit, "month" | "year">, number> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
};

/** Moves what lies before 1970 to there: nothing was recorded then, and the database need not reckon so far back. */
function notBeforeEpoch(timestamp: Timestamp): Timestamp {
  return Number.isFinite(timestamp) ? Math.max(0, timestamp) : 0;
}

/** Finds the same day of an earlier month, or the month's last when it has no such day; UTC. */
function monthsBefore(now: Timestamp, months: number): Timestamp {
  const then = new Date(Math.floor(now) * 1000);
  const day = then.getUTCDate();
  then.setUTCDate(1);
  then.setUTCMonth(then.getUTCMonth() - months);
  const lastDay = new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() + 1, 0)).getUTCDate();
  then.setUTCDate(Math.min(day, lastDay));
  return then.getTime() / 1000 + (now - Math.floor(now));
}

/** Finds a moment some time ago, by the calendar of UTC; 1970 at the earliest. */
export function ago(now: Timestamp, amount: number, unit: TimeUnit): Timestamp {
  if (unit === "month") return notBeforeEpoch(monthsBefore(now, amount));
  if (unit === "year") return notBeforeEpoch(monthsBefore(now, amount * 12));
  return notBeforeEpoch(now - amount * seconds[unit]);
}

const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/;

/** Parses `YYYY-MM-DDTHH:MM:SS` in UTC; undefined when it is no such text, or no such day or time exists. */
export function parseDateTime(text: string): Timestamp | undefined {
  if (!dateTimePattern.test(text)) return undefined;
  const time = new Date(`${text}Z`);
  // A day that a month does not have would count as one of the next.
  const exists = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
  return exists ? notBeforeEpoch(time.getTime() / 1000) : undefined;
}
