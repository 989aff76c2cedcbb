import { addTo, type NonEmpty } from "./group.ts";
import { leftInTurn, nextTurn, someoneWaits, spendInTurn } from "./turns.ts";

/**
 * Long work that pauses at each `yield`, so that its driver may do something else in between. The result is the same
 * however it is driven.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps at once: for work that is known to be short, and for tests. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs steps until they end, or until the turn's slice is used up. */
function runSlice<T>(steps: Steps<T>): IteratorResult<undefined, T> {
  const begun = performance.now();
  const left = leftInTurn();
  for (;;) {
    const step = steps.next();
    const took = performance.now() - begun;
    if (step.done !== true && took < left) continue;
    spendInTurn(took);
    return step;
  }
}

/**
 * Runs the steps a slice at a time, with other work of the process in between. What is paced one after the other without
 * a turn of the event loop in between shares a slice.
 */
export async function paced<T>(steps: Steps<T>): Promise<T> {
  if (someoneWaits() || leftInTurn() <= 0) await nextTurn();
  for (;;) {
    const step = runSlice(steps);
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** Runs the steps as `paced` does where they take long, else all at once. */
export function pacedIf<T>(isLong: boolean, steps: Steps<T>): T | Promise<T> {
  return isLong ? paced(steps) : finish(steps);
}

/** How many things of any kind are looked at in one go: it takes less than a millisecond. */
export const inOneGo = 500;

/** Says whether so many are looked at in one go. */
export function areFew(count: number): boolean {
  return count <= inOneGo;
}

/** Makes a function that is told what is going to be done, and says when that is enough for a stop before it. */
export function portions(): (count: number) => boolean {
  let done = 0;
  return (count) => {
    done += count;
    if (done <= inOneGo) return false;
    done = count;
    return true;
  };
}

/** Items that are sorted, or merged, without a pause. */
const runLength = 250;

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (left: T, right: T) => number,
): Steps<T[]> {
  const merged: T[] = [];
  let [at, other] = [0, 0];
  while (at < left.length && other < right.length) {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- both places are within their lists; this is hot
    merged.push(compare(left[at]!, right[other]!) <= 0 ? left[at++]! : right[other++]!);
    if (merged.length % runLength === 0) yield;
  }
  return merged.concat(left.slice(at), right.slice(other));
}

/** Sorts as `toSorted` does, stably, a run of items at a time. */
export function* sorted<T>(items: readonly T[], compare: (left: T, right: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += runLength) {
    runs.push(items.slice(at, at + runLength).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const next: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left = [], right] = runs.slice(at, at + 2);
      next.push(right === undefined ? left : yield* merge(left, right, compare));
    }
    runs = next;
  }
  return runs[0] ?? [];
}

/** Groups as `groupBy` does. */
export function* grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Steps<Map<K, NonEmpty<T>>> {
  const groups = new Map<K, NonEmpty<T>>();
  let looked = 0;
  for (const item of items) {
    if (looked % inOneGo === 0) yield;
    looked += 1;
    addTo(groups, keyOf(item), item);
  }
  return groups;
}

/** How many things are made before the next stop. */
const madeInOneGo = 100;

/** Makes one thing of each item, in their order, leaving out what is undefined. */
export function* collected<T, U>(items: Iterable<T>, make: (item: T) => U | undefined): Steps<U[]> {
  const made: U[] = [];
  let looked = 0;
  for (const item of items) {
    if (looked % madeInOneGo === 0) yield;
    looked += 1;
    const one = make(item);
    if (one !== undefined) made.push(one);
  }
  return made;
}

/** Does one thing with each item, in their order, with a stop before each. */
export function* eachOf<T, U>(items: Iterable<T>, make: (item: T) => Steps<U>): Steps<U[]> {
  const made: U[] = [];
  for (const item of items) {
    yield;
    made.push(yield* make(item));
  }
  return made;
}
