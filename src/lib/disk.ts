import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Reads what is free on the disk of a folder, and what the disk has, in bytes. A folder that is still to be made is where the one above
 * it is.
 */
export async function readDisk(folder: string): Promise<{ free: number; size: number }> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (!isMissing || dirname(folder) === folder) throw error;
    return readDisk(dirname(folder));
  }
}
