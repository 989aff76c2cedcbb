import type { Worker } from "node:worker_threads";

import { type Pending, SandboxUnavailable } from "./pending.ts";
import type { ReadProcessorTime } from "./processor-time.ts";
import type { Limit } from "./protocol.ts";

/** A thread and the job it runs. */
export interface Slot {
  worker: Worker;
  /** The thread's id in the kernel, once it has told. */
  kernelId: string | undefined;
  ready: boolean;
  pending: Pending | undefined;
  /** Number of jobs it was given so far. */
  jobs: number;
  /** Processor time that it had used when its job began, in milliseconds. */
  usedBefore: number;
  timer: NodeJS.Timeout | undefined;
}

/** How a job ended: by itself, at a limit, or without anything to say about it. */
export type Outcome = { limit?: Limit } | SandboxUnavailable;

/** The limits that a running job is watched for. */
export interface Watch {
  /** Milliseconds of processor time. */
  timeLimit: number;
  /** Milliseconds that the job may take in all. */
  patience: number;
  processorTime: ReadProcessorTime;
  /** Called when the job has reached either limit. */
  exceed(slot: Slot, outcome: Outcome): void;
}

/** Shortest pause between two looks, in milliseconds. */
const leastPause = 5;

/** Makes the slot of a thread that is being started for a job. */
export function createSlot(worker: Worker, pending: Pending): Slot {
  return { worker, kernelId: undefined, ready: false, pending, jobs: 0, usedBefore: 0, timer: undefined };
}

/** Answers the caller of the slot's job, if there is one. */
export function settle(slot: Slot, outcome: Outcome): void {
  clearTimeout(slot.timer);
  const { pending } = slot;
  slot.pending = undefined;
  if (pending === undefined) return;
  if (outcome instanceof SandboxUnavailable) return pending.fail(outcome);
  const { results, output } = pending.done;
  pending.succeed({ results, output: Buffer.from(output, "latin1").toString("utf8"), ...outcome });
}

/** Ends the thread. */
export function end(slot: Slot): void {
  clearTimeout(slot.timer);
  void slot.worker.terminate();
}

/**
 * Checks whether the job has reached a limit, and plans the next look for the earliest moment at which it can have: a
 * thread uses no more processor time than passes.
 */
async function look(slot: Slot, watch: Watch, begun: number): Promise<void> {
  const { pending } = slot;
  const now = await watch.processorTime(slot).catch(() => undefined);
  if (pending === undefined || slot.pending !== pending) return;
  const used = now === undefined ? 0 : now - slot.usedBefore;
  const passed = performance.now() - begun;
  if (used >= watch.timeLimit) return watch.exceed(slot, { limit: "time" });
  if (passed >= watch.patience)
    return watch.exceed(
      slot,
      new SandboxUnavailable("An evaluation did not get the processor time it needs"),
    );
  const left = Math.min(now === undefined ? Infinity : watch.timeLimit - used, watch.patience - passed);
  slot.timer = setTimeout(() => void look(slot, watch, begun), Math.max(leastPause, left));
}

/** Gives a thread that is ready its job, and watches over it. */
export async function begin(slot: Slot, watch: Watch): Promise<void> {
  const { pending } = slot;
  if (pending === undefined) return;
  clearTimeout(slot.timer);
  slot.jobs += 1;
  slot.usedBefore = (await watch.processorTime(slot).catch(() => undefined)) ?? 0;
  // Ended meanwhile.
  if (slot.pending !== pending) return;
  // A thread is no window: there is no origin to name.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  slot.worker.postMessage(pending.job);
  void look(slot, watch, performance.now());
}
