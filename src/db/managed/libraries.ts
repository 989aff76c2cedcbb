import { randomBytes } from "node:crypto";
import { access, chmod, constants, copyFile, mkdir, rename, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { flush } from "../../lib/flush.ts";
import { majorOf } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { explained } from "./errors.ts";
import type { Layout } from "./layout.ts";

/** What each connection loads when it first needs it, however long PostgreSQL has been running: triggers and indexes are made with them. */
const libraries = ["plpgsql.so", "pg_trgm.so"];

/** The first PostgreSQL that looks for them elsewhere than beside its programs when it is told to. */
const firstMajor = 18;

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

async function place(source: string, target: string): Promise<void> {
  if ((await sizeOf(target)) === (await sizeOf(source))) return;
  const temporary = `${target}.${process.pid}-${randomBytes(4).toString("hex")}`;
  await copyFile(source, temporary, constants.COPYFILE_FICLONE);
  await chmod(temporary, 0o755);
  await flush(temporary);
  await rename(temporary, target);
}

/**
 * Copies into the data directory what PostgreSQL loads late, so that it has it when the package's files are replaced or removed.
 * @returns the settings by which it is found there; none where PostgreSQL cannot be told, or could not load it.
 */
export async function holdLibraries(layout: Layout, engine: Engine): Promise<Record<string, string>> {
  const isBesideData = engine.native.startsWith(layout.dataDir + sep);
  if (process.platform !== "linux" || isBesideData || Number(majorOf(engine)) < firstMajor) return {};
  // With the engine's copies of other versions it is removed when no PostgreSQL uses it any more.
  const folder = join(layout.dataDir, `engine-${engine.version}-libraries`);
  if (folder.includes(":")) return {};
  const paths = libraries.map((name) => join(folder, name));
  await explained(`copy PostgreSQL's libraries to ${folder}`, async () => {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    for (const name of libraries)
      await place(join(engine.native, "lib/postgresql", name), join(folder, name));
  });
  try {
    // Refused on a file system that is mounted with noexec, from where nothing can be loaded.
    for (const path of paths) await access(path, constants.X_OK);
  } catch {
    return {};
  }
  return { dynamic_library_path: `${folder}:$libdir` };
}
