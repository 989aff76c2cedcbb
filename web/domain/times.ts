const minute = 60;
const hour = 60 * minute;
/** A day, in seconds. */
export const daySeconds = 24 * hour;

const units: readonly [string, number][] = [
  ["y", 365 * daySeconds],
  ["mo", 30 * daySeconds],
  ["d", daySeconds],
  ["h", hour],
  ["min", minute],
];

/** Says how long a time is, in its largest unit: `3 d`, `45 min`, `12 s`. @param seconds how long; its sign does not count. */
export function duration(seconds: number): string {
  const length = Math.abs(seconds);
  for (const [unit, size] of units) if (length >= size) return `${Math.floor(length / size)} ${unit}`;
  return `${Math.floor(length)} s`;
}

/** The units that lengths of time are drawn in, with their seconds. */
const drawnIn = [
  ["days", daySeconds],
  ["hours", hour],
  ["minutes", minute],
  ["seconds", 1],
] as const;

/** Chooses the unit that times up to so many seconds are drawn in: the largest of which there are two. */
export function unitFor(most: number): (typeof drawnIn)[number] {
  return drawnIn.find(([, size]) => most >= 2 * size) ?? drawnIn[3];
}

/** Says how long a time is, in its two largest units: `3 d 4 h`. */
export function exactDuration(seconds: number): string {
  const length = Math.abs(seconds);
  const at = units.findIndex(([, size]) => length >= size);
  const [large, small] = [units[at], units[at + 1]];
  if (large === undefined || small === undefined) return duration(length);
  const rest = Math.floor((length % large[1]) / small[1]);
  return rest === 0 ? duration(length) : `${duration(length)} ${rest} ${small[0]}`;
}

/**
 * Says when something was, seen from `now`; both in Unix seconds.
 * @param mayBeAhead whether it may be still to come. What has happened may be ahead by another clock alone: that is just now.
 */
export function relativeTime(at: number, now: number, mayBeAhead = false): string {
  const difference = now - at;
  if (Math.abs(difference) < 5 || (difference < 0 && !mayBeAhead)) return "just now";
  return difference > 0 ? `${duration(difference)} ago` : `in ${duration(difference)}`;
}

/** Writers of moments, by zone: making one takes longer than writing a hundred. */
const formats = new Map<string | undefined, Intl.DateTimeFormat>();

function formatOf(timeZone: string | undefined): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  formats.set(timeZone, format);
  return format;
}

/** Writes a moment to the second, in the reader's own zone: `2026-11-22 15:04:05`. @param at Unix seconds. */
export function exactTime(at: number, timeZone?: string): string {
  const parts = formatOf(timeZone).formatToParts(at * 1000);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")}`;
}

/** Says when something was to the minute, as people say it who read it now: `today 09:00`, `yesterday 09:00`, `2026-11-19 09:00`. */
export function momentWords(at: number, now: number, timeZone?: string): string {
  const [day, time] = exactTime(at, timeZone).slice(0, 16).split(" ");
  const dayOf = (moment: number): string => exactTime(moment, timeZone).slice(0, 10);
  if (day === dayOf(now)) return `today ${time}`;
  // Half a day from noon is another day whenever clocks are put on or back.
  const hours = Number(exactTime(now, timeZone).slice(11, 13));
  return day === dayOf(now - (hours + 12) * hour) ? `yesterday ${time}` : `${day} ${time}`;
}
