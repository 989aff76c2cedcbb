import type { Worker } from "node:worker_threads";

import { createFairQueue } from "./fair-queue.ts";
import type { Job, JobResult, Limit, Message } from "./protocol.ts";
import { startWorkerThread } from "./worker-thread.ts";

export type { Job, JobResult, Limit, Problem, Step, StepResult } from "./protocol.ts";

/** An owner has so many jobs waiting that another one is refused. */
export class SandboxBusy extends Error {}

/**
 * Runs untrusted programs and schemas in threads of their own: without environment, files and network, limited in
 * time, memory and output. What runs into a limit costs its own job and nothing else.
 */
export interface Sandbox {
  /** How long a job may take, in milliseconds. */
  readonly timeLimit: number;
  /**
   * @param owner on whose behalf; owners are served in turn.
   * @throws SandboxBusy when the owner has too much waiting.
   */
  run(owner: string, job: Job): Promise<JobResult>;
  /** Threads that exist at the moment. */
  threads(): number;
  /** Ends all threads; jobs under way end as if crashed. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** Threads at most; they start when they are needed. */
  threads?: number;
  /** Milliseconds a job may take. */
  timeLimit?: number;
  /** Milliseconds without a job after which a thread is ended. */
  idleTime?: number;
  /** Jobs that one owner may have waiting. */
  maxWaiting?: number;
}

/** Milliseconds a thread may take to start: long only where the machine is overloaded. */
const startLimit = 60_000;

interface Pending {
  job: Job;
  done: JobResult;
  resolve(result: JobResult): void;
  reject(error: Error): void;
}

/** One thread and what it is at. */
interface Slot {
  worker: Worker;
  ready: boolean;
  pending: Pending | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Why it ended by itself. */
  error: unknown;
}

function settle(slot: Slot, limit?: Limit): void {
  clearTimeout(slot.timer);
  const { pending } = slot;
  slot.pending = undefined;
  if (pending === undefined) return;
  if (!slot.ready) return pending.reject(new Error("The sandbox did not start", { cause: slot.error }));
  const { results, output } = pending.done;
  const decoded = Buffer.from(output, "latin1").toString("utf8");
  pending.resolve({ results, output: decoded, ...(limit === undefined ? {} : { limit }) });
}

function limitOf(error: unknown): Limit {
  return (error as { code?: string }).code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash";
}

/** A sandbox without any thread yet. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { threads = 2, timeLimit = 5_000, idleTime = 30_000, maxWaiting = 200 } = options;
  const queue = createFairQueue<Pending>(maxWaiting);
  const slots = new Set<Slot>();
  const idle: Slot[] = [];

  function end(slot: Slot, limit: Limit): void {
    settle(slot, limit);
    if (idle.includes(slot)) idle.splice(idle.indexOf(slot), 1);
    // The slot is free for another thread when this one is gone.
    void slot.worker.terminate();
  }

  function begin(slot: Slot): void {
    if (slot.pending === undefined) return;
    clearTimeout(slot.timer);
    slot.timer = setTimeout(end, timeLimit, slot, "time");
    // A thread is no window: there is no origin to name.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    slot.worker.postMessage(slot.pending.job);
  }

  function finish(slot: Slot, limit?: Limit): void {
    settle(slot, limit);
    idle.push(slot);
    slot.timer = setTimeout(end, idleTime, slot, "crash").unref();
    pump();
  }

  function receive(slot: Slot, message: Message): void {
    if (message.kind === "ready") {
      slot.ready = true;
      // Only now: starting up takes hold of the process again. Jobs hold it by their timers.
      slot.worker.unref();
      begin(slot);
    } else if (message.kind === "output") {
      if (slot.pending !== undefined) slot.pending.done.output += message.text;
    } else if (message.kind === "result") slot.pending?.done.results.push(message.result);
    // A job that was cut short has been settled, and its thread is about to end.
    else if (slot.pending !== undefined) finish(slot, message.limit);
  }

  function startSlot(pending: Pending): void {
    const worker = startWorkerThread();
    const slot: Slot = { worker, ready: false, pending, timer: undefined, error: undefined };
    slot.timer = setTimeout(end, startLimit, slot, "crash");
    slots.add(slot);
    worker.on("message", (message: Message) => receive(slot, message));
    worker.on("error", (error) => {
      slot.error = error;
      end(slot, limitOf(error));
    });
    worker.on("exit", () => {
      end(slot, "crash");
      slots.delete(slot);
      pump();
    });
  }

  function pump(): void {
    while (idle.length > 0 || slots.size < threads) {
      const pending = queue.shift();
      if (pending === undefined) return;
      const slot = idle.pop();
      if (slot === undefined) startSlot(pending);
      else {
        slot.pending = pending;
        begin(slot);
      }
    }
  }

  return {
    timeLimit,
    run: (owner, job) =>
      new Promise((resolve, reject) => {
        const pending = { job, done: { results: [], output: "" }, resolve, reject };
        if (!queue.push(owner, pending)) reject(new SandboxBusy("Too many evaluations are waiting"));
        pump();
      }),
    threads: () => slots.size,
    close: async () => {
      for (let pending = queue.shift(); pending !== undefined; pending = queue.shift())
        pending.reject(new Error("The sandbox was closed"));
      await Promise.all([...slots].map((slot) => slot.worker.terminate()));
    },
  };
}
