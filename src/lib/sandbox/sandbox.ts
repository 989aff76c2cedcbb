import type { Worker } from "node:worker_threads";

import { present } from "../present.ts";
import { createFairQueue } from "./fair-queue.ts";
import { type ReadProcessorTime, readProcessorTime } from "./processor-time.ts";
import type { Job, JobResult, Limit, Message, Shortage } from "./protocol.ts";
import { begin, createSlot, end, type Outcome, settle, type Slot, type Watch } from "./slot.ts";
import { createPending, type Pending, SandboxBusy, SandboxUnavailable } from "./pending.ts";
import { startWorkerThread } from "./worker-thread.ts";

export type { Job, JobResult, Limit, Problem, Step, StepResult } from "./protocol.ts";
export { SandboxBusy, SandboxUnavailable } from "./pending.ts";

/**
 * A pool of threads for untrusted programs and schemas: without environment, files and network, limited in processor
 * time, memory and output. A job that runs into a limit harms no other.
 */
export interface Sandbox {
  /** Processor time that a job may use, in milliseconds, however long that takes on a busy machine. */
  readonly timeLimit: number;
  /**
   * Runs a job when its turn comes.
   * @param owner on whose behalf; owners are served in turn.
   * @throws SandboxBusy when the owner has too much waiting or its turn does not come, SandboxUnavailable when the
   * machine gave the job too little: nothing is known about the job then, and it may be tried again.
   */
  run(owner: string, job: Job): Promise<JobResult>;
  /** Counts the threads that exist at the moment. */
  threads(): number;
  /** Ends all threads. Jobs that wait or are under way fail as unavailable. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** Threads at most; they start when they are needed. */
  threads?: number;
  /** Milliseconds of its thread's processor time that a job may use. */
  timeLimit?: number;
  /** Milliseconds that a job may take in all, before the machine counts as too busy. */
  patience?: number;
  /** Milliseconds that a job may wait for its turn. */
  maxWait?: number;
  /** Milliseconds without a job after which a thread is ended. */
  idleTime?: number;
  /** Jobs that one owner may have waiting. */
  maxWaiting?: number;
  /** How a thread's processor time is read. */
  processorTime?: ReadProcessorTime;
  /** Starts a thread. */
  startThread?: () => Worker;
}

/** Milliseconds a thread may take to start: long only where the machine is overloaded. */
const startLimit = 60_000;

/** Limits that what earlier jobs left in a thread's memory can bring nearer. */
const affectedByOthers: ReadonlySet<Limit | Shortage> = new Set<Limit>(["memory", "crash"]);

function limitOf(error: unknown): Limit {
  return (error as { code?: string }).code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash";
}

class Threads implements Sandbox {
  readonly timeLimit: number;
  readonly #options: Required<Omit<SandboxOptions, "timeLimit" | "patience" | "processorTime">>;
  readonly #watch: Watch;
  readonly #queue;
  /** Jobs to try once more, in a thread that has done nothing before. */
  readonly #again: Pending[] = [];
  readonly #slots = new Set<Slot>();
  readonly #idle: Slot[] = [];
  #closed = false;

  constructor(options: SandboxOptions) {
    const { timeLimit = 5_000, patience = 60_000, processorTime = readProcessorTime } = options;
    const { threads = 2, idleTime = 30_000, maxWaiting = 200, maxWait = 30_000 } = options;
    const { startThread = startWorkerThread } = options;
    this.timeLimit = timeLimit;
    this.#options = { threads, idleTime, maxWaiting, maxWait, startThread };
    this.#watch = {
      timeLimit,
      patience,
      processorTime,
      exceed: (slot, outcome) => this.#end(slot, outcome),
    };
    this.#queue = createFairQueue<Pending>(maxWaiting);
  }

  run(owner: string, job: Job): Promise<JobResult> {
    return new Promise((resolve, reject) => {
      const pending = createPending(job, { resolve, reject }, this.#options.maxWait);
      if (this.#closed) pending.fail(new SandboxUnavailable("The sandbox was closed"));
      else if (!this.#queue.push(owner, pending))
        pending.fail(new SandboxBusy("Too many evaluations are waiting"));
      this.#pump();
    });
  }

  threads(): number {
    return this.#slots.size;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closed = new SandboxUnavailable("The sandbox was closed");
    for (let pending = this.#next(); pending !== undefined; pending = this.#next()) pending.fail(closed);
    for (const slot of this.#slots) settle(slot, closed);
    await Promise.all([...this.#slots].map((slot) => slot.worker.terminate()));
  }

  /** Takes the next job that a caller still waits for. */
  #next(): Pending | undefined {
    for (;;) {
      const pending = this.#again.shift() ?? this.#queue.shift();
      if (pending !== undefined && !pending.isWaiting()) continue;
      pending?.taken();
      return pending;
    }
  }

  #pump(): void {
    while (this.#idle.length > 0 || this.#slots.size < this.#options.threads) {
      const pending = this.#next();
      if (pending === undefined) return;
      const slot = pending.isSecondTry ? undefined : this.#idle.pop();
      if (slot !== undefined) this.#assign(slot, pending);
      else if (this.#slots.size < this.#options.threads) this.#start(pending);
      else {
        // Its end makes room for the thread that is wanted.
        this.#again.unshift(pending);
        return this.#retire(present(this.#idle.pop(), "one is idle where none may be started"));
      }
    }
  }

  #assign(slot: Slot, pending: Pending): void {
    slot.pending = pending;
    void begin(slot, this.#watch);
  }

  #start(pending: Pending): void {
    let slot: Slot;
    try {
      slot = createSlot(this.#options.startThread(), pending);
    } catch (error) {
      // The machine has no room for another thread.
      return pending.fail(new SandboxUnavailable("A thread could not be started", { cause: error }));
    }
    this.#slots.add(slot);
    slot.timer = setTimeout(
      () => this.#end(slot, new SandboxUnavailable("A thread took too long to start")),
      startLimit,
    );
    slot.worker.on("message", (message: Message) => this.#receive(slot, message));
    slot.worker.on("error", (error) => this.#fail(slot, error));
    slot.worker.on("exit", () => {
      this.#end(slot, new SandboxUnavailable("A thread ended by itself"));
      this.#slots.delete(slot);
      this.#pump();
    });
  }

  #fail(slot: Slot, error: Error): void {
    if (!slot.ready)
      return this.#end(slot, new SandboxUnavailable("A thread could not be started", { cause: error }));
    if (!this.#tryAgain(slot, limitOf(error))) this.#end(slot, { limit: limitOf(error) });
  }

  #receive(slot: Slot, message: Message): void {
    if (message.kind === "ready") {
      slot.ready = true;
      slot.kernelId = message.kernelId;
      // Only now: starting up takes hold of the process again. Jobs hold it by their timers.
      slot.worker.unref();
      void begin(slot, this.#watch);
    } else if (message.kind === "output") {
      if (slot.pending !== undefined) slot.pending.done.output += message.text;
    } else if (message.kind === "result") slot.pending?.done.results.push(message.result);
    // A job that was cut short has been settled, and its thread is about to end.
    else if (slot.pending !== undefined) void this.#finish(slot, message.limit);
  }

  async #finish(slot: Slot, limit: Limit | Shortage | undefined): Promise<void> {
    const { pending } = slot;
    const used = await this.#watch.processorTime(slot).catch(() => undefined);
    // Ended meanwhile.
    if (pending === undefined || slot.pending !== pending) return;
    if (limit === "shortage")
      return this.#end(slot, new SandboxUnavailable("There was no memory for an evaluation"));
    if (limit !== undefined && this.#tryAgain(slot, limit)) return;
    if (limit === undefined && used !== undefined && used - slot.usedBefore >= this.timeLimit) {
      // Done before anybody looked; had this process had less to do, it would have been cut short.
      Object.assign(pending.done, { results: [], output: "" });
      settle(slot, { limit: "time" });
    } else settle(slot, limit === undefined ? {} : { limit });
    this.#idle.push(slot);
    slot.timer = setTimeout(() => this.#retire(slot), this.#options.idleTime).unref();
    this.#pump();
  }

  /**
   * Queues a job for a fresh thread, if this one ran others before: what they left must not decide about a job.
   * @returns whether it is tried again.
   */
  #tryAgain(slot: Slot, limit: Limit): boolean {
    const { pending } = slot;
    if (pending === undefined || slot.jobs < 2 || !affectedByOthers.has(limit)) return false;
    slot.pending = undefined;
    pending.done = { results: [], output: "" };
    pending.isSecondTry = true;
    this.#again.push(pending);
    this.#retire(slot);
    return true;
  }

  #end(slot: Slot, outcome: Outcome): void {
    settle(slot, outcome);
    this.#retire(slot);
  }

  /** Ends a thread without a job. Its place is free for another one when it is gone. */
  #retire(slot: Slot): void {
    if (this.#idle.includes(slot)) this.#idle.splice(this.#idle.indexOf(slot), 1);
    end(slot);
  }
}

/** Creates a sandbox. Its threads start when they are needed. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new Threads(options);
}
