import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  addUpHistory,
  type Bucket,
  bucketsBetween,
  bucketUnits,
  byClass,
  type ByClass,
  type ComplianceClass,
  complianceClasses,
  mostBuckets,
  planHistory,
  type Turns,
} from "./compliance-history.ts";

const hour = 3600e6;

/** One environment: since when it is there, and from when on it is of which class, in order of time. */
interface Life {
  since: number;
  classes: { at: number; to: ComplianceClass }[];
}

const moments = fc.integer({ min: 0, max: 40 * 24 * 3600 }).map((seconds) => seconds * 1_000_000 + 7);

const life: fc.Arbitrary<Life> = fc.record({
  since: fc.oneof(fc.constant(0), moments),
  classes: fc
    .array(fc.record({ at: moments, to: fc.constantFrom(...complianceClasses) }), { maxLength: 12 })
    .map((turns) => turns.toSorted((left, right) => left.at - right.at)),
});

/** Turns of a life, each from one class to another; nothing turns before it is there. */
function turnsOf({ since, classes }: Life, from: number) {
  const turns: { at: number; before: ComplianceClass | null; after: ComplianceClass }[] = [];
  let now: ComplianceClass = "unknown";
  if (since > 0) turns.push({ at: since, before: null, after: now });
  for (const { at, to } of classes) {
    if (at < since || to === now) continue;
    turns.push({ at, before: now, after: to });
    now = to;
  }
  return { now, turns: turns.filter(({ at }) => at > from) };
}

/** Puts turns together by buckets, as the database does. */
function gather(lives: readonly Life[], buckets: readonly Bucket[], from: number) {
  const now = byClass(() => 0);
  const gathered = new Map<string, Turns>();
  for (const each of lives) {
    const told = turnsOf(each, from);
    now[told.now] += 1;
    for (const { at, before, after } of told.turns) {
      const bucket = buckets.find(({ from: first, to }) => at >= first && at < to);
      const began = bucket?.began ?? null;
      const key = `${began} ${before} ${after}`;
      const known = gathered.get(key) ?? { began, before, after, count: 0, offsets: 0n };
      known.count += 1;
      known.offsets += BigInt(at - (began ?? at));
      gathered.set(key, known);
    }
  }
  return addUpHistory(buckets, now, [...gathered.values()]);
}

/** Adds up the same by looking at each life from turn to turn. */
function lookAt({ since, classes }: Life, { from, to }: { from: number; to: number }): ByClass<bigint> {
  const times = byClass(() => 0n);
  let [at, now]: [number, ComplianceClass] = [since, "unknown"];
  const spend = (until: number) => {
    const [first, last] = [Math.max(at, from), Math.min(until, to)];
    if (last > first) times[now] += BigInt(last - first);
    at = until;
  };
  for (const turn of classes) {
    if (turn.at < since) continue;
    spend(turn.at);
    now = turn.to;
  }
  spend(Infinity);
  return times;
}

function sum(times: readonly ByClass<bigint>[]): ByClass<bigint> {
  return byClass((each) => times.reduce((total, part) => total + part[each], 0n));
}

const unit = fc.constantFrom(...bucketUnits);

describe("a history", () => {
  it("is what each environment was from turn to turn", () => {
    fc.assert(
      fc.property(fc.array(life, { maxLength: 6 }), moments, moments, unit, (lives, one, other, each) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const buckets = bucketsBetween(from, to, each);
        const told = gather(lives, buckets, from);
        expect(told.map(({ times }) => times)).toEqual(
          buckets.map((bucket) => sum(lives.map((each) => lookAt(each, bucket)))),
        );
      }),
    );
  });

  it("adds up to the length of each bucket, for everybody who was there", () => {
    fc.assert(
      fc.property(fc.array(life, { maxLength: 6 }), moments, unit, (lives, to, each) => {
        const old = lives.map(({ classes }) => ({ since: 0, classes }));
        for (const { times, ...bucket } of gather(old, bucketsBetween(11, to, each), 11))
          expect(Object.values(times).reduce((total, part) => total + part, 0n)).toBe(
            BigInt(bucket.to - bucket.from) * BigInt(old.length),
          );
      }),
    );
  });

  it("adds up to the same wherever it is divided", () => {
    fc.assert(
      fc.property(
        fc.array(life, { maxLength: 4 }),
        fc.tuple(moments, moments, moments),
        unit,
        (lives, ends, each) => {
          const [from, middle, to] = ends.toSorted((left, right) => left - right) as [number, number, number];
          const told = (first: number, last: number) =>
            sum(gather(lives, bucketsBetween(first, last, each), first).map(({ times }) => times));
          expect(sum([told(from, middle), told(middle, to)])).toEqual(told(from, to));
        },
      ),
    );
  });

  it("counts the time of many environments exactly", () => {
    const [bucket] = bucketsBetween(0, 24 * hour, "day");
    const turns: Turns[] = [
      { began: 0, before: "compliant", after: "silent", count: 100_000, offsets: 100_000n * 3_600_000_001n },
    ];
    const [told] = addUpHistory([bucket!], { ...byClass(() => 0), silent: 100_000 }, turns);
    expect(told?.times.compliant).toBe(360_000_000_100_000n);
    expect(told?.times.silent).toBe(8_640_000_000_000_000n - 360_000_000_100_000n);
  });
});

describe("buckets", () => {
  it("divide a time without gaps, none is empty", () => {
    fc.assert(
      fc.property(moments, moments, unit, (from, to, each) => {
        const buckets = bucketsBetween(from, to, each);
        expect(buckets.length > 0).toBe(to > from);
        for (const [at, bucket] of buckets.entries()) {
          expect(bucket.from).toBe(at === 0 ? from : buckets[at - 1]!.to);
          expect(bucket.to).toBeGreaterThan(bucket.from);
          expect(bucket.began).toBeLessThanOrEqual(bucket.from);
        }
        if (to > from) expect(buckets.at(-1)?.to).toBe(to);
      }),
    );
  });

  it.each([
    ["hour", "2026-11-22T15:00:00Z"],
    ["day", "2026-11-22T00:00:00Z"],
    // A Monday.
    ["week", "2026-11-16T00:00:00Z"],
  ] as const)("begin with the %s, in UTC", (each, began) => {
    const at = Date.parse("2026-11-22T15:20:00Z") * 1000;
    const [bucket] = bucketsBetween(at, at + 1, each);
    expect(new Date(bucket!.began / 1000).toISOString()).toBe(new Date(began).toISOString());
  });
});

describe("planHistory", () => {
  const now = 1_795_000_000.25;

  it.each([
    ["hour", 25],
    ["day", 31],
    ["week", 27],
  ] as const)("has a window of its own for each unit: %s", (bucket, count) => {
    expect(planHistory({ bucket }, now).buckets).toHaveLength(count);
  });

  it("leaves out what is yet to come", () => {
    const { buckets, end_ts } = planHistory({ bucket: "hour", start_ts: now - 60, end_ts: now + 1e6 }, now);
    expect([end_ts, buckets.at(-1)?.to]).toEqual([now, now * 1e6]);
    expect(planHistory({ bucket: "hour", start_ts: now + 5, end_ts: now + 9 }, now).buckets).toEqual([]);
  });

  it("refuses what is too long, or ends before it starts", () => {
    const from = (start_ts: number) => () => planHistory({ bucket: "day", start_ts }, now).buckets.length;
    expect(from(now - (mostBuckets - 1) * 86_400)()).toBe(mostBuckets);
    for (const start of [0, now - mostBuckets * 86_400, now + 1])
      expect(from(start)).toThrow("validation failed");
  });
});
