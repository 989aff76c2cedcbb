import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Adds up the bytes that the files of a folder take on the disk. What vanishes meanwhile does not count. */
export async function folderSize(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) bytes += await folderSize(child);
    // Blocks of 512 bytes, whatever the file system's are.
    else bytes += ((await lstat(child).catch(() => undefined))?.blocks ?? 0) * 512;
  }
  return bytes;
}
