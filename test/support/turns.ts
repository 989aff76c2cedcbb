import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { ownKernelId } from "../../src/lib/sandbox/processor-time.ts";

const kernelId = ownKernelId();

/**
 * Reads how many milliseconds of processor time this thread has used, which what others do on the machine does not change; of the time
 * that passed where nobody tells.
 */
export function threadTime(): number {
  if (kernelId === undefined) return performance.now();
  return Number(readFileSync(`/proc/self/task/${kernelId}/schedstat`, "utf8").split(" ", 1)[0]) / 1e6;
}

/**
 * Does work and tells for how long the event loop was held at most, in milliseconds of this thread's processor time:
 * what others do on the machine does not count.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const state = { done: false };
  const working = work().finally(() => (state.done = true));
  let longest = 0;
  let before = threadTime();
  // Until one turn after the end: what was done last counts, too. A look in each millisecond, not in each turn, which would take a
  // processor from what is looked at where that waits for others: at most a millisecond of the turns before counts with the longest.
  for (let last = false; !last;) {
    last = state.done;
    await delay(1);
    const now = threadTime();
    longest = Math.max(longest, now - before);
    before = now;
  }
  await working;
  return longest;
}

/**
 * Does what `longestTurn` does up to three times, until no turn takes as long as is allowed, and tells the least. What holds the event loop does so
 * each time; that a core's other half or the collection of much that others have left takes time of this thread does not come each time.
 * @param allowed milliseconds.
 */
export async function leastLongestTurn(allowed: number, work: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let times = 0; times < 3 && least >= allowed; times += 1)
    least = Math.min(least, await longestTurn(work));
  return least;
}

/** Counts the turns that others get while something is done. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let going = true;
  const count = (): void => {
    turns += 1;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  await work();
  going = false;
  return turns;
}
