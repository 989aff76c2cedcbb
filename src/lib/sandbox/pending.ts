import type { Job, JobResult } from "./protocol.ts";

/** The machine gave a job too little to tell anything about it: trying again later may succeed. */
export class SandboxUnavailable extends Error {}

/** An owner has so much waiting that another job is refused, or a job's turn did not come. */
export class SandboxBusy extends SandboxUnavailable {}

interface Promised {
  resolve(result: JobResult): void;
  reject(error: Error): void;
}

/** A job that somebody waits for. */
export interface Pending {
  readonly job: Job;
  /** What it has come to so far; output as latin1. */
  done: JobResult;
  isSecondTry: boolean;
  /** False when it was given up while it waited for its turn. */
  isWaiting(): boolean;
  /** Its turn has come: from now on it is not given up for waiting. */
  taken(): void;
  succeed(result: JobResult): void;
  fail(error: SandboxUnavailable): void;
}

/** @param maxWait milliseconds after which it is given up, unless it was taken. */
export function createPending(job: Job, promised: Promised, maxWait: number): Pending {
  let waiting = true;
  const fail = (error: SandboxUnavailable): void => {
    clearTimeout(timer);
    waiting = false;
    promised.reject(error);
  };
  const timer = setTimeout(() => fail(new SandboxBusy("The turn of an evaluation did not come")), maxWait);
  return {
    job,
    done: { results: [], output: "" },
    isSecondTry: false,
    isWaiting: () => waiting,
    taken: () => clearTimeout(timer),
    succeed: (result) => promised.resolve(result),
    fail,
  };
}
