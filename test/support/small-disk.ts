import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, with little room. */
export interface SmallDisk {
  path: string;
  /** Takes all the room there is, but for so many bytes. */
  fill(leave?: number): void;
  /** Gives it back. */
  clear(): void;
  remove(): void;
}

/** Mounts a file system in memory; undefined where this user may not. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), "waybill-disk-"));
  const options = `size=${megabytes}m,mode=0755`;
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
  if (mounted.status !== 0) {
    rmSync(path, { recursive: true, force: true });
    return undefined;
  }
  chmodSync(path, 0o755);
  const filler = join(path, "filler");
  return {
    path,
    fill: (leave = 0) => {
      const { bavail, bsize } = statfsSync(path);
      const bytes = Math.max(0, bavail * bsize - leave);
      // Written, not only reserved; the last of it may not fit.
      try {
        writeFileSync(filler, Buffer.alloc(bytes, 1));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    },
    clear: () => rmSync(filler, { force: true }),
    remove: () => {
      spawnSync("umount", ["-l", path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
