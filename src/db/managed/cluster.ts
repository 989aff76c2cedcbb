import { execFile } from "node:child_process";
import { chmod, lchown, lstat, readFile, readdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { flush } from "../../lib/flush.ts";
import type { Logger } from "../../lib/log.ts";
import { explainSpawnFailure, majorOf } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { codeOf, explained, externalDatabaseHint, ManagedPostgresError, messageOf } from "./errors.ts";
import { spawnOptions } from "./identity.ts";
import type { Identity } from "./identity.ts";
import type { Layout } from "./layout.ts";
import { removeAbandoned, temporaryDirectory } from "./temporary.ts";

const run = promisify(execFile);

/** The superuser and the name of the application's database. */
export const user = "waybill";
export const database = "waybill";

/** Tells our clusters from those of others. */
const marker = "waybill-cluster";

/** What it takes to create a cluster. */
export interface ClusterRequest {
  readonly layout: Layout;
  readonly engine: Engine;
  readonly identity: Identity;
  readonly log: Logger;
  /** False only in tests: skips flushing the new files to disk. */
  readonly durable: boolean;
}

/**
 * Creates the cluster unless it exists. It is made in a temporary directory and renamed, so a kill leaves nothing half-made.
 * @throws ManagedPostgresError for a directory of others, another major version, no permission or no space.
 */
export async function ensureCluster(request: ClusterRequest): Promise<void> {
  const { layout, identity } = request;
  await removeAbandoned(layout.cluster);
  if (!(await exists(request))) await initialise(request);
  await explained(`prepare ${layout.cluster} for PostgreSQL`, () => fixOwnership(layout.cluster, identity));
}

async function exists({ layout, engine }: ClusterRequest): Promise<boolean> {
  const rootVersion = await readVersion(layout.dataDir);
  if (rootVersion !== undefined)
    throw new ManagedPostgresError(
      `${layout.dataDir} is itself the data directory of a PostgreSQL ${rootVersion}, not of Waybill. Choose another data directory.`,
    );

  const files = await listFiles(layout.cluster);
  if (files.length === 0) return false;
  const version = await readVersion(layout.cluster);
  if (version === undefined || !files.includes(marker))
    throw new ManagedPostgresError(
      `${layout.cluster} is not empty and was not made by Waybill, so it is left alone. ` +
        "Choose another data directory, or move that directory away.",
    );

  if (version !== majorOf(engine))
    throw new ManagedPostgresError(
      `The database in ${layout.cluster} was made by PostgreSQL ${version}, but this Waybill brings PostgreSQL ` +
        `${majorOf(engine)}, which cannot read it. Set WAYBILL_OLD_ENGINE to a folder with the programs of PostgreSQL ${version} ` +
        `(such as /usr/lib/postgresql/${version}/bin) and run \`waybill serve\`, which then moves it; or start the Waybill version that made it.`,
    );

  return true;
}

async function listFiles(directory: string): Promise<string[]> {
  return explained(`use ${directory} as directory of the database`, async () => {
    try {
      return await readdir(directory);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  });
}

/** Reads which major version of PostgreSQL made a cluster; undefined when there is none. */
export async function readVersion(directory: string): Promise<string | undefined> {
  const text = await readFile(join(directory, "PG_VERSION"), "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  return text?.trim();
}

async function initialise(request: ClusterRequest): Promise<void> {
  const { layout, identity, log } = request;
  const began = Date.now();
  await explained(`create the database in ${layout.cluster}`, async () => {
    const temporary = await temporaryDirectory(layout.cluster);
    try {
      if (identity.switched) await lchown(temporary.path, identity.uid, identity.gid);
      await initdbWithFallback(request, temporary.path);
      await writeFile(join(temporary.path, marker), "Made by Waybill.\n", { mode: 0o600 });
      await giveMarker(temporary.path, identity);
      await rename(temporary.path, layout.cluster);
      await flush(dirname(layout.cluster));
      log.info({ directory: layout.cluster, ms: Date.now() - began }, "Created the database cluster");
    } catch (error) {
      // Another server that starts at the same time was faster; ownership decides between us.
      if (!["ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
    } finally {
      await temporary.remove();
    }
  });
}

async function initdbWithFallback(request: ClusterRequest, directory: string): Promise<void> {
  try {
    await initdb(request, directory, ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]);
  } catch (error) {
    if (!/locale/i.test(messageOf(error))) throw error;
    request.log.warn({ err: error }, "The built-in UTF-8 locale is not available, using plain C");
    await initdb(request, directory, []);
  }
}

async function initdb(request: ClusterRequest, directory: string, locale: string[]): Promise<void> {
  const program = join(request.engine.native, "bin", "initdb");
  // Trust is enough: only those who may enter the private socket directory can connect at all.
  const fixed = [
    "-D",
    directory,
    "-U",
    user,
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ];
  const sync = request.durable ? [] : ["--no-sync"];
  try {
    await run(program, [...fixed, ...locale, ...sync], spawnOptions(request.identity));
  } catch (error) {
    throw explainInitdb(program, error, request.layout);
  }
}

function explainInitdb(program: string, error: unknown, layout: Layout): ManagedPostgresError {
  // A system error's code is a text; that of a program which ran and failed is its exit status.
  if (codeOf(error) !== undefined) return explainSpawnFailure(program, error);
  const output =
    typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr).trim() : "";
  if (output.includes("No space left on device"))
    return new ManagedPostgresError(
      `Cannot create the database in ${layout.cluster}: no space left on the disk.`,
    );

  if (output.includes("could not look up effective user ID"))
    return new ManagedPostgresError(
      `Cannot create the database: the user with id ${process.getuid?.() ?? "?"} has no entry in /etc/passwd, which ` +
        `PostgreSQL needs. Add one, or run Waybill as another user. ${externalDatabaseHint}`,
    );

  return new ManagedPostgresError(
    `Cannot create the database in ${layout.cluster}: ${output === "" ? messageOf(error) : output}\n${externalDatabaseHint}`,
  );
}

/** Gives the marker to PostgreSQL's user, who has to read every file of the directory for a base backup. */
async function giveMarker(cluster: string, identity: Identity): Promise<void> {
  if (identity.switched) await lchown(join(cluster, marker), identity.uid, identity.gid);
}

/** A restored backup may belong to root, or be readable by others, which PostgreSQL refuses. */
async function fixOwnership(cluster: string, identity: Identity): Promise<void> {
  const entry = await lstat(cluster);
  if (identity.switched && entry.uid !== identity.uid) await chownTree(cluster, identity);
  // Clusters made before that kept it for root.
  else await giveMarker(cluster, identity);
  if ((entry.mode & 0o027) !== 0) await chmod(cluster, 0o700);
}

async function chownTree(path: string, identity: Identity): Promise<void> {
  await lchown(path, identity.uid, identity.gid);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await chownTree(child, identity);
    else await lchown(child, identity.uid, identity.gid);
  }
}
