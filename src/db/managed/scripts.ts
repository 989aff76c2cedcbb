import { randomBytes } from "node:crypto";
import { copyFile, chmod, rename } from "node:fs/promises";
import { join } from "node:path";
import { explained } from "./errors.ts";
import type { Layout } from "./layout.ts";

/**
 * Copies a script that PostgreSQL is to run into the data directory, which its user can reach wherever the program is.
 * @returns the path of the copy.
 */
export async function placeScript(layout: Layout, source: string, name: string): Promise<string> {
  const path = join(layout.dataDir, name);
  await explained(`write ${path}`, async () => {
    const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
    await copyFile(source, temporary);
    await chmod(temporary, 0o644);
    await rename(temporary, path);
  });
  return path;
}
