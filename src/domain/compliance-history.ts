import type { Timestamp } from "../lib/clock.ts";
import { invalidInput } from "./errors.ts";
import { timeWindow, type TimeWindow } from "./time-window.ts";
import { daySeconds } from "../lib/units.ts";

/** What an environment's time may be spent as. While its reporter is silent, nothing else counts. */
export const complianceClasses = ["unknown", "compliant", "non_compliant", "silent"] as const;
export type ComplianceClass = (typeof complianceClasses)[number];

/** Units of time in which a history is told, in UTC; weeks begin on Monday. */
export const bucketUnits = ["hour", "day", "week"] as const;
export type BucketUnit = (typeof bucketUnits)[number];

const perSecond = 1_000_000;

/** Seconds of a unit, and how far behind 1970 the first one begins; the default length of a window. */
const units: Record<BucketUnit, { seconds: number; origin: number; window: number }> = {
  hour: { seconds: 3600, origin: 0, window: daySeconds },
  day: { seconds: daySeconds, origin: 0, window: 30 * daySeconds },
  // 1970 began on a Thursday.
  week: { seconds: 7 * daySeconds, origin: 4 * daySeconds, window: 182 * daySeconds },
};

/** Buckets of a history at most. */
export const mostBuckets = 400;

/** A part of a history, in microseconds since 1970: from its first moment until the first one after it. */
export interface Bucket {
  from: number;
  to: number;
  /** When its unit of time began: before `from` when the history begins in the middle. */
  began: number;
}

function microseconds(seconds: Timestamp): number {
  return Math.round(seconds * perSecond);
}

/**
 * Divides a time into buckets, in microseconds. No bucket is empty.
 * @param from included; `to` is not.
 */
export function bucketsBetween(from: number, to: number, unit: BucketUnit): Bucket[] {
  const [length, origin] = [units[unit].seconds * perSecond, units[unit].origin * perSecond];
  const buckets: Bucket[] = [];
  if (from >= to) return buckets;
  for (let began = Math.floor((from - origin) / length) * length + origin; began < to; began += length)
    buckets.push({ from: Math.max(from, began), to: Math.min(to, began + length), began });
  return buckets;
}

/** Which time a history is asked for. */
export interface HistoryQuery {
  start_ts?: Timestamp | undefined;
  end_ts?: Timestamp | undefined;
  bucket: BucketUnit;
}

/** A history to tell: its window, and what that is divided into. */
export interface HistoryPlan extends TimeWindow {
  unit: BucketUnit;
  buckets: Bucket[];
}

/**
 * Plans a history. What is yet to come is left out.
 * @throws AppError invalid for a window that ends before it starts, or has more than `mostBuckets`.
 */
export function planHistory({ bucket: unit, ...asked }: HistoryQuery, now: Timestamp): HistoryPlan {
  const { seconds, window } = units[unit];
  const { start_ts, end_ts } = timeWindow(asked, now, { start: "start_ts", end: "end_ts", length: window });
  const end = Math.min(end_ts, now);
  const isTooLong = (end - start_ts) / seconds > mostBuckets;
  const buckets = isTooLong ? [] : bucketsBetween(microseconds(start_ts), microseconds(end), unit);
  if (isTooLong || buckets.length > mostBuckets)
    throw invalidInput({
      "query.start_ts": `There should be at most ${mostBuckets} buckets from start_ts to end_ts [input: ${start_ts}]`,
    });
  return { unit, start_ts, end_ts: Math.max(start_ts, end), buckets };
}

/** Turns from one class to another within a bucket, all of them together. */
export interface Turns {
  /** When the bucket's unit of time began; null for turns after the last bucket. */
  began: number | null;
  /** Null: it was not there before. */
  before: ComplianceClass | null;
  after: ComplianceClass;
  count: number;
  /** Microseconds from `began` to each of the turns, added up. */
  offsets: bigint;
}

/** How many environments there are of each class, or microseconds that they spent in it. */
export type ByClass<Amount> = Record<ComplianceClass, Amount>;

/** Microseconds of a bucket by class. */
export interface BucketTimes extends Bucket {
  times: ByClass<bigint>;
}

/** Makes an amount for each class. */
export function byClass<Amount>(amount: (each: ComplianceClass) => Amount): ByClass<Amount> {
  return Object.fromEntries(complianceClasses.map((each) => [each, amount(each)])) as ByClass<Amount>;
}

/**
 * Adds up the time that environments spent in each class, exactly. Goes back in time from how many there are of each: who
 * turned was of the other class until then. In each bucket the classes add up to its length for every environment that
 * was there all the time.
 * @param now environments by class after the last turn.
 */
export function addUpHistory(
  buckets: readonly Bucket[],
  now: ByClass<number>,
  turns: readonly Turns[],
): BucketTimes[] {
  const count = byClass((each) => BigInt(now[each]));
  const inBucket = new Map<number | null, Turns[]>();
  for (const turn of turns) inBucket.set(turn.began, [...(inBucket.get(turn.began) ?? []), turn]);
  const undo = ({ before, after, count: turned }: Turns) => {
    count[after] -= BigInt(turned);
    if (before !== null) count[before] += BigInt(turned);
  };
  for (const turn of inBucket.get(null) ?? []) undo(turn);
  const told = buckets.toReversed().map((bucket) => {
    const length = BigInt(bucket.to - bucket.from);
    const times = byClass((each) => count[each] * length);
    for (const turn of inBucket.get(bucket.began) ?? []) {
      // What all of them together were of the class before, since the bucket began.
      const until = turn.offsets - BigInt(turn.count) * BigInt(bucket.from - bucket.began);
      times[turn.after] -= until;
      if (turn.before !== null) times[turn.before] += until;
      undo(turn);
    }
    return { ...bucket, times };
  });
  return told.toReversed();
}

/** Tells microseconds in seconds. */
export function inSeconds(amount: bigint | number): number {
  return Number(amount) / perSecond;
}
