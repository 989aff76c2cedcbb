import { EventEmitter } from "node:events";

import type { WorkerEvents, WorkerPool } from "graphile-worker";

/**
 * Has one worker of a pool look every now and then whether the time of a job has come, on behalf of all, who would each ask the database. While it
 * finds some, others look, too: jobs that are due together are worked on side by side. Jobs that are due when they are queued are told of by the database.
 */
export class Looking {
  /** To be given to the pool. */
  readonly events: WorkerEvents = new EventEmitter();
  readonly #timer: NodeJS.Timeout;
  #pool: Pick<WorkerPool, "nudge"> | undefined;
  #isFinding = false;

  constructor(everyMs: number) {
    const { events } = this;
    events.on("pool:create", ({ workerPool }) => {
      this.#pool = workerPool;
    });
    events.on("worker:getJob:empty", () => (this.#isFinding = false));
    events.on("job:start", () => {
      if (this.#isFinding) this.#pool?.nudge(1);
    });
    // Workers that have ended, or are about to, must not be asked.
    for (const end of [
      "pool:gracefulShutdown",
      "pool:forcefulShutdown",
      "pool:fatalError",
      "pool:release",
      "worker:fatalError",
    ] as const)
      events.on(end, () => this.stop());
    this.#timer = setInterval(() => {
      this.#isFinding = true;
      this.#pool?.nudge(1);
    }, everyMs);
  }

  /** Looks no more. */
  stop(): void {
    this.#pool = undefined;
    clearInterval(this.#timer);
  }
}
