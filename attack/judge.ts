import type { Memory } from "../bench/processes.ts";
import type { Tally } from "./client.ts";
import type { Seen } from "./probe.ts";
import type { Shape } from "./scene.ts";
import type { Kept } from "./writer.ts";

/** What is promised to other callers during an attack. */
export interface Promised {
  /** Longest time that the event loop is held, in milliseconds of processor time. */
  heldMs: number;
  /** Longest wait of a probe of `/live`, in milliseconds, less what the machine itself makes everybody wait. */
  liveMs: number;
  listMs: number;
  /** Megabytes that may not have been given back after a shape. */
  memoryBack: number;
  /** Factor on the memory limits of single shapes. */
  peakTimes: number;
}

/** The promises that `npm run attack` judges by. */
export const promises: Promised = { heldMs: 250, liveMs: 250, listMs: 250, memoryBack: 100, peakTimes: 1 };

/** The promises for a machine that does many other things meanwhile. */
export const roomyPromises: Promised = {
  heldMs: 250,
  liveMs: 2000,
  listMs: 4000,
  memoryBack: 250,
  peakTimes: 2,
};

/** Everything observed while one shape ran. */
export interface Observed {
  seconds: number;
  seen: Seen;
  /** Longest time that the event loop was held, in milliseconds of processor time; undefined where that is unknown. */
  heldMs: number | undefined;
  tally: Tally;
  before: Memory;
  peak: Memory;
  after: Memory;
  kept: Kept;
  notes: string[];
  wrongs: string[];
  /** Why the shape did not run to its end. */
  error?: string;
}

/** A shape, what was observed, and the promises that it broke. */
export interface Outcome extends Observed {
  name: string;
  what: string;
  broken: string[];
}

function mb(value: number): string {
  return `${Math.round(value)} MB`;
}

function memoryBroken(
  { before, after, peak }: Observed,
  { peakLimit = Number.POSITIVE_INFINITY }: Shape,
  { memoryBack, peakTimes }: Promised,
): string[] {
  const broken: string[] = [];
  for (const part of ["node", "postgres"] as const) {
    const missing = (after[part] ?? 0) - (before[part] ?? 0);
    if (missing > memoryBack) broken.push(`${part} keeps ${mb(missing)}`);
  }
  const more = (peak.node ?? 0) - (before.node ?? 0);
  if (more > peakLimit * peakTimes) broken.push(`Node took ${mb(more)} more, not ${mb(peakLimit)}`);
  return broken;
}

/** Lists the promises that a shape broke, in words. */
export function judge(shape: Shape, observed: Observed, promised: Promised): string[] {
  const { seen, heldMs, tally, kept, wrongs, error } = observed;
  const { waitLimit = 0 } = shape;
  return [
    ...(error === undefined ? [] : [`did not end: ${error.split("\n", 1)[0]!}`]),
    ...((heldMs ?? 0) > promised.heldMs ? [`the event loop was held for ${Math.round(heldMs ?? 0)} ms`] : []),
    ...(seen.own.live > Math.max(promised.liveMs, waitLimit)
      ? [`/live took ${Math.round(seen.own.live)} ms`]
      : []),
    ...(seen.own.list > Math.max(promised.listMs, waitLimit)
      ? [`others waited ${Math.round(seen.own.list)} ms`]
      : []),
    ...(seen.refused > 0 ? [`${seen.refused} probes got 503`] : []),
    ...seen.failures.slice(0, 1).map((failure) => `${seen.failures.length} probes failed (${failure})`),
    ...tally.faults.slice(0, 2),
    ...memoryBroken(observed, shape, promised),
    ...(kept.lost.length > 0 ? [`${kept.lost.length} writes lost`] : []),
    ...(kept.changed.length > 0 ? [`${kept.changed.length} writes changed`] : []),
    ...new Set(wrongs),
  ];
}
