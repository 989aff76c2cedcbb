import type { Verdict } from "./verdict.ts";

/** A snapshot as the timeline needs it. Times are Unix seconds; `to` is 0 for the latest, which lasts until now. */
export interface TimelineSnapshot {
  index: number;
  from: number;
  to: number;
  verdict: Verdict;
  policies_changed?: boolean | undefined;
}

/** A time without reports; `to` is null while it lasts. */
export interface TimelineGap {
  from: number;
  to: number | null;
}

/** One snapshot, or several that stand too close to be told apart. `x` and `width` are pixels. */
export interface TimelineBar {
  x: number;
  width: number;
  /** The worst of them. */
  verdict: Verdict;
  /** Their first and last number. */
  first: number;
  last: number;
  from: number;
  to: number;
  policies_changed: boolean;
}

export interface Timeline {
  /** From the left, the oldest first; they touch and do not overlap. */
  bars: readonly TimelineBar[];
  silences: readonly { x: number; width: number }[];
  /** How long each verdict held, in seconds: of every snapshot, also of those that share a bar with worse ones. */
  lasted: ReadonlyMap<Verdict, number>;
  /** Moment at which the picture begins, and at which it ends. */
  from: number;
  to: number;
}

interface TimelineOptions {
  /** Pixels. */
  width: number;
  /** Unix seconds. */
  now: number;
  maxBars?: number;
  /** Least width of a bar in pixels, where there is room for that. */
  minWidth?: number;
}

const badness: readonly Verdict[] = [
  "compliant",
  "exempt",
  "unknown",
  "incomplete",
  "missing",
  "non-compliant",
];

/** Gives the worse of two verdicts. */
export function worse(a: Verdict, b: Verdict): Verdict {
  return badness.indexOf(a) >= badness.indexOf(b) ? a : b;
}

type Joined = Omit<TimelineBar, "x" | "width">;

function joined(before: Joined, { last, to, verdict, policies_changed }: Joined): Joined {
  return {
    ...before,
    last,
    to,
    verdict: worse(before.verdict, verdict),
    policies_changed: before.policies_changed || policies_changed,
  };
}

function barOf({ index, from, to, verdict, policies_changed }: TimelineSnapshot, now: number): Joined {
  const end = to === 0 ? now : to;
  return {
    first: index,
    last: index,
    from,
    to: Math.max(from, end),
    verdict,
    policies_changed: policies_changed === true,
  };
}

/** Joins what begins within the same of `maxBars` equal parts of the whole time. */
function joinClose(bars: readonly Joined[], maxBars: number): Joined[] {
  const [start, end] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 0];
  const part = ({ from }: Joined): number =>
    Math.min(maxBars - 1, Math.floor(((from - start) / (end - start || 1)) * maxBars));
  const result: Joined[] = [];
  for (const bar of bars) {
    const before = result.at(-1);
    if (before !== undefined && part(before) === part(bar)) result[result.length - 1] = joined(before, bar);
    else result.push(bar);
  }
  return result;
}

/** Gives each bar its least width, and shares the rest out by time. */
function place(bars: readonly Joined[], width: number, minWidth: number): TimelineBar[] {
  const least = Math.min(minWidth, width / 2 / (bars.length || 1));
  const total = bars.reduce((sum, { from, to }) => sum + to - from, 0);
  const rest = width - least * bars.length;
  let x = 0;
  return bars.map((bar) => {
    const share = total === 0 ? 1 / bars.length : (bar.to - bar.from) / total;
    const placed = { ...bar, x, width: least + rest * share };
    x += placed.width;
    return placed;
  });
}

/** Adds up how long each verdict held. */
function lastedOf(bars: readonly Joined[]): Map<Verdict, number> {
  const lasted = new Map<Verdict, number>();
  for (const { verdict, from, to } of bars) lasted.set(verdict, (lasted.get(verdict) ?? 0) + to - from);
  return lasted;
}

/** Finds where a moment is: within its bar by time, at the ends outside of all bars. @param at Unix seconds. */
export function xOfTime(bars: readonly TimelineBar[], at: number): number {
  const bar = bars.findLast(({ from }) => from <= at);
  if (bar === undefined) return 0;
  const share = bar.to === bar.from ? 1 : Math.min(1, (at - bar.from) / (bar.to - bar.from));
  return bar.x + bar.width * share;
}

/** Finds the bar at a place; the nearest for places outside. */
export function barAt(bars: readonly TimelineBar[], x: number): TimelineBar | undefined {
  return bars.findLast((bar) => bar.x <= x) ?? bars[0];
}

/** Finds the bar that shows a snapshot. */
export function barOfSnapshot(bars: readonly TimelineBar[], index: number): TimelineBar | undefined {
  return bars.find(({ first, last }) => first <= index && index <= last);
}

/**
 * Finds the handle that somebody takes: the nearest. Of several in one place it is the last when they take it to the right of
 * them, and else the first.
 * @param places of the handles, in their order; undefined for those that are not shown.
 * @returns its number, or -1 when none is shown.
 */
export function handleAt(places: readonly (number | undefined)[], x: number): number {
  let best = -1;
  let distance = Infinity;
  for (const [number, place] of places.entries()) {
    if (place === undefined) continue;
    const own = Math.abs(place - x);
    if (own < distance || (own === distance && x > place)) [best, distance] = [number, own];
  }
  return best;
}

/**
 * Lays a timeline out: a bar for each snapshot, as wide as it lasted, joined where there are more than `maxBars` or pixels, and
 * the times at which nothing was reported. The same input gives the same picture.
 * @param snapshots in any order.
 */
export function layOutTimeline(
  snapshots: readonly TimelineSnapshot[],
  gaps: readonly TimelineGap[],
  { width, now, maxBars = 600, minWidth = 3 }: TimelineOptions,
): Timeline {
  const all = snapshots.toSorted((a, b) => a.index - b.index).map((snapshot) => barOf(snapshot, now));
  // No more than there are pixels to tell them apart.
  const most = Math.max(1, Math.min(maxBars, Math.floor(width)));
  const bars = place(all.length > most ? joinClose(all, most) : all, width, minWidth);
  const from = bars[0]?.from ?? now;
  const to = bars.at(-1)?.to ?? now;
  const silences = gaps
    .filter((gap) => (gap.to ?? now) > from && gap.from < to)
    .map((gap) => {
      const x = xOfTime(bars, Math.max(gap.from, from));
      return { x, width: Math.max(0, xOfTime(bars, Math.min(gap.to ?? now, to)) - x) };
    });
  return { bars, silences, lasted: lastedOf(all), from, to };
}

/** Gives the part of the time shown that had a verdict, from 0 to 1; of no time it is 0. */
export function shareOfTime({ lasted }: Timeline, verdict: Verdict): number {
  const whole = [...lasted.values()].reduce((sum, seconds) => sum + seconds, 0);
  return whole === 0 ? 0 : (lasted.get(verdict) ?? 0) / whole;
}
