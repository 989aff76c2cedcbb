import { setTimeout as sleep } from "node:timers/promises";

/** What long work calls between its pieces, so that others get their turn. */
export type Pause = () => Promise<void>;

/** How long to work before a rest, in milliseconds: short enough that nobody who waits meanwhile notices. */
const workMs = 10;

const realTime = {
  /** In milliseconds. */
  now: () => performance.now(),
  rest: (ms: number): Promise<void> => sleep(ms),
};

/**
 * Makes a pause that lets work go on for some milliseconds, and then rests for so long that it takes only a share of the time.
 * @param share of the time that is worked, above 0 and at most 1; with 1 it never rests.
 */
export function keepPace(share: number, { now, rest } = realTime): Pause {
  let since = now();
  return async () => {
    const worked = now() - since;
    if (share === 1 || worked < workMs) return;
    await rest((worked * (1 - share)) / share);
    since = now();
  };
}
