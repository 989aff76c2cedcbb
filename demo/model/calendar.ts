const hour = 3600;
const day = 24 * hour;

/** Says how busy an hour is, from 0 to 1: busiest on weekdays between 7 and 19 o'clock UTC. */
function busyness(at: number): number {
  const date = new Date(at * 1000);
  const weekend = date.getUTCDay() === 0 || date.getUTCDay() === 6;
  const clock = date.getUTCHours();
  const working = clock >= 7 && clock < 19;
  if (weekend) return working ? 0.08 : 0.02;
  return working ? 1 : 0.05;
}

/** A function from a share of all work, 0 to 1, to the moment when that share was done, in Unix seconds. */
export type Calendar = (share: number) => number;

/**
 * Makes a calendar that spreads work over a span of time as people work: by day, on weekdays, and a little more every
 * month.
 * @param end Unix seconds; every moment is before it.
 */
export function createCalendar(end: number, days: number): Calendar {
  const start = end - days * day;
  const done: number[] = [0];
  for (let index = 0; index < days * 24; index += 1) {
    const growth = 0.7 + (0.6 * index) / (days * 24);
    done.push((done[index] ?? 0) + busyness(start + index * hour) * growth);
  }
  const total = done.at(-1) ?? 0;
  return (share) => {
    const wanted = Math.min(Math.max(share, 0), 1 - 1e-9) * total;
    let low = 0;
    let high = done.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((done[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    const before = done[low] ?? 0;
    const within = (wanted - before) / ((done[low + 1] ?? total) - before);
    return Math.round((start + (low + Math.min(within, 0.999_999)) * hour) * 1e6) / 1e6;
  };
}
