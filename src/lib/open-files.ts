import { readFileSync } from "node:fs";

/**
 * Reads how many files and connections this process may have open at once; undefined where the system does not tell.
 */
export function openFilesLimit(): number | undefined {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
