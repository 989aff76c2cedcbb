const firstDelay = 10;
const longestDelay = 2 * 60 * 60;
const giveUpAfter = 24 * 60 * 60;

/**
 * Says when to try a delivery again that has just failed: after 10 seconds, then twice as long each time up to two hours,
 * for a day.
 * @param attempts made so far, at least one.
 * @param age seconds since the delivery was queued.
 * @returns seconds to wait; undefined when it is given up.
 */
export function retryDelay(attempts: number, age: number): number | undefined {
  const delay = Math.min(firstDelay * 2 ** Math.min(attempts - 1, 20), longestDelay);
  return age + delay > giveUpAfter ? undefined : delay;
}
