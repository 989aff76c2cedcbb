import { setTimeout as delay } from "node:timers/promises";

/**
 * Waits for an answer, and no longer than so many milliseconds. What answers later is not listened to.
 * @param late gives what is answered then, or throws.
 */
export async function answerWithin<T, Late>(
  ms: number,
  work: Promise<T>,
  late: () => Late,
): Promise<T | Late> {
  const silence = new AbortController();
  const lateness = delay(ms, undefined, { signal: silence.signal, ref: false }).then(late);
  try {
    return await Promise.race([work, lateness]);
  } finally {
    silence.abort();
    lateness.catch(() => {});
  }
}
