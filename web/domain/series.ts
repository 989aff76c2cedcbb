const hour = 3_600;

/** A day, and how often something happened on it. */
export interface DayCount {
  /** `2026-11-22`, in the reader's own zone. */
  day: string;
  count: number;
}

function dayText(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Finds when the first of so many days until now begins, in the reader's own zone; both in Unix seconds. */
export function startOfDays(days: number, now: number): number {
  const date = new Date(now * 1000);
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() - days + 1);
  return date.getTime() / 1000;
}

/** Counts moments by day, for so many days until now; days without any count as zero. All in Unix seconds. */
export function countByDay(moments: readonly number[], days: number, now: number): DayCount[] {
  const counts = new Map<string, number>();
  const date = new Date(startOfDays(days, now) * 1000);
  for (let day = 0; day < days; day++) {
    counts.set(dayText(date), 0);
    date.setDate(date.getDate() + 1);
  }
  for (const moment of moments) {
    const day = dayText(new Date(moment * 1000));
    const before = counts.get(day);
    if (before !== undefined) counts.set(day, before + 1);
  }
  return [...counts].map(([day, count]) => ({ day, count }));
}

/** Finds the value that so large a part of all values does not exceed; undefined for none. @param part from 0 to 1. */
export function quantile(values: readonly number[], part: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))];
}

const bounds = [0, 1, 2, 4, 8, 24] as const;

/** A span of lead times, and how many fall in it. */
export interface LeadTimeBucket {
  /** `1–2 h`. */
  words: string;
  count: number;
}

/** Counts lead times by their length: up to 1, 2, 4, 8, 24 hours and longer. @param seconds each of them. */
export function leadTimeBuckets(seconds: readonly number[]): LeadTimeBucket[] {
  return bounds.map((from, index) => {
    const to = bounds[index + 1];
    return {
      words: to === undefined ? `${from}+ h` : `${from}–${to} h`,
      count: seconds.filter(
        (one) => (index === 0 || one >= from * hour) && (to === undefined || one < to * hour),
      ).length,
    };
  });
}
