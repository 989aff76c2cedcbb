import {
  chmod,
  constants,
  copyFile,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../lib/log.ts";
import { isUsable, linksOf, locateEngine, repair } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { codeOf, explained, ManagedPostgresError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import type { Layout } from "./layout.ts";
import { removeAbandoned, temporaryDirectory } from "./temporary.ts";

/** Who needs the engine, and where. */
export interface EngineRequest {
  readonly layout: Layout;
  readonly identity: Identity;
  readonly log: Logger;
  /** The engine to use instead of the installed one. */
  readonly source?: Engine | undefined;
}

/** Gives the installed engine when PostgreSQL's user can run it (repaired if need be), else a copy in the data directory. */
export async function prepareEngine(request: EngineRequest): Promise<Engine> {
  const source = request.source ?? (await locateEngine());
  if (await isUsable(source.native, request.identity)) return source;
  await repair(source.native);
  if (await isUsable(source.native, request.identity)) return source;
  const native = join(request.layout.dataDir, `engine-${source.version}`);
  if (!(await isCompleteCopy(source.native, native, request.identity))) {
    request.log.info({ from: source.native, to: native }, "Copying the PostgreSQL engine beside the data");
    await explained(`copy the PostgreSQL engine to ${native}`, () => copyInPlace(source.native, native));
  }
  if (await isUsable(native, request.identity)) return { native, version: source.version };
  throw new ManagedPostgresError(
    `The copy of the PostgreSQL engine in ${native} cannot be executed by user ${request.identity.name}. ` +
      "Is the data directory on a file system that is mounted with noexec?",
  );
}

/** Removes copies of other versions. To be called when no PostgreSQL runs from them any more. */
export async function removeStaleEngines(layout: Layout, engine: Engine): Promise<void> {
  const current = `engine-${engine.version}`;
  const stale = (await readdir(layout.dataDir)).filter(
    (name) => /^engine-\d[\w.-]*$/.test(name) && !name.startsWith(current),
  );
  await Promise.all(stale.map((name) => rm(join(layout.dataDir, name), { recursive: true, force: true })));
}

/** A power failure may leave files of a fresh copy empty, so sizes are compared, which is cheap. */
async function isCompleteCopy(source: string, copy: string, identity: Identity): Promise<boolean> {
  if (!(await isUsable(copy, identity))) return false;
  return sameSizes(source, copy);
}

async function sameSizes(source: string, copy: string): Promise<boolean> {
  const entries = (await readdir(source, { withFileTypes: true })).filter((entry) => isNeeded(entry.name));
  const same = await Promise.all(
    entries.map(async (entry) => {
      const [from, to] = [join(source, entry.name), join(copy, entry.name)];
      if (entry.isDirectory()) return sameSizes(from, to);
      const [a, b] = await Promise.all([stat(from), stat(to).catch(() => undefined)]);
      return a.size === b?.size;
    }),
  );
  return same.every(Boolean);
}

/** Static libraries are for compiling only. */
function isNeeded(name: string): boolean {
  return !name.endsWith(".a");
}

async function copyInPlace(source: string, target: string): Promise<void> {
  await removeAbandoned(target);
  const temporary = await temporaryDirectory(target);
  try {
    await copyTree(source, temporary.path);
    const links = await linksOf(source);
    await Promise.all(links.map((link) => linkUnlessThere(link.to, join(temporary.path, link.path))));
    await chmod(join(temporary.path, "bin/initdb"), 0o755);
    await chmod(join(temporary.path, "bin/postgres"), 0o755);
    await chmod(temporary.path, 0o755);
    // What is there is incomplete: a complete copy would have been used.
    await rm(target, { recursive: true, force: true });
    await rename(temporary.path, target);
  } catch (error) {
    // Another server that starts at the same time may have been faster; the caller checks its copy.
    if (!["ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
  } finally {
    await temporary.remove();
  }
}

async function copyTree(source: string, target: string): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    if (!isNeeded(entry.name)) continue;
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      await mkdir(to);
      await chmod(to, 0o755);
      await copyTree(from, to);
    } else if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else {
      await copyFile(from, to, constants.COPYFILE_FICLONE);
      await chmod(to, ((await stat(from)).mode & 0o111) === 0 ? 0o644 : 0o755);
    }
  }
}

async function linkUnlessThere(to: string, path: string): Promise<void> {
  await symlink(to, path).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
}
