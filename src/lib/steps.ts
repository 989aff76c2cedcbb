import { nextTurn, someoneWaits } from "./turns.ts";

/**
 * Long work that stops at each `yield`, so that whoever drives it may do something else in between. What it does is the
 * same however it is driven.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does it all at once: for work that is known to be short, and for tests. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** How long the event loop is held at a time, in milliseconds: a step may take as long again. */
const sliceMs = 10;

/** Does it a slice at a time: whoever else has something to do comes in between. */
export async function paced<T>(steps: Steps<T>): Promise<T> {
  if (someoneWaits()) await nextTurn();
  let begun = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - begun < sliceMs) continue;
    await nextTurn();
    begun = performance.now();
  }
}

/** How many are sorted at once, and merged before the next stop. */
const runLength = 250;

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (left: T, right: T) => number,
): Steps<T[]> {
  const merged: T[] = [];
  let [at, other] = [0, 0];
  while (at < left.length && other < right.length) {
    merged.push(compare(left[at]!, right[other]!) <= 0 ? left[at++]! : right[other++]!);
    if (merged.length % runLength === 0) yield;
  }
  for (; at < left.length; at += 1) merged.push(left[at]!);
  for (; other < right.length; other += 1) merged.push(right[other]!);
  return merged;
}

/** Sorts as `toSorted` does, equal ones staying in their order. */
export function* sorted<T>(items: readonly T[], compare: (left: T, right: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += runLength) {
    runs.push(items.slice(at, at + runLength).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const next: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at]!, runs[at + 1]];
      next.push(right === undefined ? left : yield* merge(left, right, compare));
    }
    runs = next;
  }
  return runs[0] ?? [];
}
