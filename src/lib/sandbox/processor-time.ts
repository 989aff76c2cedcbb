import { readFileSync, readlinkSync } from "node:fs";
import type { Worker } from "node:worker_threads";

/** What identifies a thread whose processor time is asked for. */
export interface ClockedThread {
  worker: Worker;
  /** Its thread id in the kernel, where there is one. */
  kernelId: string | undefined;
}

/**
 * A reader of the processor time that one thread has used since it began, in milliseconds; undefined where the system
 * does not tell.
 */
export type ReadProcessorTime = (thread: ClockedThread) => Promise<number | undefined>;

/** Ticks of `stat` are hundredths of a second on every Linux that Node runs on. */
const tickMs = 10;

/** Reads the calling thread's id in the kernel; undefined where there is none. */
export function ownKernelId(): string | undefined {
  try {
    return /^\d+\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1];
  } catch {
    return undefined;
  }
}

function readTask(kernelId: string, file: string): string | undefined {
  try {
    return readFileSync(`/proc/self/task/${kernelId}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

function kernelTime(kernelId: string): number | undefined {
  const nanoseconds = readTask(kernelId, "schedstat")?.split(" ", 1)[0];
  if (nanoseconds !== undefined) return Number(nanoseconds) / 1e6;
  // What comes before the last parenthesis is the thread's name, which may hold anything.
  const fields = readTask(kernelId, "stat")
    ?.replace(/^.*\) /s, "")
    .split(" ");
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** A thread of newer versions of Node, which tells its own processor time in microseconds. */
interface SelfTellingWorker {
  cpuUsage?: () => Promise<{ user: number; system: number }>;
}

/** Reads it from the kernel where that has a file for each thread (Linux), and from Node elsewhere. */
export const readProcessorTime: ReadProcessorTime = async ({ worker, kernelId }) => {
  if (kernelId !== undefined) return kernelTime(kernelId);
  const usage = await (worker as SelfTellingWorker).cpuUsage?.().catch(() => undefined);
  return usage && (usage.user + usage.system) / 1000;
};
