import type { Timestamp } from "../../lib/clock.ts";
import { type PageNumbers, pageSlice } from "../../lib/paging.ts";
import { invalid, type AppError } from "../errors.ts";
import { absoluteIndex, readBehind } from "./expressions.ts";
import { ago, type TimeUnit } from "./moments.ts";

/** One end of an interval: a snapshot by its number, from the end when negative; or a moment. */
export type Bound = { kind: "index"; index: number } | { kind: "moment"; timestamp: Timestamp };

/** Snapshots from one bound to the other, both included. */
interface Interval {
  from: Bound;
  to: Bound;
}

const first: Bound = { kind: "index", index: 1 };
const latest: Bound = { kind: "index", index: -1 };

/** All snapshots. */
export const everything: Interval = { from: first, to: latest };

const indexPattern = /^-?\d{1,15}$/;

function badInterval(text: string): AppError {
  return invalid(`Invalid interval value: ${text}`);
}

function parseIndex(text: string): Bound | undefined {
  if (text.toLowerCase() === "now") return latest;
  const behind = readBehind(text);
  if (behind !== undefined) return { kind: "index", index: behind };
  const index = indexPattern.test(text) ? Number(text) : 0;
  return index === 0 ? undefined : { kind: "index", index };
}

function parseSide(text: string, whenEmpty: Bound): Bound {
  if (text === "") return whenEmpty;
  const bound = parseIndex(text);
  if (bound === undefined) throw invalid(`${text} is not a valid snapshot index`);
  return bound;
}

/**
 * Reads `[A]..[B]`, or `A` for that snapshot alone. Each side is `N`, `~N` behind the latest, `-N` from the end, `NOW`,
 * or left out: the first and the latest then, as for an empty text.
 * @throws AppError `invalid`
 */
export function parseInterval(text: string): Interval {
  const sides = text.split("..").map((side) => side.trim());
  const [from = "", to] = sides;
  if (sides.length > 2) throw badInterval(text);
  if (to !== undefined) return { from: parseSide(from, first), to: parseSide(to, latest) };
  if (from === "") return everything;
  const only = parseSide(from, latest);
  return { from: only, to: only };
}

/** Numbers from here on are moments, smaller ones are snapshots. */
const leastMoment = 1_000_000_000;
/** The end of the year 9999. */
const lastMoment = 253_402_300_800;

const momentPattern = /^\d{10,12}(?:\.\d{1,9})?$/;
const durationPattern = /^(\d{1,9}) ?([a-z]+)$/i;

const units = new Map<string, TimeUnit>(
  Object.entries({
    second: ["s", "sec", "secs", "second", "seconds"],
    minute: ["m", "min", "mins", "minute", "minutes"],
    hour: ["h", "hr", "hrs", "hour", "hours"],
    day: ["d", "day", "days"],
    week: ["w", "week", "weeks"],
    month: ["month", "months"],
    year: ["y", "year", "years"],
  } satisfies Record<TimeUnit, string[]>).flatMap(([unit, names]) =>
    names.map((name): [string, TimeUnit] => [name, unit as TimeUnit]),
  ),
);

function parseMoment(text: string): Bound | undefined {
  const timestamp = momentPattern.test(text) ? Number(text) : 0;
  return timestamp >= leastMoment && timestamp < lastMoment ? { kind: "moment", timestamp } : undefined;
}

function parseDuration(text: string, now: Timestamp): Bound | undefined {
  const [, amount, name = ""] = durationPattern.exec(text) ?? [];
  const unit = units.get(name.toLowerCase());
  if (amount === undefined || unit === undefined) return undefined;
  return { kind: "moment", timestamp: ago(now, Number(amount), unit) };
}

/**
 * Reads one end of a log: a snapshot by number (`N`, `-N`, `~N`, `NOW`), a time ago (`1hour`, `1h`, `2days`, `30mins`),
 * or a moment in Unix seconds, which is any number of ten digits or more.
 * @throws AppError `invalid`
 */
export function parseBound(text: string, now: Timestamp): Bound {
  const bound = /^\d{10}/.test(text) ? parseMoment(text) : (parseIndex(text) ?? parseDuration(text, now));
  if (bound === undefined) throw badInterval(text);
  return bound;
}

/** The three ways to say which part of a log is wanted. */
export interface WindowQuery {
  /** Empty: not given. */
  interval?: string | undefined;
  start?: string | undefined;
  end?: string | undefined;
  /** Unix seconds. */
  start_ts?: number | undefined;
  end_ts?: number | undefined;
}

function chooseBound(
  moment: number | undefined,
  text: string | undefined,
  now: Timestamp,
): Bound | undefined {
  const bound = text === undefined ? undefined : parseBound(text, now);
  return moment === undefined ? bound : { kind: "moment", timestamp: moment };
}

/**
 * Finds the part of a log that a query asks for. A moment wins over the other way to name the same end; either wins
 * over the interval, which counts only when no end is named. Everything that is given has to be right, also when it
 * does not count.
 * @throws AppError `invalid`
 */
export function chooseWindow(query: WindowQuery, now: Timestamp): Interval {
  const interval = parseInterval(query.interval ?? "");
  const from = chooseBound(query.start_ts, query.start, now);
  const to = chooseBound(query.end_ts, query.end, now);
  if (from === undefined && to === undefined) return interval;
  return { from: from ?? first, to: to ?? latest };
}

/** Snapshots to read: by number, and by time where a bound was a moment. All ends are included. */
export interface SnapshotRange {
  first: number;
  last: number;
  from: Timestamp | null;
  to: Timestamp | null;
}

/**
 * Finds the snapshots of an environment in an interval; undefined when there is none by its numbers alone.
 * @param count how many snapshots the environment has.
 */
export function resolveInterval({ from, to }: Interval, count: number): SnapshotRange | undefined {
  const lowest = from.kind === "index" ? Math.max(1, absoluteIndex(from.index, count)) : 1;
  const highest = to.kind === "index" ? Math.min(count, absoluteIndex(to.index, count)) : count;
  if (lowest > highest) return undefined;
  return {
    first: lowest,
    last: highest,
    from: from.kind === "moment" ? from.timestamp : null,
    to: to.kind === "moment" ? to.timestamp : null,
  };
}

/** Numbers from one to another, both included; none when the first comes after the last. */
export interface NumberRange {
  first: number;
  last: number;
}

/** Which page of a range. The first one has the highest numbers unless reversed. */
export interface RangePage extends PageNumbers {
  reverse: boolean;
}

/** Finds the part of a range that is on a page. */
export function pageOfRange({ first, last }: NumberRange, { reverse, ...page }: RangePage): NumberRange {
  const { limit, offset } = pageSlice(page);
  if (reverse) return { first: first + offset, last: Math.min(last, first + offset + limit - 1) };
  return { first: Math.max(first, last - offset - limit + 1), last: last - offset };
}
