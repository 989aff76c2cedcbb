import { readFileSync, readlinkSync } from "node:fs";
import type { Worker } from "node:worker_threads";

/** A thread as its processor time is asked for. */
export interface ClockedThread {
  worker: Worker;
  /** The number that the kernel has given it, where it tells. */
  kernelId: string | undefined;
}

/**
 * Tells how much processor time a thread has used since it began, in milliseconds. Undefined where nothing tells: it is
 * neither the time that passed nor what the whole process used.
 */
export type ReadProcessorTime = (thread: ClockedThread) => Promise<number | undefined>;

/** Ticks of `stat` are hundredths of a second on every Linux that Node runs on. */
const tickMs = 10;

/** The calling thread's own number in the kernel; undefined where there is no such thing. To be asked inside of it. */
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

/** Microseconds, as newer versions of Node tell them about a thread; the version we build for does not. */
interface SelfTellingWorker {
  cpuUsage?: () => Promise<{ user: number; system: number }>;
}

/** Asks the kernel, where it keeps a file for each thread (Linux), and Node itself elsewhere. */
export const readProcessorTime: ReadProcessorTime = async ({ worker, kernelId }) => {
  if (kernelId !== undefined) return kernelTime(kernelId);
  const usage = await (worker as SelfTellingWorker).cpuUsage?.().catch(() => undefined);
  return usage && (usage.user + usage.system) / 1000;
};
