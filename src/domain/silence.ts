/** How often an environment is reported on, and when its reporter has been silent for too long. */

/** Gaps between reports that are remembered: from these the usual interval is learned. */
export const rememberedGaps = 20;

/** Gaps from which on there is a usual interval. */
const leastGaps = 3;

/** Usual intervals without a report that are too many. */
const tolerance = 3;

/** Silences that may be said to be too long: a minute to ten years, in seconds. A learned one is no shorter. */
export const silenceLimitRange = { min: 60, max: 315_360_000 } as const;

/** Seconds for which the watch may look away without losing track: it looks every minute. */
export const longestWatchPause = 180;

/** Adds a gap to the remembered ones, newest last, and drops the oldest. */
export function rememberGap(gaps: readonly number[], gap: number): number[] {
  return [...gaps, Math.max(0, gap)].slice(-rememberedGaps);
}

/**
 * Finds the interval that three of four gaps do not exceed, in seconds. A few outages or extra reports do not change
 * it. Undefined while too little is known.
 */
export function usualInterval(gaps: readonly number[]): number | undefined {
  if (gaps.length < leastGaps) return undefined;
  const sorted = gaps.toSorted((left, right) => left - right);
  return sorted[Math.ceil(sorted.length * 0.75) - 1];
}

/**
 * Finds after how many seconds without a report an environment with these gaps is silent; undefined while too little is
 * known.
 */
export function learnedLimit(gaps: readonly number[]): number | undefined {
  const usual = usualInterval(gaps);
  return usual === undefined ? undefined : Math.max(silenceLimitRange.min, tolerance * usual);
}
