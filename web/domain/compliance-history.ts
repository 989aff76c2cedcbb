/** For how long things were in which state within some time, in seconds, added up over all of them. */
export interface HistoryBucket {
  /** Unix seconds, and so is `to`. */
  from: number;
  to: number;
  compliant: number;
  non_compliant: number;
  unknown: number;
  silent: number;
}

/** Tells the share of the judged time that was compliant, from 0 to 1; undefined where nothing was judged. */
export function compliantShare(buckets: readonly HistoryBucket[]): number | undefined {
  let compliant = 0;
  let judged = 0;
  for (const bucket of buckets) {
    compliant += bucket.compliant;
    judged += bucket.compliant + bucket.non_compliant;
  }
  return judged === 0 ? undefined : compliant / judged;
}

/** Finds the part whose judged time was least compliant, the latest of several; undefined where nothing fell short. */
export function worstBucket(buckets: readonly HistoryBucket[]): HistoryBucket | undefined {
  let worst: HistoryBucket | undefined;
  let least = 1;
  for (const bucket of buckets) {
    const share = compliantShare([bucket]) ?? 1;
    if (share < 1 && share <= least) [worst, least] = [bucket, share];
  }
  return worst;
}

/** Writes a share in percent. What is not all of it is never written as all, nor what is something as nothing. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return "> 99 %";
  return rounded === 0 && share > 0 ? "< 1 %" : `${rounded} %`;
}

/** Writes the day in UTC, by which days are cut: `2026-11-22`. @param at Unix seconds. */
export function dayOf(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 10);
}

/** Says in words what a history shows. */
export function historyWords(buckets: readonly HistoryBucket[]): string {
  const share = compliantShare(buckets);
  if (share === undefined) return "No policy judged anything in this time";
  const worst = worstBucket(buckets);
  const all = `Compliant for ${percent(share)} of the judged time`;
  if (worst === undefined) return all;
  return `${all}; least on ${dayOf(worst.from)}, with ${percent(compliantShare([worst]) ?? 1)}`;
}
