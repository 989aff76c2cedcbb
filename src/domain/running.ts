/** Verdicts on what runs, in the order in which they are sorted: what needs attention comes first. */
export const verdicts = ["false", "true", "unknown"] as const;
export type RunningVerdict = (typeof verdicts)[number];

/** Keys by which what runs can be sorted. */
export const runningSorts = ["environment", "name", "started_at", "compliant"] as const;
export type RunningSort = (typeof runningSorts)[number];

/** Keys by which the artifacts of a snapshot can be sorted: `shown` is the order in which the snapshot has them. */
export const shownSorts = ["shown", "name", "started_at", "compliant"] as const;
export type ShownSort = (typeof shownSorts)[number];
