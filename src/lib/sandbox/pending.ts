import type { Job, JobResult } from "./protocol.ts";

/** A failure that says nothing about the job: the machine gave it too little. It may succeed later. */
export class SandboxUnavailable extends Error {}

/** The refusal of a job: its owner has too much waiting, or its turn did not come. */
export class SandboxBusy extends SandboxUnavailable {}

interface Promised {
  resolve(result: JobResult): void;
  reject(error: Error): void;
}

/** A job whose result a caller waits for. */
export interface Pending {
  readonly job: Job;
  /** Its result so far; output as latin1. */
  done: JobResult;
  isSecondTry: boolean;
  /** Says whether the caller still waits: false once the job was given up in the queue. */
  isWaiting(): boolean;
  /** Notes that its turn has come: from now on it is not given up for waiting. */
  taken(): void;
  succeed(result: JobResult): void;
  fail(error: SandboxUnavailable): void;
}

/** Makes a pending job. @param maxWait milliseconds after which it is given up, unless it was taken. */
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
