/** How often an environment is reported on, and when its reporter has been silent for too long. */

/** Of these many gaps between reports the usual interval is learned. */
export const rememberedGaps = 20;

/** Fewer say nothing. */
const leastGaps = 3;

/** A gap is too long when it is this many times the usual one … */
const tolerance = 3;

/** … and no shorter than this, in seconds. */
const leastLimit = 60;

/** Limits that may be set: a minute to ten years, in seconds. */
export const silenceLimitRange = { min: 60, max: 315_360_000 } as const;

/** How long the watch may look away, in seconds, without losing track: it looks every minute. */
export const watchBreak = 180;

/** The gaps to remember after another one, the newest last. */
export function rememberGap(gaps: readonly number[], gap: number): number[] {
  return [...gaps, Math.max(0, gap)].slice(-rememberedGaps);
}

/**
 * The interval that three of four reports keep to, in seconds: some outages do not change it, nor do a few reports in
 * between. Undefined while too little is known.
 */
export function usualInterval(gaps: readonly number[]): number | undefined {
  if (gaps.length < leastGaps) return undefined;
  const sorted = gaps.toSorted((left, right) => left - right);
  return sorted[Math.ceil(sorted.length * 0.75) - 1];
}

/** After how many seconds an environment with these gaps is silent; undefined while too little is known. */
export function learnedLimit(gaps: readonly number[]): number | undefined {
  const usual = usualInterval(gaps);
  return usual === undefined ? undefined : Math.max(leastLimit, tolerance * usual);
}
