import { execFile } from "node:child_process";
import type { Stats } from "node:fs";
import { access, constants, lstat, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { codeOf, ManagedPostgresError } from "./errors.ts";

const run = promisify(execFile);

/** The user PostgreSQL runs as. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  /** Login name, or the number when the user has no passwd entry. */
  readonly name: string;
  /** True when we are root and give up privileges for PostgreSQL, which refuses to run as root. */
  readonly switched: boolean;
}

/**
 * Decides who runs PostgreSQL. An ordinary user runs it as itself. Root runs it as the owner of an existing cluster, else as
 * `postgres`, else as `nobody`: initdb insists on a user with a passwd entry.
 * @throws ManagedPostgresError when root finds no such user, or an ordinary user finds somebody else's cluster.
 */
export async function chooseIdentity(dataDir: string): Promise<Identity> {
  const uid = process.getuid?.() ?? -1;
  const cluster = join(dataDir, "postgres");
  const owner = await ownerOf(cluster);
  const users = await readPasswd();
  if (uid !== 0) {
    const name = users.find((user) => user.uid === uid)?.name ?? String(uid);
    if (owner !== undefined && owner.uid !== uid) throw foreignOwner(cluster, owner.uid, name);
    return { uid, gid: process.getgid?.() ?? -1, name, switched: false };
  }
  if (owner !== undefined && owner.uid !== 0) {
    const name = users.find((user) => user.uid === owner.uid)?.name ?? String(owner.uid);
    return { uid: owner.uid, gid: owner.gid, name, switched: true };
  }
  const found = ["postgres", "nobody"]
    .map((name) => users.find((user) => user.name === name && user.uid !== 0))
    .find((user) => user !== undefined);
  if (found === undefined) throw noUnprivilegedUser();
  return { ...found, switched: true };
}

function foreignOwner(cluster: string, owner: number, name: string): ManagedPostgresError {
  return new ManagedPostgresError(
    `The database in ${cluster} belongs to the user with id ${owner}, but Waybill runs as ${name}. ` +
      "Start it as the user that created the data directory, or as root.",
  );
}

function noUnprivilegedUser(): ManagedPostgresError {
  return new ManagedPostgresError(
    "PostgreSQL refuses to run as root, and /etc/passwd has neither a user postgres nor a user nobody to run it as. " +
      "Start Waybill as an ordinary user, or add one of these users.",
  );
}

async function ownerOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return undefined;
    throw error;
  }
}

async function readPasswd(): Promise<Pick<Identity, "uid" | "gid" | "name">[]> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (name === undefined || !/^\d+$/.test(uid ?? "") || !/^\d+$/.test(gid ?? "")) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

/**
 * For glibc's malloc, which by default gives memory back to the system after each statement that makes a text of some
 * 50 kB, only to fault it in again for the next one: half the time of such a statement. Others ignore it. Bytes.
 */
const allocator = {
  MALLOC_TOP_PAD_: String(2 ** 21),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 23),
  MALLOC_MMAP_THRESHOLD_: String(2 ** 22),
};

/** Gives the `spawn` options that make a child run as this identity, in a neutral directory and environment. */
export function spawnOptions(identity: Identity): {
  uid?: number;
  gid?: number;
  cwd: string;
  env: NodeJS.ProcessEnv;
} {
  // Our own environment may hold secrets, and PG* variables would change what the programs do.
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC", ...allocator };
  const base = { cwd: "/", env };
  return identity.switched ? { ...base, uid: identity.uid, gid: identity.gid } : base;
}

/** True when the identity has all of these permissions (4 read, 2 write, 1 execute) on a file, by its mode bits. */
function modeAllows(entry: Stats, identity: Identity, bits: number): boolean {
  const shift = entry.uid === identity.uid ? 6 : entry.gid === identity.gid ? 3 : 0;
  return ((entry.mode >> shift) & bits) === bits;
}

/** Says whether the identity may read (and with `execute`, run or enter) a path whose parents it can traverse. */
export async function mayUse(path: string, identity: Identity, execute: boolean): Promise<boolean> {
  try {
    if (identity.switched) return modeAllows(await stat(path), identity, execute ? 5 : 4);
    await access(path, execute ? constants.R_OK | constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Finds the topmost directory on the way to and including `path` that the identity cannot pass, if any. */
export async function findBarrier(path: string, identity: Identity): Promise<string | undefined> {
  if (!identity.switched) return undefined;
  const parent = dirname(path);
  const above = parent === path ? undefined : await findBarrier(parent, identity);
  if (above !== undefined) return above;
  if (modeAllows(await stat(path), identity, 1)) return undefined;
  return (await canEnter(path, identity)) ? undefined : path;
}

/** Asks the kernel: access control lists may allow what the mode bits do not show. */
async function canEnter(path: string, identity: Identity): Promise<boolean> {
  try {
    await run("/bin/sh", ["-c", 'cd "$1"', "sh", path], spawnOptions(identity));
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes sure that PostgreSQL's user can reach the data directory.
 * @throws ManagedPostgresError naming the first directory in the way and the remedies.
 */
export async function requireReachable(dataDir: string, identity: Identity): Promise<void> {
  const barrier = await findBarrier(dataDir, identity);
  if (barrier === undefined) return;
  throw new ManagedPostgresError(
    `PostgreSQL runs as user ${identity.name} because it refuses to run as root, and this user cannot enter ${barrier}, ` +
      `which is on the way to the data directory ${dataDir}. Use a data directory such as /var/lib/waybill, ` +
      `or allow the passage with: chmod o+x '${barrier}'`,
  );
}
