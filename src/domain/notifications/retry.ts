const firstDelay = 10;
const longestDelay = 2 * 60 * 60;
const giveUpAfter = 24 * 60 * 60;

/** The last attempt after which the delay still doubles. */
const lastDoubled = Math.floor(Math.log2(longestDelay / firstDelay)) + 1;

/**
 * Says when to try a delivery again that has just failed: after 10 seconds, then twice as long each time up to two hours,
 * for a day. That is a day of trying: what waited for long before, in line or for a server, is tried as often.
 * @param attempts made so far, at least one.
 * @returns seconds to wait; undefined when it is given up.
 */
export function retryDelay(attempts: number): number | undefined {
  const doubled = Math.min(attempts, lastDoubled);
  const waited = firstDelay * (2 ** doubled - 1) + longestDelay * (attempts - doubled);
  return waited > giveUpAfter
    ? undefined
    : Math.min(firstDelay * 2 ** Math.min(attempts - 1, lastDoubled), longestDelay);
}
