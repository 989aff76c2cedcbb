import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

import { isSignallable } from "../../src/db/managed/process-state.ts";

/** Where Linux has a file system in memory. */
const memory = "/dev/shm";
/** Bytes that are several times what a whole run has there at a time. */
const enough = 4 * 1024 ** 3;
const prefix = "waybill-tests-";

/** Says whether files of a run have room in memory, and programs among them can be run. */
function hasRoom(): boolean {
  if (!existsSync("/proc/mounts")) return false;
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const [, , kind, options] = mounts.map((line) => line.split(" ")).find(([, at]) => at === memory) ?? [];
  if (kind !== "tmpfs" || options === undefined || /\b(?:ro|noexec)\b/.test(options)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, freemem()) >= enough;
}

/** Removes what runs left that were killed. */
function removeRemains(): void {
  for (const name of readdirSync(memory))
    if (name.startsWith(prefix) && !isSignallable(Number(name.slice(prefix.length))))
      rmSync(join(memory, name), { recursive: true, force: true });
}

/**
 * Has the temporary files of this process and those it starts in memory, where it has room for them: of what databases write, their own
 * flushing and the disk's journal is a fifth. Where `TMPDIR` says where they are to be, they are there.
 * @returns what removes them.
 */
export function useMemory(): () => void {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return () => {};
  removeRemains();
  const folder = join(memory, `${prefix}${process.pid}`);
  mkdirSync(folder);
  // As the usual one: others than who runs the tests write into it, too.
  chmodSync(folder, 0o1777);
  process.env["WAYBILL_TEST_DISK"] = tmpdir();
  process.env["TMPDIR"] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
    delete process.env["TMPDIR"];
  };
}

/** Finds the folder for temporary files on the disk: for what is large, outlives a run, or is linked to what is there. */
export function folderOnDisk(): string {
  return process.env["WAYBILL_TEST_DISK"] ?? tmpdir();
}
