import { readFileSync } from "node:fs";

const path = `/proc/self/task/${process.pid}/schedstat`;

/**
 * Tells how much of the processor the first thread of this process has used so far, in milliseconds. Where the system does not say
 * (proc(5) is Linux's), that of all its threads.
 */
export function usedByFirstThread() {
  if (process.platform === "linux") return Number(readFileSync(path, "latin1").split(" ", 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
