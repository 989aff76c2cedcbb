import type { Memory } from "../bench/processes.ts";
import type { Tally } from "./client.ts";
import type { Seen } from "./probe.ts";
import type { Shape } from "./scene.ts";
import type { Kept } from "./writer.ts";

/** What is promised to other callers while somebody attacks. */
export interface Promised {
  /** Milliseconds of processor time for which the event loop may be held. */
  heldMs: number;
  /** Milliseconds that a probe may wait beyond what this machine makes everybody wait, by what it asks for. */
  liveMs: number;
  listMs: number;
  /** Megabytes that may be missing after a shape. */
  memoryBack: number;
  /** What the limits of memory of single shapes are multiplied by. */
  peakTimes: number;
}

/** What `npm run attack` holds a server to. */
export const promises: Promised = { heldMs: 250, liveMs: 250, listMs: 250, memoryBack: 100, peakTimes: 1 };

/** The same with room for a machine that does many other things meanwhile. */
export const roomyPromises: Promised = {
  heldMs: 250,
  liveMs: 2000,
  listMs: 4000,
  memoryBack: 250,
  peakTimes: 2,
};

/** Everything seen of one shape. */
export interface Observed {
  seconds: number;
  seen: Seen;
  /** The longest time of the processor that the event loop was held for, in milliseconds; undefined: not told. */
  heldMs: number | undefined;
  tally: Tally;
  before: Memory;
  peak: Memory;
  after: Memory;
  kept: Kept;
  notes: string[];
  wrongs: string[];
  /** Why the shape could not be run to its end. */
  error?: string;
}

/** One shape, what was seen, and what of it was promised otherwise. */
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

/** Which promises a shape broke, in words; none when it broke none. */
export function judge(shape: Shape, observed: Observed, promised: Promised): string[] {
  const { seen, heldMs, tally, kept, wrongs, error } = observed;
  return [
    ...(error === undefined ? [] : [`did not end: ${error.split("\n", 1)[0]!}`]),
    ...((heldMs ?? 0) > promised.heldMs ? [`the event loop was held for ${Math.round(heldMs ?? 0)} ms`] : []),
    ...(seen.own.live > promised.liveMs ? [`/live took ${Math.round(seen.own.live)} ms`] : []),
    ...(seen.own.list > promised.listMs ? [`others waited ${Math.round(seen.own.list)} ms`] : []),
    ...(seen.refused > 0 ? [`${seen.refused} probes got 503`] : []),
    ...seen.failures.slice(0, 1).map((failure) => `${seen.failures.length} probes failed (${failure})`),
    ...tally.faults.slice(0, 2),
    ...memoryBroken(observed, shape, promised),
    ...(kept.lost.length > 0 ? [`${kept.lost.length} writes lost`] : []),
    ...(kept.changed.length > 0 ? [`${kept.changed.length} writes changed`] : []),
    ...new Set(wrongs),
  ];
}
