import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAlive } from "./process-state.ts";

/** A directory being filled, to be renamed to its final name. */
export interface TemporaryDirectory {
  readonly path: string;
  /** Removes it if it is still there. */
  remove(): Promise<void>;
}

const inProgress = new Set<string>();
const oldAge = 3_600_000;

/** Creates a private directory beside `target`; its name holds our process id, so that others see whether it is alive. */
export async function temporaryDirectory(target: string): Promise<TemporaryDirectory> {
  const path = `${target}.new-${process.pid}-${randomBytes(4).toString("hex")}`;
  inProgress.add(path);
  await mkdir(path, { mode: 0o700 });
  await chmod(path, 0o700);
  return {
    path,
    remove: async () => {
      inProgress.delete(path);
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Removes what processes that were killed left half-made beside `target`. */
export async function removeAbandoned(target: string): Promise<void> {
  const directory = dirname(target);
  const prefix = `${basename(target)}.new-`;
  const names = (await readdir(directory)).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const path = join(directory, name);
    const pid = Number(name.slice(prefix.length).split("-", 1)[0]);
    if (await isAbandoned(path, pid)) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function isAbandoned(path: string, pid: number): Promise<boolean> {
  if (pid === process.pid) return !inProgress.has(path);
  if (!(await isAlive(pid))) return true;
  // The process id was recycled: nothing takes this long.
  const entry = await stat(path).catch(() => undefined);
  return entry !== undefined && Date.now() - entry.mtimeMs > oldAge;
}
